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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a process of several is to the library: memory, a transport, perhaps a server, and
 * clients of others. Closing all of them checks that nothing is outstanding.
 */
final class RpcNode implements AutoCloseable {

	final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(128L << 20)
		.withInitialBytes(4L << 20)
		.withAllocationTimeout(TestEnvironment.patience(Duration.ofSeconds(5)))
		.withLeakDetection(LeakDetection.PARANOID));

	final RdmaTransport transport = RdmaTransport
		.open(TransportOptions.DEFAULTS.withProvider(TestEnvironment.provider(TransportOptions.DEFAULTS.provider()),
				TransportOptions.DEFAULTS.device()), this.memory);

	private final List<RpcClient> clients = new CopyOnWriteArrayList<>();

	private @Nullable RpcServer server;

	/** Serves an object with the options and the executor that servers have. */
	<T> RpcNode serve(Class<T> type, T service) {
		return serve(type, service, UnaryOperator.identity(), UnaryOperator.identity());
	}

	<T> RpcNode serve(Class<T> type, T service, UnaryOperator<RpcServerOptions> options,
			UnaryOperator<RpcServer.Builder> more) {
		this.server = more
			.apply(RpcServer.builder()
				.transport(this.transport)
				.options(options.apply(RpcFixture.serverOptions(0)))
				.service(type, service))
			.build()
			.start();
		return this;
	}

	RpcServer server() {
		RpcServer running = this.server;
		assertThat(running).isNotNull();
		return running;
	}

	/** A client of another node, over one connection of its own. */
	RpcClient client(RpcNode other) {
		return client("node", () -> new InetSocketAddress(TestEnvironment.address(), other.server().port()),
				UnaryOperator.identity());
	}

	RpcClient client(String name, Supplier<InetSocketAddress> target, UnaryOperator<RpcClientOptions> options) {
		RpcClient client = RpcClient.builder()
			.transport(this.transport)
			.target(name, target)
			.options(options.apply(RpcClientOptions.DEFAULTS.withQueuePairs(QueuePairPoolOptions.fixed(1))))
			.build();
		this.clients.add(client);
		return client;
	}

	/** Closes nodes that call each other: first what calls, then what is called. */
	static void close(List<RpcNode> nodes) {
		nodes.forEach((node) -> node.clients.forEach(RpcClient::close));
		nodes.forEach((node) -> {
			if (node.server != null) {
				node.server.close();
			}
		});
		nodes.forEach((node) -> node.transport.close());
		for (RpcNode node : nodes) {
			RpcServer served = node.server;
			if (served != null) {
				RpcFixture.awaitTrue(() -> served.activeCalls() == 0);
			}
			RpcFixture.awaitTrue(() -> node.memory.metrics().allocatedBytes() == 0);
			node.memory.close();
		}
	}

	@Override
	public void close() {
		close(List.of(this));
	}

}
