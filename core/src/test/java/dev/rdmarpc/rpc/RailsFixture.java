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

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RailOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.VerbsProvider;
import dev.rdmarpc.verbs.shm.SharedMemoryOptions;
import dev.rdmarpc.verbs.shm.SharedMemoryProvider;

/**
 * Transports with several rails in one process, and what runs on them; closing it checks
 * that nothing is outstanding.
 */
final class RailsFixture implements AutoCloseable {

	static final RailOptions IMPATIENT = RailOptions.DEFAULTS.withTimes(TestEnvironment.scaled(Duration.ofMillis(300)),
			TestEnvironment.scaled(Duration.ofMillis(50)));

	final Path directory = newDirectory();

	private final List<RegisteredMemory> memories = new ArrayList<>();

	private final List<RdmaTransport> transports = new ArrayList<>();

	private final List<RpcServer> servers = new ArrayList<>();

	private final List<RpcClient> clients = new ArrayList<>();

	static Path newDirectory() {
		try {
			return Files.createTempDirectory("rdma",
					PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static RegisteredMemory newMemory() {
		return RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(64L << 20)
			.withInitialBytes(4L << 20)
			.withLeakDetection(LeakDetection.PARANOID));
	}

	static RdmaTransport open(Path directory, RegisteredMemory memory, List<String> providers) {
		return open(directory, memory, ProviderSelection.discover(), providers);
	}

	private static RdmaTransport open(Path directory, RegisteredMemory memory, List<VerbsProvider> all,
			List<String> providers) {
		all.replaceAll((provider) -> (provider instanceof SharedMemoryProvider)
				? new SharedMemoryProvider(SharedMemoryOptions.DEFAULTS.withDirectory(directory)) : provider);
		return RdmaTransport.open(TransportOptions.DEFAULTS.withProviders(providers),
				ProviderSelection.selectAll(providers, all), memory);
	}

	RdmaTransport transport(String... providers) {
		RegisteredMemory memory = newMemory();
		this.memories.add(memory);
		RdmaTransport transport = open(this.directory, memory, List.of(providers));
		this.transports.add(transport);
		return transport;
	}

	/** One that has a provider more. */
	RdmaTransport transport(VerbsProvider another, String... providers) {
		RegisteredMemory memory = newMemory();
		this.memories.add(memory);
		List<VerbsProvider> all = ProviderSelection.discover();
		all.add(another);
		RdmaTransport transport = open(this.directory, memory, all, List.of(providers));
		this.transports.add(transport);
		return transport;
	}

	static InetSocketAddress loopback(int port) {
		return new InetSocketAddress(TestEnvironment.address(), port);
	}

	RpcServer serve(RdmaTransport transport, InetSocketAddress address, Echo service) {
		return serve(transport, service, (options) -> options.withAddress(address));
	}

	RpcServer serve(RdmaTransport transport, Echo service, UnaryOperator<RpcServerOptions> options) {
		return serve(transport, Echo.class, service, options);
	}

	<T> RpcServer serve(RdmaTransport transport, Class<T> type, T service) {
		InetSocketAddress address = new InetSocketAddress(TestEnvironment.address(), 0);
		return serve(transport, type, service, (options) -> options.withAddress(address));
	}

	private <T> RpcServer serve(RdmaTransport transport, Class<T> type, T service,
			UnaryOperator<RpcServerOptions> options) {
		RpcServer server = RpcServer.builder()
			.transport(transport)
			.options(options.apply(RpcServerOptions.DEFAULTS.withAddress(loopback(0))))
			.service(type, service)
			.build()
			.start();
		this.servers.add(server);
		return server;
	}

	RpcClient client(RdmaTransport transport, InetSocketAddress address, RailOptions rails) {
		return client(transport, address, (options) -> options.withRails(rails));
	}

	RpcClient client(RdmaTransport transport, InetSocketAddress address, UnaryOperator<RpcClientOptions> options) {
		return client(transport, () -> address, options);
	}

	RpcClient client(RdmaTransport transport, Supplier<InetSocketAddress> address,
			UnaryOperator<RpcClientOptions> options) {
		RpcClient client = RpcClient.builder()
			.transport(transport)
			.target("target", address)
			.options(
					options.apply(RpcClientOptions.DEFAULTS.withBackoff(Duration.ofMillis(10), Duration.ofMillis(100))))
			.build();
		this.clients.add(client);
		return client;
	}

	/** The rail of a client's queue pair, if it has one. */
	static String railOf(RpcClient client) {
		return String.valueOf(client.queuePairs().get(0).rail());
	}

	static void awaitRail(RpcClient client, String rail) {
		Await.until(() -> railOf(client).equals(rail));
	}

	@Override
	public void close() throws IOException {
		this.clients.forEach(RpcClient::close);
		Collections.reverse(this.servers);
		this.servers.forEach(RpcServer::close);
		this.transports.forEach(RdmaTransport::close);
		Await.until(() -> this.servers.stream().allMatch((server) -> server.activeCalls() == 0));
		this.memories.forEach((memory) -> {
			Await.until(() -> memory.metrics().allocatedBytes() == 0);
			memory.close();
		});
		removeDirectory(this.directory);
	}

	/** Removes a directory of shared memory, in which nothing may be left. */
	static void removeDirectory(Path directory) throws IOException {
		Files.deleteIfExists(directory.resolve(".lock"));
		Files.delete(directory);
	}

}
