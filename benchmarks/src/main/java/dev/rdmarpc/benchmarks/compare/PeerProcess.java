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
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import org.HdrHistogram.AtomicHistogram;
import org.jspecify.annotations.Nullable;

/**
 * The main class of a forked process: one half of one peer, told what to do by lines on
 * its standard input. It answers every line with one line on its standard output,
 * {@code ok …} or {@code error …}, and ends with its input.
 *
 * <pre>
 * server:  usage                             ok CPU_NANOS ALLOCATED_BYTES COPIED_BYTES
 *          compiled                          ok MILLIS
 * client:  usage, compiled                   the same
 *          connect PORT MODE PAYLOAD_BYTES   ok
 *          run MILLIS                        ok, see {@link Slice#toLine()}
 *          disconnect                        ok
 * </pre>
 *
 * A server first says {@code ok PORT}, a client {@code ok}. What libraries print to the
 * standard output goes to the standard error stream.
 */
public final class PeerProcess {

	private static final long LONGEST_LATENCY_NANOS = TimeUnit.MINUTES.toNanos(1);

	private final Peer peer;

	private final PrintStream answers;

	private final AtomicHistogram histogram = new AtomicHistogram(LONGEST_LATENCY_NANOS, 3);

	private @Nullable PeerServer server;

	private @Nullable PeerClient client;

	private PeerProcess(Peer peer, PrintStream answers) {
		this.peer = peer;
		this.answers = answers;
	}

	/** Takes the role, {@code server} or {@code client}, and the name of the peer. */
	public static void main(String[] arguments) throws Exception {
		PrintStream answers = System.out;
		System.setOut(System.err);
		PeerProcess process = new PeerProcess(Peers.named(arguments[1]), answers);
		BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		if (arguments[0].equals("server")) {
			try (PeerServer server = process.peer.startServer()) {
				process.server = server;
				process.answer("ok " + server.port());
				process.obey(commands);
			}
		}
		else {
			process.answer("ok");
			process.obey(commands);
			process.disconnect();
		}
		System.exit(0);
	}

	private void obey(BufferedReader commands) throws IOException {
		String command = commands.readLine();
		while (command != null) {
			String reply;
			try {
				reply = ("ok " + obey(command.split(" ", -1))).trim();
			}
			catch (Exception ex) {
				ex.printStackTrace();
				reply = "error " + String.valueOf(ex).replace('\n', ' ');
			}
			answer(reply);
			command = commands.readLine();
		}
	}

	private String obey(String[] words) throws Exception {
		switch (words[0]) {
			case "usage" -> {
				ProcessUsage usage = usage();
				return usage.cpuNanos() + " " + usage.allocatedBytes() + " " + usage.copiedBytes();
			}
			case "compiled" -> {
				return Long.toString(ManagementFactory.getCompilationMXBean().getTotalCompilationTime());
			}
			case "connect" -> {
				Workload workload = new Workload(Mode.valueOf(words[2]), Integer.parseInt(words[3]));
				this.client = this.peer.connect(
						new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[1])), workload);
				return "";
			}
			case "run" -> {
				return run(TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[1]))).toLine();
			}
			case "disconnect" -> {
				disconnect();
				return "";
			}
			default -> throw new IllegalArgumentException("unknown command " + words[0]);
		}
	}

	private ProcessUsage usage() {
		PeerServer serving = this.server;
		PeerClient connected = this.client;
		if (serving != null) {
			return ProcessUsage.now(serving.copiedBytes());
		}
		return ProcessUsage.now((connected != null) ? connected.copiedBytes() : ProcessUsage.UNKNOWN);
	}

	private Slice run(long durationNanos) throws Exception {
		PeerClient connected = this.client;
		if (connected == null) {
			throw new IllegalStateException("not connected");
		}
		this.histogram.reset();
		ProcessUsage before = usage();
		long started = System.nanoTime();
		long calls = connected.run(durationNanos,
				(nanos) -> this.histogram.recordValue(Math.min(nanos, LONGEST_LATENCY_NANOS)));
		long elapsed = System.nanoTime() - started;
		ProcessUsage usage = usage().since(before);
		return new Slice(calls, elapsed, this.histogram.getValueAtPercentile(50),
				this.histogram.getValueAtPercentile(99), this.histogram.getValueAtPercentile(99.9), usage);
	}

	private void disconnect() throws Exception {
		PeerClient connected = this.client;
		this.client = null;
		if (connected != null) {
			connected.close();
		}
	}

	private void answer(String line) {
		this.answers.println(line);
		this.answers.flush();
	}

}
