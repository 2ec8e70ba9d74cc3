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

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that runs out of direct memory or heap goes on when there is some again: no
 * caller hangs, no loop is lost, and calls succeed. Direct memory that runs out leaves no
 * future incomplete either, and nothing allocated; the heap may, see docs/operations.md.
 */
@Timeout(value = 400, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcExhaustionTests {

	@ParameterizedTest
	@ValueSource(strings = { ExhaustedProcess.DIRECT, ExhaustedProcess.HEAP })
	void processGoesOnAfterItHasRunOutOfMemory(String kind) throws IOException, InterruptedException {
		TestEnvironment.assumeTcp();
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx64m", "-XX:MaxDirectMemorySize=48m", "-cp", System.getProperty("java.class.path"),
				ExhaustedProcess.class.getName(), kind)
			.redirectErrorStream(true)
			.start();
		try {
			List<String> lines = process.inputReader(StandardCharsets.UTF_8).lines().toList();
			assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
			assertThat(lines).as(String.join("\n", lines)).last().asString().startsWith(ExhaustedProcess.GOOD);
		}
		finally {
			process.destroyForcibly();
		}
	}

}
