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

package dev.rdmarpc.verbs.iwarp;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import dev.rdmarpc.verbs.iwarp.wire.Fpdu;

import static org.assertj.core.api.Assertions.assertThat;

/** A process whose file descriptors are used up by its peers, and after that. */
@EnabledOnOs(OS.LINUX)
@Tag("slow")
class DescriptorShortageTests {

	private static final int DESCRIPTORS = 120;

	/** Fewer than the half-open connections that one source may have. */
	private static final int FEW_DESCRIPTORS = 50;

	@Test
	void establishedPeersUseUpAllDescriptors() throws Exception {
		try (ChildProcess process = new ChildProcess("ulimit -n " + DESCRIPTORS, "-Xmx128m")) {
			RawPeer good = process.established();
			good.segment(Fpdu.send(1, new byte[10]));
			process.awaitReceived(1);
			List<RawPeer> waiting = new ArrayList<>();
			for (int i = 0; i < 2 * DESCRIPTORS; i++) {
				waiting.add(process.connected());
			}
			process.await((line) -> line.contains("Cannot accept connections"));
			long before = process.report().cpuMillis();
			long start = System.nanoTime();
			while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(2)) {
				process.report();
			}
			assertThat(process.report().cpuMillis() - before).as("ms of the processor in 2 s").isLessThan(1500);
			good.segment(Fpdu.send(2, new byte[10]));
			process.awaitReceived(2);
			for (RawPeer peer : waiting) {
				peer.close();
			}
			process.established().segment(Fpdu.send(1, new byte[10]));
			process.awaitReceived(3);
			assertThat(process.report().running()).isTrue();
			assertThat(process.warnings()).hasSizeLessThan(5);
		}
	}

	@Test
	void silentPeersUseUpAllDescriptorsAndKeepNobodyOut() throws Exception {
		try (ChildProcess process = new ChildProcess("ulimit -n " + FEW_DESCRIPTORS, "-Xmx128m")) {
			for (int i = 0; i < 2 * DESCRIPTORS; i++) {
				process.silent();
			}
			process.established().segment(Fpdu.send(1, new byte[10]));
			process.awaitReceived(1);
			assertThat(process.report().running()).isTrue();
			assertThat(process.warnings()).hasSizeLessThan(5);
		}
	}

}
