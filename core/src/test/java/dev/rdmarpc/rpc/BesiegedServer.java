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
import java.io.InputStreamReader;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ChannelSnapshot;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/**
 * A server with default settings in a process of its own, which is besieged. On the line
 * {@code measure} of its standard input it says what it holds, on {@code end} it ends.
 */
public final class BesiegedServer {

	static final String READY = "ready on port ";

	static final String HOLDS = "holds ";

	static final String SEEN = "seen ";

	/** How long the peers of one who has limits may be silent, or leave things undone. */
	private static final Duration PATIENCE = TestEnvironment.scaled(Duration.ofSeconds(3));

	private BesiegedServer() {
	}

	public static void main(String[] arguments) throws Exception {
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport
					.open(TransportOptions.DEFAULTS.withProvider(TestEnvironment.provider("iwarp"), ""), memory);
				RpcServer server = RpcServer.builder()
					.transport(transport)
					.options(options(arguments))
					.service(Town.class, new Inhabitants())
					.build()
					.start()) {
			System.out.println(READY + server.port());
			BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
			for (String line = commands.readLine(); line != null && !line.equals("end"); line = commands.readLine()) {
				System.out.println(line.equals("peers") ? SEEN + seen(server) : HOLDS + holdings(memory, server));
			}
		}
		System.out.println("ended");
		System.exit(0);
	}

	/**
	 * Without limits for one address, except that of replies, unless they are asked for;
	 * if a number of connections is given, with less patience.
	 */
	private static RpcServerOptions options(String[] arguments) {
		RpcServerOptions options = RpcFixture.serverOptions(0);
		PeerLimits limits = Arrays.asList(arguments).contains("limited") ? options.peers()
				: PeerLimits.NONE.withMaxReplyBytes(PeerLimits.BY_MEMORY);
		return (arguments.length == 0) ? options.withPeers(limits)
				: options.withPeers(limits)
					.withLimits(Integer.parseInt(arguments[0]), 1024)
					.withChannel(ChannelOptions.DEFAULTS.withTimeouts(PATIENCE, PATIENCE.dividedBy(4), PATIENCE));
	}

	/**
	 * What an operator sees of peers: cancels by address, and why which were given up.
	 */
	private static String seen(RpcServer server) {
		Map<String, Long> cancels = new TreeMap<>();
		server.channels().stream().map(ChannelSnapshot::of).forEach((channel) -> {
			InetSocketAddress remote = channel.remoteAddress();
			if (remote != null) {
				cancels.merge(remote.getAddress().getHostAddress(), channel.cancels(), Long::sum);
			}
		});
		StringBuilder all = new StringBuilder();
		cancels.forEach((address, count) -> all.append(address).append(" cancels ").append(count).append(';'));
		server.suspects()
			.forEach((peer) -> all.append(peer.address().getHostAddress())
				.append(" given up ")
				.append(peer.givenUp())
				.append(": ")
				.append(peer.lastReason())
				.append(';'));
		return all.toString();
	}

	/** Heap and direct memory in KiB, threads, descriptors, buffers, calls, channels. */
	private static String holdings(RegisteredMemory memory, RpcServer server) throws IOException {
		System.gc();
		long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
		long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)
			.stream()
			.filter((pool) -> pool.getName().equals("direct"))
			.mapToLong(BufferPoolMXBean::getMemoryUsed)
			.sum();
		return (heap >> 10) + " " + (direct >> 10) + " " + ManagementFactory.getThreadMXBean().getThreadCount() + " "
				+ descriptors() + " " + memory.metrics().outstanding() + " " + server.activeCalls() + " "
				+ server.channels().size();
	}

	private static long descriptors() throws IOException {
		Path directory = Path.of("/proc/self/fd");
		if (!Files.isDirectory(directory)) {
			return 0;
		}
		try (Stream<Path> open = Files.list(directory)) {
			return open.count();
		}
	}

	/** What is served. */
	interface Town {

		@RdmaMethod(inline = true)
		String greet(String name);

		byte[] echo(byte[] bytes);

		byte[] give();

		String fail(int how);

		CompletableFuture<String> never();

	}

	/** Serves it, or fails in odd ways. */
	private static final class Inhabitants implements Town {

		@Override
		public String greet(String name) {
			return "Welcome, " + name;
		}

		@Override
		public byte[] echo(byte[] bytes) {
			return bytes;
		}

		@Override
		public byte[] give() {
			return new byte[1 << 20];
		}

		@Override
		public String fail(int how) {
			switch (how & 7) {
				case 0 -> throw new RpcException(RpcStatus.INTERNAL, nullText());
				case 1 -> throw new OddException();
				case 2 -> throw new StackOverflowError();
				case 3 -> throw new AssertionError("odd");
				case 4 -> sneak(new Throwable("neither exception nor error"));
				case 5 -> throw new RpcException(RpcStatus.OK, "but it failed");
				case 6 -> throw new IllegalStateException("\uD800".repeat(5000));
				default -> Thread.currentThread().interrupt();
			}
			return "survived";
		}

		@Override
		public CompletableFuture<String> never() {
			return new CompletableFuture<>();
		}

		@SuppressWarnings({ "NullAway", "DataFlowIssue" }) // what a handler may do
		private static String nullText() {
			return null;
		}

		@SuppressWarnings("unchecked")
		private static <E extends Throwable> void sneak(Throwable odd) throws E {
			throw (E) odd;
		}

	}

	/** Fails when it is asked why. */
	private static final class OddException extends RuntimeException {

		@Override
		public String getMessage() {
			throw new IllegalStateException("no message");
		}

	}

}
