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

package dev.rdmarpc.rpc;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.rpc.DeliveryFile.Deliveries;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A rail that fails without a word while calls are made: the process that serves over it
 * is killed, and another one serves at the same port over the other rail.
 */
@Timeout(120)
class RailFailureTests {

	@TempDir
	Path notes;

	/** An adapter that does not use TCP leaves its ports to user-space iWARP. */
	static List<Arguments> pairs() {
		return (TestEnvironment.isMeant("disni") && !TestEnvironment.isTcp())
				? List.of(Arguments.of("disni", "iwarp", 2))
				: List.of(Arguments.of("shm", "iwarp", 2), Arguments.of("iwarp", "shm", 1));
	}

	@ParameterizedTest
	@MethodSource("pairs")
	void callsGoOnOverTheOtherRailComeBackAndAreDeliveredOnce(String better, String worse, int rounds)
			throws Exception {
		try (RailsFixture fixture = new RailsFixture();
				DeliveryFile file = new DeliveryFile(this.notes.resolve("delivered"))) {
			RpcServer server = fixture.serve(fixture.transport(worse), Deliveries.class, file.service());
			RpcClient client = fixture.client(fixture.transport(better, worse), server.address(),
					RailsFixture.IMPATIENT);
			DeliveryLoad load = new DeliveryLoad(client);
			RailsFixture.awaitRail(client, worse);
			for (int i = 0; i < rounds; i++) {
				Process process = serveElsewhere(fixture.directory, better, server.port(), file.path());
				try {
					RailsFixture.awaitRail(client, better);
					load.awaitMoreCalls();
				}
				finally {
					process.destroyForcibly().waitFor();
				}
				RailsFixture.awaitRail(client, worse);
				load.awaitMoreCalls();
			}
			load.end(file, rounds);
			Await.until(() -> client.metrics().losses() >= rounds);
			Await.until(() -> isSwept(fixture.directory, server.port(), worse));
		}
	}

	private static Process serveElsewhere(Path directory, String provider, int port, Path file) throws Exception {
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx128m", "-XX:TieredStopAtLevel=1", "--add-exports", "java.base/sun.nio.ch=ALL-UNNAMED", "-cp",
				System.getProperty("java.class.path"), RailProcess.class.getName(), directory.toString(), provider,
				TestEnvironment.host(), String.valueOf(port), file.toString())
			.redirectErrorStream(true)
			.start();
		BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
		List<String> lines = new ArrayList<>();
		String line = output.readLine();
		while (line != null && !line.startsWith(RailProcess.READY)) {
			lines.add(line);
			line = output.readLine();
		}
		assertThat(line).as("what it says: %s", lines).isNotNull();
		return process;
	}

	/** Whether nothing is left of the processes that were killed. */
	private static boolean isSwept(Path directory, int port, String worse) {
		String own = worse.equals("shm") ? port + ".socket" : ".lock";
		try (Stream<Path> files = Files.list(directory)) {
			return files.map((file) -> file.getFileName().toString())
				.allMatch((name) -> name.equals(own) || name.equals(".lock"));
		}
		catch (IOException ex) {
			return false;
		}
	}

}
