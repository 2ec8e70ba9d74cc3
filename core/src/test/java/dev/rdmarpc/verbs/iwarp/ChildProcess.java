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

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/** An {@link AcceptingProcess} and what it says. */
final class ChildProcess implements AutoCloseable {

	private static final long DEADLINE_SECONDS = 30;

	private static final Pattern NEEDED = Pattern.compile("/(rdma-rpc-|jctools-|jspecify-|slf4j-|logback-)[^/]*$");

	private final LinkedBlockingQueue<String> output = new LinkedBlockingQueue<>();

	private final List<String> log = new ArrayList<>();

	private final List<RawPeer> peers = new ArrayList<>();

	private final Process process;

	private final InetSocketAddress address;

	/**
	 * Starts a process.
	 * @param limits a command of the shell that limits it
	 * @param options of the virtual machine
	 */
	ChildProcess(String limits, String... options) throws Exception {
		List<String> command = new ArrayList<>(List.of("sh", "-c", limits + " && exec \"$@\"", "sh",
				Path.of(System.getProperty("java.home"), "bin", "java").toString()));
		command.addAll(List.of(options));
		command.addAll(List.of("-cp", classPath(), AcceptingProcess.class.getName()));
		this.process = new ProcessBuilder(command).redirectErrorStream(true).start();
		Thread reader = new Thread(this::read, "output-of-the-process");
		reader.setDaemon(true);
		reader.start();
		String ready = await((line) -> line.startsWith(AcceptingProcess.READY));
		this.address = new InetSocketAddress(InetAddress.getLoopbackAddress(),
				Integer.parseInt(ready.substring(AcceptingProcess.READY.length())));
	}

	/** Without the libraries of tests, each of which would take a descriptor. */
	private static String classPath() {
		return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
			.filter((entry) -> Files.isDirectory(Path.of(entry)) || NEEDED.matcher(entry).find())
			.collect(Collectors.joining(File.pathSeparator));
	}

	private void read() {
		try (BufferedReader lines = this.process.inputReader(StandardCharsets.UTF_8)) {
			lines.lines().forEach(this.output::add);
		}
		catch (IOException ex) {
			this.output.add(ex.toString());
		}
	}

	InetSocketAddress address() {
		return this.address;
	}

	/** Waits for a line. */
	String await(Predicate<String> wanted) throws InterruptedException {
		while (true) {
			String line = this.output.poll(DEADLINE_SECONDS, TimeUnit.SECONDS);
			assertThat(line).as("a line after %s", this.log).isNotNull();
			this.log.add(line);
			if (wanted.test(line)) {
				return line;
			}
		}
	}

	/** Has the process do something and say that it is done. */
	AcceptingProcess.Report command(String command) throws Exception {
		Writer commands = this.process.outputWriter(StandardCharsets.UTF_8);
		commands.write(command + "\n");
		commands.flush();
		return AcceptingProcess.Report.parse(await((line) -> line.startsWith(AcceptingProcess.REPORT)));
	}

	AcceptingProcess.Report report() throws Exception {
		return command("report");
	}

	/** Waits until the process has received so many messages. */
	void awaitReceived(int count) throws Exception {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
		while (report().received() < count) {
			assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
		}
	}

	/** A peer that has not said anything. */
	RawPeer silent() throws IOException {
		RawPeer peer = new RawPeer(this.address);
		this.peers.add(peer);
		return peer;
	}

	/** A peer that has asked for a connection. */
	RawPeer connected() throws IOException {
		RawPeer peer = silent();
		peer.write(MpaFrameFlyweight.encodeEnhanced(true, 0, 4, 4, new byte[0]));
		return peer;
	}

	RawPeer established() throws IOException {
		RawPeer peer = connected();
		assertThat(peer.readMpaFrame().rejected()).isFalse();
		return peer;
	}

	List<String> warnings() {
		return this.log.stream().filter((line) -> line.contains("WARN") || line.contains("ERROR")).toList();
	}

	@Override
	public void close() throws IOException {
		for (RawPeer peer : this.peers) {
			peer.close();
		}
		this.process.destroyForcibly();
		assertThat(this.process.onExit()).succeedsWithin(DEADLINE_SECONDS, TimeUnit.SECONDS);
	}

}
