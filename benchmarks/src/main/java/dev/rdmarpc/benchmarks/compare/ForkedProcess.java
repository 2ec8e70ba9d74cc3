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

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The driver's end of a {@link PeerProcess}. Its error stream goes to a log file, whose
 * last lines are part of what {@link #ask} throws.
 *
 * <p>
 * Used by one thread.
 */
public final class ForkedProcess implements AutoCloseable {

	private static final int LOG_LINES = 15;

	private final String name;

	private final Process process;

	private final Path log;

	private final BufferedReader answers;

	private final Writer commands;

	private ForkedProcess(String name, Process process, Path log) {
		this.name = name;
		this.process = process;
		this.log = log;
		this.answers = process.inputReader(StandardCharsets.UTF_8);
		this.commands = process.outputWriter(StandardCharsets.UTF_8);
	}

	/**
	 * Starts a process.
	 * @param role {@code server} or {@code client}
	 * @param peer the name of the peer
	 * @param launch how
	 * @param logs the directory for its log
	 */
	static ForkedProcess start(String role, String peer, Launch launch, Path logs) throws IOException {
		String name = peer.replace(':', '-') + "-" + role;
		return start(name, launch.command(name, role, peer), logs);
	}

	/**
	 * Starts a process that obeys as a {@link PeerProcess} does.
	 * @param name of the process and its log
	 * @param command what to run
	 * @param logs the directory for its log
	 * @throws IOException if it cannot be started
	 */
	public static ForkedProcess start(String name, List<String> command, Path logs) throws IOException {
		Files.createDirectories(logs);
		Path log = logs.resolve(name + ".log");
		File logFile = log.toFile();
		return new ForkedProcess(name, new ProcessBuilder(command).redirectError(logFile).start(), log);
	}

	/**
	 * Waits for the line a process says first.
	 * @return the line without its {@code ok}
	 */
	public String greeting() {
		return await(60);
	}

	/**
	 * Sends a command and waits for the answer.
	 * @param timeoutSeconds how long to wait
	 * @param command the command
	 * @return the answer without its {@code ok}
	 * @throws PeerFailure if the process answers with an error, not in time, or has ended
	 */
	public String ask(long timeoutSeconds, String command) {
		try {
			this.commands.write(command + "\n");
			this.commands.flush();
		}
		catch (IOException ex) {
			throw failure("has ended");
		}
		return await(timeoutSeconds);
	}

	/** What the process has used so far. */
	public ProcessUsage usage() {
		String[] words = ask(20, "usage").split(" ", -1);
		return new ProcessUsage(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]));
	}

	/**
	 * Stops the process where it is, or has it go on: what is stopped uses no processor.
	 * It must not be asked anything meanwhile.
	 * @throws PeerFailure if it has ended
	 */
	public void stop(boolean stopped) {
		try {
			String command = "kill -" + (stopped ? "STOP " : "CONT ") + id();
			if (new ProcessBuilder("sh", "-c", command).start().waitFor() != 0) {
				throw failure("has ended");
			}
		}
		catch (IOException ex) {
			throw failure("cannot be stopped: " + ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw failure("was interrupted");
		}
	}

	/** Its identifier. */
	long id() {
		return this.process.pid();
	}

	/** How long the process has compiled so far, in milliseconds. */
	long compiledMillis() {
		return Long.parseLong(ask(20, "compiled"));
	}

	private String await(long timeoutSeconds) {
		CompletableFuture<String> line = CompletableFuture.supplyAsync(this::readAnswer);
		String answer;
		try {
			answer = line.get(timeoutSeconds, TimeUnit.SECONDS);
		}
		catch (TimeoutException ex) {
			throw failure("gave no answer within " + timeoutSeconds + " s");
		}
		catch (ExecutionException ex) {
			throw failure(String.valueOf(ex.getCause()));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw failure("was interrupted");
		}
		if (!answer.startsWith("ok")) {
			throw failure(answer);
		}
		return answer.substring(2).trim();
	}

	/** Reads the next answer; what the virtual machine itself may print is skipped. */
	private String readAnswer() {
		try {
			String line = this.answers.readLine();
			while (line != null && !line.startsWith("ok") && !line.startsWith("error")) {
				line = this.answers.readLine();
			}
			return (line != null) ? line : "has ended";
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private PeerFailure failure(String what) {
		StringBuilder message = new StringBuilder(this.name).append(": ").append(what);
		try {
			List<String> lines = Files.readAllLines(this.log);
			lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size())
				.forEach((line) -> message.append("\n    ").append(line));
		}
		catch (IOException ex) {
			message.append(" (no log: ").append(ex).append(')');
		}
		return new PeerFailure(message.toString());
	}

	/** Ends the process, by force if it takes its time. */
	@Override
	public void close() {
		try {
			this.commands.close();
		}
		catch (IOException ex) {
			// it has ended already
		}
		try {
			if (!this.process.waitFor(5, TimeUnit.SECONDS)) {
				this.process.destroyForcibly().waitFor();
			}
		}
		catch (InterruptedException ex) {
			this.process.destroyForcibly();
			Thread.currentThread().interrupt();
		}
	}

	/** Ends the process by force. */
	void kill() {
		this.process.destroyForcibly();
	}

}
