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
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The sample with its profile {@code server}, in a process of its own. */
final class ServerProcess implements AutoCloseable {

	private static final Pattern SERVING = Pattern.compile("Serving .* on [^ ]*:(\\d+) over");

	private static final long START_SECONDS = 90;

	private final Process process;

	private final CompletableFuture<Integer> port = new CompletableFuture<>();

	private ServerProcess(Process process) {
		this.process = process;
	}

	/**
	 * Starts it and waits until it serves.
	 * @param log where its output goes
	 * @param port 0 for any
	 */
	static ServerProcess start(Path log, int port) throws Exception {
		return start(log, List.of("-cp", System.getProperty("java.class.path")), "--spring.profiles.active=server",
				"--rdma.rpc.server.port=" + port);
	}

	/**
	 * Starts the sample and waits until it serves.
	 * @param log where its output goes
	 * @param options for the virtual machine, with the class path
	 * @param arguments for the application
	 */
	static ServerProcess start(Path log, List<String> options, String... arguments) throws Exception {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
						"-XX:TieredStopAtLevel=1", "-Dspring.devtools.restart.enabled=false"));
		command.addAll(options);
		command.add(SampleApplication.class.getName());
		command.add("--server.port=0");
		command.addAll(List.of(arguments));
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		ServerProcess server = new ServerProcess(process);
		Thread reader = new Thread(() -> server.read(log), "server-output");
		reader.setDaemon(true);
		reader.start();
		try {
			server.port.get(START_SECONDS, TimeUnit.SECONDS);
			return server;
		}
		catch (Exception ex) {
			server.kill();
			throw new IllegalStateException("the server did not start: " + Files.readString(log), ex);
		}
	}

	private void read(Path log) {
		try (BufferedReader output = this.process.inputReader(StandardCharsets.UTF_8);
				BufferedWriter copy = Files.newBufferedWriter(log)) {
			for (String line = output.readLine(); line != null; line = output.readLine()) {
				copy.write(line);
				copy.newLine();
				Matcher serving = SERVING.matcher(line);
				if (serving.find()) {
					copy.flush();
					this.port.complete(Integer.valueOf(serving.group(1)));
				}
			}
			this.port.completeExceptionally(new IllegalStateException("it has ended"));
		}
		catch (IOException ex) {
			this.port.completeExceptionally(new UncheckedIOException(ex));
		}
	}

	int port() {
		return this.port.join();
	}

	/** Kills it without warning: nothing is closed, nobody is told. */
	void kill() {
		this.process.destroyForcibly().onExit().join();
	}

	@Override
	public void close() {
		kill();
	}

}
