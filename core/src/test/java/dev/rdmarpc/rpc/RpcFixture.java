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

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.VerbsProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * A server and a client in one process, each with its own transport and memory, over the
 * provider that the environment asks for; closing it checks that nothing is outstanding.
 */
final class RpcFixture implements AutoCloseable {

	/** A label is at most 63 characters long, so that no name server is asked for it. */
	static final String UNKNOWN_HOST = "x".repeat(64);

	final RegisteredMemory serverMemory;

	final RegisteredMemory clientMemory;

	final RdmaTransport serverTransport;

	final RdmaTransport clientTransport;

	final EchoService service = new EchoService();

	RpcServer server;

	RpcClient client;

	Echo echo;

	RpcFixture(UnaryOperator<RpcServerOptions> serverOptions, UnaryOperator<RpcClientOptions> clientOptions) {
		this(serverOptions, clientOptions, 64L << 20);
	}

	RpcFixture(UnaryOperator<RpcServerOptions> serverOptions, UnaryOperator<RpcClientOptions> clientOptions,
			long serverBytes) {
		this(serverOptions, clientOptions, TransportOptions.DEFAULTS, TransportOptions.DEFAULTS, serverBytes);
	}

	RpcFixture(UnaryOperator<RpcServerOptions> serverOptions, UnaryOperator<RpcClientOptions> clientOptions,
			TransportOptions serverSide, TransportOptions clientSide) {
		this(serverOptions, clientOptions, serverSide, clientSide, 64L << 20);
	}

	private RpcFixture(UnaryOperator<RpcServerOptions> serverOptions, UnaryOperator<RpcClientOptions> clientOptions,
			TransportOptions serverSide, TransportOptions clientSide, long serverBytes) {
		this(serverOptions, clientOptions, serverSide, clientSide, serverBytes, TestEnvironment.providers(),
				TestEnvironment.providers());
	}

	/** On one provider, of which each side has its own. */
	RpcFixture(String provider, List<VerbsProvider> servers, List<VerbsProvider> clients) {
		this(UnaryOperator.identity(), UnaryOperator.identity(), TransportOptions.DEFAULTS.withProvider(provider, ""),
				TransportOptions.DEFAULTS.withProvider(provider, ""), 64L << 20, servers, clients);
	}

	private RpcFixture(UnaryOperator<RpcServerOptions> serverOptions, UnaryOperator<RpcClientOptions> clientOptions,
			TransportOptions serverSide, TransportOptions clientSide, long serverBytes, List<VerbsProvider> servers,
			List<VerbsProvider> clients) {
		this.serverMemory = memory(serverBytes, servers);
		this.clientMemory = memory(Math.max(64L << 20, serverBytes), clients);
		this.serverTransport = open(serverSide, servers, this.serverMemory);
		this.clientTransport = open(clientSide, clients, this.clientMemory);
		this.server = startServer(serverOptions.apply(serverOptions(0)));
		this.client = RpcClient.builder()
			.transport(this.clientTransport)
			.target(TestEnvironment.host(), this.server.port())
			.options(clientOptions
				.apply(RpcClientOptions.DEFAULTS.withBackoff(Duration.ofMillis(10), Duration.ofMillis(100))))
			.build();
		this.echo = this.client.proxy(Echo.class);
	}

	RpcFixture() {
		this(UnaryOperator.identity(), UnaryOperator.identity());
	}

	/** Options of a server at the address of the device. */
	static RpcServerOptions serverOptions(int port) {
		return RpcServerOptions.DEFAULTS.withAddress(new InetSocketAddress(TestEnvironment.address(), port));
	}

	private static RdmaTransport open(TransportOptions asked, List<VerbsProvider> providers, RegisteredMemory memory) {
		TransportOptions options = asked.withProvider(TestEnvironment.provider(asked.provider()), asked.device());
		return RdmaTransport.open(options, ProviderSelection.selectAll(options.providers(), providers), memory);
	}

	/** Another client of the server, over a connection of its own. */
	RpcClient newClient() {
		return newClient(this.server);
	}

	/** A client of another server, which the caller closes first. */
	RpcClient newClient(RpcServer other) {
		return newClient(other, UnaryOperator.identity());
	}

	/** The same with other options. */
	RpcClient newClient(RpcServer other, UnaryOperator<RpcClientOptions> options) {
		return RpcClient.builder()
			.transport(this.clientTransport)
			.target(TestEnvironment.host(), other.port())
			.options(options.apply(RpcClientOptions.DEFAULTS))
			.build();
	}

	/** A client of whoever is at an address, which the caller closes. */
	RpcClient newClient(Supplier<InetSocketAddress> addresses, RpcClientOptions options) {
		return RpcClient.builder()
			.transport(this.clientTransport)
			.target("the target", addresses)
			.options(options)
			.build();
	}

	RpcServer startServer(RpcServerOptions options) {
		return startServer(options, Echo.class, this.service);
	}

	/** Another server on the server's transport, which the caller closes. */
	<T> RpcServer startServer(Class<T> type, T other) {
		return startServer(serverOptions(0), type, other);
	}

	<T> RpcServer startServer(RpcServerOptions options, Class<T> type, T other) {
		return startServer(options, (builder) -> builder.service(type, other));
	}

	/** Another server on the server's transport, which the caller closes. */
	RpcServer startServer(RpcServerOptions options, UnaryOperator<RpcServer.Builder> services) {
		return services.apply(RpcServer.builder().transport(this.serverTransport).options(options)).build().start();
	}

	/** Another server with an executor of the test's, which the caller closes. */
	RpcServer startServer(Echo other, Executor executor) {
		return RpcServer.builder()
			.transport(this.serverTransport)
			.options(serverOptions(0))
			.service(Echo.class, other)
			.executor(executor)
			.build()
			.start();
	}

	/** Nothing is left of the calls of a client, which has kept its connection. */
	static void assertServesOn(RpcServer server, RpcClient client) {
		awaitTrue(() -> server.activeCalls() == 0);
		assertThat(server.channels()).hasSize(1);
		assertThat(client.metrics().losses()).as("connections lost").isZero();
	}

	/** Has a loop do nothing until the latch is counted down. */
	static CountDownLatch hold(ChannelLoop loop) {
		CountDownLatch held = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		Thread holder = new Thread(() -> loop.execute(() -> {
			held.countDown();
			Await.latch(release);
		}));
		holder.start();
		Await.latch(held);
		return release;
	}

	/** Runs a task in a thread of its own. */
	static <T> CompletableFuture<T> inThread(Supplier<T> task) {
		return CompletableFuture.supplyAsync(task, (run) -> {
			Thread thread = new Thread(run, "caller-of-the-test");
			thread.setDaemon(true);
			thread.start();
		});
	}

	static RpcException failureOf(Runnable call) {
		return catchThrowableOfType(RpcException.class, call::run);
	}

	static void awaitTrue(BooleanSupplier condition) {
		Await.until(condition);
	}

	private static RegisteredMemory memory(long maxBytes, List<VerbsProvider> providers) {
		return TestEnvironment.memory(MemoryOptions.DEFAULTS.withMaxBytes(maxBytes)
			.withInitialBytes(4L << 20)
			.withAllocationTimeout(TestEnvironment.scaled(Duration.ofMillis(100)))
			.withLeakDetection(LeakDetection.PARANOID), providers);
	}

	@Override
	public void close() {
		this.client.close();
		this.server.close();
		this.clientTransport.close();
		this.serverTransport.close();
		// closing waits for handlers and callbacks, but on a slow machine not long enough
		awaitTrue(() -> this.server.activeCalls() == 0);
		awaitTrue(() -> this.clientMemory.metrics().allocatedBytes() == 0);
		awaitTrue(() -> this.serverMemory.metrics().allocatedBytes() == 0);
		this.clientMemory.close();
		this.serverMemory.close();
	}

}
