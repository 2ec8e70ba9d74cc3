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

package dev.rdmarpc.grpc;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import org.assertj.core.api.Assertions;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.VerbsProvider;
import dev.rdmarpc.verbs.shm.SharedMemoryOptions;
import dev.rdmarpc.verbs.shm.SharedMemoryProvider;

/**
 * Transports for the two sides, over loopback. Closing it asserts that all ended and that
 * no memory is outstanding.
 */
final class GrpcFixture implements AutoCloseable {

	static final long TIMEOUT_SECONDS = 60;

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);

	private final RdmaTransport transport;

	private final List<ManagedChannel> channels = new ArrayList<>();

	private final List<Server> servers = new ArrayList<>();

	GrpcFixture() {
		this("iwarp");
	}

	GrpcFixture(String provider) {
		this.transport = RdmaTransport.open(TransportOptions.DEFAULTS.withProvider(provider, ""), this.memory);
	}

	/** With several rails, of which one meets peers in a directory. */
	GrpcFixture(Path directory, String... providers) {
		List<VerbsProvider> all = ProviderSelection.discover();
		all.replaceAll((provider) -> (provider instanceof SharedMemoryProvider)
				? new SharedMemoryProvider(SharedMemoryOptions.DEFAULTS.withDirectory(directory)) : provider);
		this.transport = RdmaTransport.open(TransportOptions.DEFAULTS.withProviders(List.of(providers)),
				ProviderSelection.selectAll(List.of(providers), all), this.memory);
	}

	RdmaTransport transport() {
		return this.transport;
	}

	RegisteredMemory memory() {
		return this.memory;
	}

	Server serve(Consumer<RdmaServerBuilder> customizer) throws Exception {
		return serve(0, customizer);
	}

	Server serve(int port, Consumer<RdmaServerBuilder> customizer) throws Exception {
		RdmaServerBuilder builder = RdmaServerBuilder
			.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
			.transport(this.transport);
		customizer.accept(builder);
		Server server = builder.build().start();
		this.servers.add(server);
		return server;
	}

	ManagedChannel connect(Server server, Consumer<RdmaChannelBuilder> customizer) {
		return connect(server.getPort(), customizer);
	}

	ManagedChannel connect(int port, Consumer<RdmaChannelBuilder> customizer) {
		RdmaChannelBuilder builder = RdmaChannelBuilder
			.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
			.transport(this.transport);
		customizer.accept(builder);
		ManagedChannel channel = builder.build();
		this.channels.add(channel);
		return channel;
	}

	static void await(BooleanSupplier condition, String what) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
		while (!condition.getAsBoolean()) {
			Assertions.assertThat(System.nanoTime() - deadline).as(what).isNegative();
			LockSupport.parkNanos(1_000_000);
		}
	}

	@Override
	public void close() {
		this.channels.forEach(GrpcFixture::end);
		this.servers.forEach(GrpcFixture::end);
		await(() -> this.transport.loops().stream().noneMatch((loop) -> loop.name().startsWith("rdma-grpc-server")),
				"loops of servers are closed");
		this.transport.close();
		// gRPC's executors are not ended with its servers and channels
		await(() -> this.memory.metrics().outstanding() == 0, "buffers are given back");
		this.memory.close();
	}

	private static void end(ManagedChannel channel) {
		try {
			if (!channel.shutdown().awaitTermination(2, TimeUnit.SECONDS)) {
				channel.shutdownNow();
				Assertions.assertThat(channel.awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void end(Server server) {
		try {
			Assertions.assertThat(server.shutdownNow().awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
