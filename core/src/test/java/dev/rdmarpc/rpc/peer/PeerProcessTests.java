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

package dev.rdmarpc.rpc.peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** The contract with the server in a process of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("slow")
class PeerProcessTests extends AbstractPeerTests {

	private final List<String> output = new ArrayList<>();

	private final CompletableFuture<Integer> port = new CompletableFuture<>();

	private Process process;

	private Thread reader;

	@BeforeAll
	void start() throws Exception {
		Assumptions.assumeTrue(PeerSettings.peer().isEmpty(), "the server is where rdma.test.peer says");
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		ManagementFactory.getRuntimeMXBean()
			.getInputArguments()
			.stream()
			.filter((argument) -> argument.startsWith("-Drdma.") || argument.startsWith("--add-exports"))
			.forEach(command::add);
		command.addAll(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
				PeerServer.class.getName(), TestEnvironment.host(), "0"));
		this.process = new ProcessBuilder(command).redirectErrorStream(true).start();
		this.reader = new Thread(this::read, "output-of-the-server");
		this.reader.setDaemon(true);
		this.reader.start();
		PeerFixture.get(this.port);
	}

	private void read() {
		try (BufferedReader lines = this.process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				this.output.add(line);
				if (line.startsWith(PeerServer.READY)) {
					this.port.complete(Integer.valueOf(line.substring(PeerServer.READY.length())));
				}
			}
			this.port.completeExceptionally(new IllegalStateException("the server has ended: " + this.output));
		}
		catch (IOException ex) {
			this.port.completeExceptionally(ex);
		}
	}

	@AfterAll
	void nothingIsOutstandingAtTheServer() throws Exception {
		if (this.process == null) {
			return;
		}
		try (Writer commands = this.process.outputWriter(StandardCharsets.UTF_8)) {
			commands.write("end\n");
		}
		boolean ended = this.process.waitFor(PeerSettings.seconds(30).toSeconds(), TimeUnit.SECONDS);
		this.process.destroyForcibly();
		this.reader.join(PeerSettings.seconds(10).toMillis());
		assertThat(ended).as("ended in time").isTrue();
		assertThat(this.output).last().isEqualTo("ended, nothing outstanding");
		assertThat(this.process.exitValue()).isZero();
	}

	@Override
	String host() {
		return TestEnvironment.host();
	}

	@Override
	int port() {
		return this.port.join();
	}

}
