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
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/** A Java process of a test that is told what to do line by line, and answers so. */
class CommandedProcess implements AutoCloseable {

	private static final int MOST_OTHERS = 10_000;

	private static final List<String> IDLE = List.of("chrt", "-i", "0");

	private final LinkedBlockingQueue<String> output = new LinkedBlockingQueue<>();

	private final Process process;

	private final Writer commands;

	/**
	 * Starts it.
	 * @param prefix what runs it
	 * @param option of the virtual machine
	 */
	CommandedProcess(List<String> prefix, Class<?> main, String option, String... arguments) throws IOException {
		List<String> command = new ArrayList<>(prefix);
		command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), option, "-cp",
				System.getProperty("java.class.path"), main.getName()));
		command.addAll(List.of(arguments));
		this.process = new ProcessBuilder(command).redirectErrorStream(true).start();
		this.commands = this.process.outputWriter(StandardCharsets.UTF_8);
		Thread reader = new Thread(this::read, "output-of-" + main.getSimpleName());
		reader.setDaemon(true);
		reader.start();
	}

	/**
	 * What runs a process when no other wants the processors; nothing where there is no
	 * such command, or the system does not permit what it does.
	 */
	static List<String> whenIdle() throws InterruptedException {
		List<String> command = new ArrayList<>(IDLE);
		command.add("true");
		try {
			return (new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0) ? IDLE : List.of();
		}
		catch (IOException ex) {
			return List.of();
		}
	}

	private void read() {
		try (BufferedReader lines = this.process.inputReader(StandardCharsets.UTF_8)) {
			lines.lines().forEach(this.output::add);
		}
		catch (IOException | RuntimeException ex) {
			this.output.add(ex.toString());
		}
	}

	/** Waits for a line with a beginning and returns what follows it. */
	final String awaitLine(String prefix) throws InterruptedException {
		return awaitLine("begins with '" + prefix + "'", (line) -> line.startsWith(prefix)).substring(prefix.length());
	}

	/** Waits for a line; those before it are skipped. */
	final String awaitLine(String what, Predicate<String> wanted) throws InterruptedException {
		StringBuilder others = new StringBuilder();
		while (true) {
			String line = this.output.poll(60, TimeUnit.SECONDS);
			assertThat(line).as("a line that %s; there were: %s", what, others).isNotNull();
			if (wanted.test(line)) {
				return line;
			}
			if (others.length() < MOST_OTHERS) {
				others.append(line).append('\n');
			}
		}
	}

	/** Whether there is a line that nobody has waited for yet. */
	final boolean hasLine() {
		return !this.output.isEmpty();
	}

	/** Tells it to end, and waits until it has. */
	final void end() throws Exception {
		command("end");
		assertThat(this.process.waitFor(60, TimeUnit.SECONDS)).as("ends in time").isTrue();
		assertThat(this.process.exitValue()).isZero();
	}

	/** Tells it something. */
	final void command(String line) throws IOException {
		this.commands.write(line + "\n");
		this.commands.flush();
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
	}

}
