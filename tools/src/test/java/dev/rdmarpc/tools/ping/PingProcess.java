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

package dev.rdmarpc.tools.ping;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The command in a process of its own. */
final class PingProcess implements AutoCloseable {

	private static final long PATIENCE_SECONDS = 120;

	private static final Pattern LISTENING = Pattern.compile("listening on 127\\.0\\.0\\.1:(\\d+)");

	private final Process process;

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	private final List<String> seen = new ArrayList<>();

	private PingProcess(Process process) {
		this.process = process;
		Thread reader = new Thread(this::read, "output-of-" + process.pid());
		reader.setDaemon(true);
		reader.start();
	}

	/** Starts the command on the class path and the Java of this process. */
	static PingProcess start(String... arguments) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
						"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
						RdmaPing.class.getName(), "--timeout", "60"));
		command.addAll(List.of(arguments));
		return new PingProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
	}

	private void read() {
		try (BufferedReader output = this.process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = output.readLine(); line != null; line = output.readLine()) {
				this.lines.add(line);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Waits for a line. */
	Matcher await(Pattern pattern) throws InterruptedException {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
		while (true) {
			String line = this.lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
			if (line == null) {
				throw new AssertionError("no line like '" + pattern + "' after " + this.seen);
			}
			this.seen.add(line);
			Matcher matcher = pattern.matcher(line);
			if (matcher.find()) {
				return matcher;
			}
		}
	}

	/** Waits until it listens, and returns the port. */
	int awaitPort() throws InterruptedException {
		return Integer.parseInt(await(LISTENING).group(1));
	}

	/** Waits for its end and returns its status. */
	int awaitExit() throws InterruptedException {
		if (!this.process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
			throw new AssertionError("the process has not ended; it said " + this.seen + " and " + this.lines);
		}
		return this.process.exitValue();
	}

	/** Ends it without warning: nothing is closed, nobody is told. */
	void kill() {
		this.process.destroyForcibly().onExit().join();
	}

	@Override
	public void close() {
		kill();
	}

}
