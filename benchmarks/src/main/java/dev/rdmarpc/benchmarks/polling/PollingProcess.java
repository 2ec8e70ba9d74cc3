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

package dev.rdmarpc.benchmarks.polling;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import dev.rdmarpc.benchmarks.compare.ProcessUsage;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

/**
 * The main class of a forked process, a server or a client, told what to do by lines on
 * its standard input. It answers every line with one on its standard output, {@code ok …}
 * or {@code error …}, and ends with its input.
 *
 * <pre>
 * both:    usage                        ok CPU_NANOS ALLOCATED_BYTES COPIED_BYTES
 *          memory                       ok HEAP_BYTES DIRECT_BYTES REGISTERED_BYTES
 * client:  connect CONNECTIONS          ok; each has made a call
 *          sync MILLIS                  ok, see {@link Figures}
 *          async MILLIS OUTSTANDING     the same, on each connection
 *          rate MILLIS CALLS_PER_SECOND the same, on one connection
 * </pre>
 */
public final class PollingProcess {

	/** At the same time: fewer than the handshakes that a server lets be pending. */
	private static final int CONNECTING = 32;

	/** As many idle connections as are measured, and some more. */
	private static final int CONNECTIONS = 12_000;

	/** Enough for the receives of all these. */
	private static final MemoryOptions MEMORY = MemoryOptions.DEFAULTS.withMaxBytes(1280L << 20);

	private static final String SERVICE = "echo";

	private final RegisteredMemory memory = RegisteredMemory.create(MEMORY);

	private final RdmaTransport transport;

	private final int port;

	private final List<RpcClient> clients = new ArrayList<>();

	private PollingProcess(Waiting waiting, int port) {
		TransportOptions defaults = TransportOptions.DEFAULTS;
		this.transport = RdmaTransport.open(new TransportOptions(IwarpProvider.NAME, defaults.device(),
				waiting.options(), 1 << 17, defaults.sendQueueDepth(), defaults.readDepth()), this.memory);
		this.port = port;
	}

	/**
	 * Takes the role, how loops wait, and for clients the server's port.
	 */
	public static void main(String[] arguments) throws Exception {
		PrintStream answers = System.out;
		System.setOut(System.err);
		boolean serves = arguments[0].equals("server");
		PollingProcess process = new PollingProcess(new Waiting(arguments[1]),
				serves ? 0 : Integer.parseInt(arguments[2]));
		answers.println(serves ? "ok " + process.serve() : "ok");
		BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String command = commands.readLine(); command != null; command = commands.readLine()) {
			String reply;
			try {
				reply = "ok " + process.obey(command.split(" ", -1));
			}
			catch (Exception ex) {
				ex.printStackTrace();
				reply = "error " + String.valueOf(ex).replace('\n', ' ');
			}
			answers.println(reply);
		}
		System.exit(0);
	}

	private int serve() {
		return RpcServer.builder()
			.transport(this.transport)
			.options(RpcServerOptions.DEFAULTS.withLoopback(0).withLimits(CONNECTIONS, 1024).withPeers(PeerLimits.NONE))
			.service(SERVICE, Echo.class, (payload) -> payload)
			.build()
			.start()
			.port();
	}

	private String obey(String[] words) throws Exception {
		return switch (words[0]) {
			case "usage" -> {
				ProcessUsage usage = ProcessUsage.now(ProcessUsage.UNKNOWN);
				yield usage.cpuNanos() + " " + usage.allocatedBytes() + " " + usage.copiedBytes();
			}
			case "memory" -> memoryInUse();
			case "connect" -> connect(Integer.parseInt(words[1]));
			case "sync" -> Calls.sequential(this.clients.get(0).proxy(SERVICE, Echo.class), millis(words[1])).toLine();
			case "async" -> Calls.overlapping(proxies(), Integer.parseInt(words[2]), millis(words[1])).toLine();
			case "rate" -> Calls.paced(proxies().get(0), Long.parseLong(words[2]), millis(words[1])).toLine();
			default -> throw new IllegalArgumentException("unknown command " + words[0]);
		};
	}

	private static long millis(String word) {
		return TimeUnit.MILLISECONDS.toNanos(Long.parseLong(word));
	}

	private List<Echo.Async> proxies() {
		return this.clients.stream().map((client) -> client.proxy(SERVICE, Echo.Async.class)).toList();
	}

	private String connect(int count) {
		List<CompletableFuture<byte[]>> greetings = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			RpcClient client = RpcClient.builder()
				.transport(this.transport)
				.target("127.0.0.1", this.port)
				.options(RpcClientOptions.DEFAULTS.withDefaultDeadline(Duration.ofSeconds(60)).withWaitForReady(true))
				.build();
			this.clients.add(client);
			greetings.add(client.proxy(SERVICE, Echo.Async.class).echo(new byte[64]));
			if (greetings.size() == CONNECTING) {
				greetings.forEach(CompletableFuture::join);
				greetings.clear();
			}
		}
		greetings.forEach(CompletableFuture::join);
		return "";
	}

	private String memoryInUse() {
		System.gc();
		long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)
			.stream()
			.filter((pool) -> pool.getName().equals("direct"))
			.mapToLong(BufferPoolMXBean::getMemoryUsed)
			.sum();
		return String.format(Locale.ROOT, "%d %d %d",
				ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(), direct,
				this.memory.metrics().allocatedBytes());
	}

}
