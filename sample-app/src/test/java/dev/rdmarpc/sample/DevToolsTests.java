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

package dev.rdmarpc.sample;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** DevTools restarts the application in a process that goes on. */
class DevToolsTests {

	private static final int RESTARTS = 20;

	/** After so many starts, what is kept for good is there. */
	private static final int SETTLED = 4;

	/** Of so many last starts the one with the least counts. */
	private static final int LAST = 3;

	/**
	 * Spring's caches hold class loaders of earlier starts softly, and with them the
	 * classes of the modules that are no jars yet.
	 */
	private static final String CLEAR_CACHES = "-XX:SoftRefLRUPolicyMSPerMB=0";

	/** Buffers of threads that come and go, which registered memory is not among. */
	private static final long DIRECT_SLACK_BYTES = 4 << 20;

	private static final int SLACK = 6;

	@Test
	@Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
	void twentyRestartsGiveEverythingBack() throws Exception {
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx256m", "-XX:TieredStopAtLevel=1", CLEAR_CACHES, "-cp", System.getProperty("java.class.path"),
				RestartedApplication.class.getName(), String.valueOf(RESTARTS), "--rdma.rpc.server.port=0",
				"--rdma.rpc.client.features.deadline=1m", "--rdma.rpc.client.features.wait-for-ready=true",
				"--load.enabled=false", "--logging.level.root=warn")
			.redirectErrorStream(true)
			.start();
		List<String> output = new ArrayList<>();
		List<long[]> reports = new ArrayList<>();
		try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				output.add(line);
				if (line.startsWith(RestartedApplication.REPORT)) {
					reports.add(Arrays.stream(line.substring(RestartedApplication.REPORT.length()).split(" "))
						.mapToLong(Long::parseLong)
						.toArray());
				}
			}
		}
		finally {
			process.destroyForcibly();
		}
		assertThat(process.waitFor()).as(() -> String.join("\n", output)).isZero();
		assertThat(reports).as(() -> String.join("\n", output)).hasSize(RESTARTS + 1);
		assertThat(reports).allSatisfy((report) -> assertThat(report[1]).isEqualTo(1 << 16));
		long[] settled = reports.get(SETTLED);
		assertThat(leastAtLast(reports, 2)).as("direct memory").isLessThan(settled[2] + DIRECT_SLACK_BYTES);
		assertThat(leastAtLast(reports, 3)).as("descriptors").isLessThan(settled[3] + SLACK);
		assertThat(leastAtLast(reports, 4)).as("threads").isLessThan(settled[4] + SLACK);
	}

	/** What a start has left may be freed only after the next has reported. */
	private static long leastAtLast(List<long[]> reports, int column) {
		return reports.stream().skip(reports.size() - LAST).mapToLong((report) -> report[column]).min().orElseThrow();
	}

}
