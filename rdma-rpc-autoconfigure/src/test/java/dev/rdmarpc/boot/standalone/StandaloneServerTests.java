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

package dev.rdmarpc.boot.standalone;

import java.io.BufferedReader;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

import static org.assertj.core.api.Assertions.assertThat;

/** An application without a web server, in a process of its own. */
class StandaloneServerTests {

	@Test
	void serverKeepsTheApplicationAliveUntilItIsClosed() throws Exception {
		Process process = start();
		List<String> output = new ArrayList<>();
		try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
			String port = readUntil(reader, output, StandaloneApplication.MAIN_ENDED);
			assertThat(greet(Integer.parseInt(port))).isEqualTo("Hello world");
			process.outputWriter().close();
			reader.lines().forEach(output::add);
			assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
			assertThat(output).contains(StandaloneApplication.ASKED_TO_STOP);
			assertThat(process.exitValue()).isZero();
		}
		finally {
			process.destroyForcibly();
		}
	}

	private static Process start() throws Exception {
		ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx128m", "-XX:TieredStopAtLevel=1", StandaloneApplication.class.getName(),
				"--rdma.rpc.server.port=0", "--rdma.rpc.server.address=127.0.0.1", "--spring.main.banner-mode=off",
				"--spring.jmx.enabled=false", "--spring.docker.compose.enabled=false");
		builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
		builder.directory(new File(System.getProperty("java.io.tmpdir")));
		return builder.redirectErrorStream(true).start();
	}

	private static String readUntil(BufferedReader reader, List<String> output, String prefix) throws Exception {
		for (String line = reader.readLine(); line != null; line = reader.readLine()) {
			output.add(line);
			if (line.startsWith(prefix)) {
				return line.substring(prefix.length());
			}
		}
		throw new AssertionError("the application ended:\n" + String.join("\n", output));
	}

	private static String greet(int port) {
		RegisteredMemory memory = RegisteredMemory
			.create(MemoryOptions.DEFAULTS.withInitialBytes(1 << 20).withLeakDetection(LeakDetection.PARANOID));
		try (memory; RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory)) {
			try (RpcClient client = RpcClient.builder()
				.transport(transport)
				.target("127.0.0.1", port)
				.options(RpcClientOptions.DEFAULTS.withWaitForReady(true).withDefaultDeadline(Duration.ofMinutes(2)))
				.build()) {
				return client.proxy(Greeter.class).greet("world");
			}
		}
		finally {
			assertThat(memory.metrics().outstanding()).isZero();
		}
	}

}
