/*
 * Copyright 2026 the rdma-rpc authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.rdmarpc.benchmarks.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ForkedProcessTests {

	private static final Launch SMALL = new Launch(List.of("-Xmx64m"), null);

	@TempDir
	private Path logs;

	@Test
	void anErrorOfTheForkComesWithTheEndOfItsLogAndLeavesItUsable() throws IOException {
		try (ForkedProcess client = ForkedProcess.start("client", Peers.FLOOR, SMALL, this.logs)) {
			client.greeting();
			assertThatExceptionOfType(PeerFailure.class).isThrownBy(() -> client.ask(20, "run 1"))
				.withMessageContaining("floor-client")
				.withMessageContaining("not connected")
				.withMessageContaining("at dev.rdmarpc");
			assertThat(client.usage().allocatedBytes()).isPositive();
		}
	}

	@Test
	void aForkThatEndsIsAFailure() throws IOException {
		Launch broken = new Launch(List.of("-XX:+CarrierPigeon"), null);
		try (ForkedProcess client = ForkedProcess.start("client", Peers.FLOOR, broken, this.logs)) {
			assertThatExceptionOfType(PeerFailure.class).isThrownBy(client::greeting)
				.withMessageContaining("has ended")
				.withMessageContaining("CarrierPigeon");
		}
	}

	@Test
	void aForkStopsAndGoesOn() throws IOException {
		try (ForkedProcess client = ForkedProcess.start("client", Peers.FLOOR, SMALL, this.logs)) {
			client.greeting();
			client.stop(true);
			awaitStopped(client, true);
			client.stop(false);
			awaitStopped(client, false);
			assertThat(client.usage().allocatedBytes()).isPositive();
		}
	}

	/** The system stops the threads of a process after the signal, each in its time. */
	private static void awaitStopped(ForkedProcess process, boolean stopped) throws IOException {
		long begin = System.nanoTime();
		while ((state(process) == 'T') != stopped) {
			assertThat(System.nanoTime() - begin).as("time to stop or go on").isLessThan(20_000_000_000L);
			Thread.onSpinWait();
		}
	}

	private static char state(ForkedProcess process) throws IOException {
		String line = Files.readString(Path.of("/proc", Long.toString(process.id()), "stat"));
		return line.charAt(line.lastIndexOf(')') + 2);
	}

	@Test
	void aPairRecoversFromTheDeathOfItsServer() {
		try (PeerPair pair = new PeerPair(Peers.FLOOR, SMALL, this.logs)) {
			Workload workload = new Workload(Mode.ASYNC, 64);
			assertThat(pair.measure(workload, 1, 5).calls()).isPositive();
			pair.kill();
			assertThatExceptionOfType(PeerFailure.class).isThrownBy(() -> pair.measure(workload, 1, 5));
			assertThat(pair.measure(workload, 1, 5).calls()).isPositive();
		}
	}

}
