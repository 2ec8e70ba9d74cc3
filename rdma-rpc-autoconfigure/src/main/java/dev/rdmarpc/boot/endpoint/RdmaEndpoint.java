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

package dev.rdmarpc.boot.endpoint;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.CandidateDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ChannelDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ClientDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.LoopDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.MemoryDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.MethodDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.PoolDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ProviderDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ReceivesDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ServerDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ServiceDescriptor;
import dev.rdmarpc.memory.MemoryMetrics;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.QueuePairPoolMetrics;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.LoopMetrics;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RpcChannel;

/** The Actuator endpoint {@code rdma}. */
@Endpoint(id = "rdma")
public class RdmaEndpoint {

	/** The prefix of a simple name: part of a package, or an enclosing type. */
	private static final String QUALIFIER = "[^<>,\\s\\[\\]?&.$]+[.$]";

	private final RdmaTransport transport;

	private final Supplier<@Nullable RpcServer> server;

	private final @Nullable RdmaClients clients;

	/**
	 * Creates the endpoint.
	 * @param server queried on each request, since there may be none yet
	 */
	public RdmaEndpoint(RdmaTransport transport, Supplier<@Nullable RpcServer> server, @Nullable RdmaClients clients) {
		this.transport = transport;
		this.server = server;
		this.clients = clients;
	}

	/** Returns the whole state. */
	@ReadOperation
	public RdmaDescriptor rdma() {
		return new RdmaDescriptor(provider(), this.transport.device().name(), this.transport.problems(),
				this.transport.device().limits(), memory(),
				this.transport.loops().stream().map(RdmaEndpoint::loop).toList(), server(), clients());
	}

	private ProviderDescriptor provider() {
		ProviderSelection selection = this.transport.selection();
		List<CandidateDescriptor> candidates = selection.candidates()
			.stream()
			.map((candidate) -> new CandidateDescriptor(candidate.name(), candidate.availability().available(),
					candidate.availability().reason()))
			.toList();
		return new ProviderDescriptor(selection.provider().name(), selection.reason(), candidates);
	}

	private MemoryDescriptor memory() {
		RegisteredMemory memory = this.transport.memory();
		MemoryMetrics metrics = memory.metrics();
		return new MemoryDescriptor(memory.options().maxBytes(), metrics.registeredBytes(), metrics.allocatedBytes(),
				metrics.cachedBytes(), metrics.userBytes(), metrics.extents(), metrics.outstanding(),
				metrics.allocations(), metrics.waits(), metrics.failures(), metrics.leaks());
	}

	private static LoopDescriptor loop(ChannelLoop loop) {
		LoopMetrics metrics = loop.metrics();
		return new LoopDescriptor(loop.name(), loop.outstandingCalls(), metrics.completions(), metrics.polls(),
				metrics.emptyPolls(), metrics.paidSpins(), metrics.spinNanos() / 1_000, metrics.awaits(),
				metrics.awaitNanos() / 1_000_000, metrics.wakeUps(), metrics.sentBytes(), metrics.receivedBytes(),
				metrics.readBytes(), metrics.framesSent(), metrics.framesReceived(), metrics.creditFrames(),
				new ReceivesDescriptor(metrics.receivesPosted(), metrics.receivesPromised(),
						metrics.receiveMemoryBytes(), metrics.receivePosts(), metrics.receivesReplaced()),
				loop.channels().stream().map(RdmaEndpoint::channel).toList());
	}

	private static ChannelDescriptor channel(RpcChannel channel) {
		return new ChannelDescriptor(String.valueOf(channel.remoteAddress()), channel.state().name());
	}

	private @Nullable ServerDescriptor server() {
		RpcServer current = this.server.get();
		if (current == null) {
			return null;
		}
		return new ServerDescriptor(current.isRunning(), current.isRunning() ? current.address().toString() : null,
				current.activeCalls(), current.channels().size(), current.options().maxConnections(),
				current.services().stream().map(RdmaEndpoint::service).toList());
	}

	private static ServiceDescriptor service(dev.rdmarpc.rpc.ServiceDescriptor service) {
		return new ServiceDescriptor(service.name(), service.type().getName(),
				service.methods()
					.stream()
					.map((method) -> new MethodDescriptor(method.name(), signature(service.type(), method.javaMethod()),
							method.asynchronous(), method.inline(), method.idempotent()))
					.toList());
	}

	/**
	 * {@code Service.method(Type, Other<Type>)}, without packages and enclosing types.
	 */
	private static String signature(Class<?> service, Method method) {
		return service.getSimpleName() + "." + method.getName()
				+ Arrays.stream(method.getGenericParameterTypes())
					.map((type) -> type.getTypeName().replaceAll(QUALIFIER, ""))
					.collect(Collectors.joining(", ", "(", ")"));
	}

	private List<ClientDescriptor> clients() {
		if (this.clients == null) {
			return List.of();
		}
		return this.clients.clients()
			.entrySet()
			.stream()
			.map((entry) -> client(entry.getKey(), entry.getValue()))
			.toList();
	}

	private static ClientDescriptor client(String target, RpcClient client) {
		QueuePairPoolMetrics metrics = client.metrics();
		return new ClientDescriptor(target, client.state().name(), metrics.health().name(), client.lastFailure(),
				new PoolDescriptor(metrics.open(), metrics.min(), metrics.max(), metrics.outstandingCalls(),
						metrics.connects(), metrics.growths(), metrics.shrinks(), metrics.losses(),
						metrics.repetitions()),
				client.queuePairs());
	}

}
