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
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.boot.RdmaServerControl;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.CandidateDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ChannelDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ClientDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ListeningDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.LoopDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.MemoryDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.MethodDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.PoolDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ProviderDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.RailDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ReceivesDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ServerDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ServiceDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.SuspectDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaParts.Devices;
import dev.rdmarpc.boot.endpoint.RdmaParts.LoopReceives;
import dev.rdmarpc.boot.endpoint.RdmaParts.Memory;
import dev.rdmarpc.boot.endpoint.RdmaParts.MemorySettings;
import dev.rdmarpc.boot.endpoint.RdmaParts.QueuePair;
import dev.rdmarpc.boot.endpoint.RdmaParts.Service;
import dev.rdmarpc.memory.MemoryMetrics;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.QueuePairPoolMetrics;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ChannelSnapshot;
import dev.rdmarpc.transport.ListeningRail;
import dev.rdmarpc.transport.LoopMetrics;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.SuspectPeer;

/**
 * Describes the objects of the core for operators. Keys of memory and where it is are not
 * for them.
 */
final class RdmaView {

	/** The prefix of a simple name: part of a package, or an enclosing type. */
	private static final String QUALIFIER = "[^<>,\\s\\[\\]?&.$]+[.$]";

	private RdmaView() {
	}

	static ProviderDescriptor provider(ProviderSelection selection) {
		List<CandidateDescriptor> candidates = selection.candidates()
			.stream()
			.map((candidate) -> new CandidateDescriptor(candidate.name(), candidate.availability().available(),
					candidate.availability().reason()))
			.toList();
		return new ProviderDescriptor(selection.provider().name(), selection.reason(), candidates);
	}

	static RailDescriptor rail(Rail rail) {
		return new RailDescriptor(rail.name(), rail.selection().reason(), rail.device().name(), rail.isRunning(),
				rail.problem(), rail.reachesOtherHosts());
	}

	private static ListeningDescriptor listening(ListeningRail rail) {
		return new ListeningDescriptor(rail.name(), text(rail.address()), rail.isListening() ? null : rail.problem());
	}

	static Devices devices(RdmaTransport transport) {
		return new Devices(provider(transport.selection()), transport.selection().provider().deviceNames(),
				transport.device().name(), transport.device().isRunning(), transport.device().limits(),
				transport.rails().stream().map(RdmaView::rail).toList());
	}

	static MemoryDescriptor memory(RegisteredMemory memory) {
		MemoryMetrics metrics = memory.metrics();
		return new MemoryDescriptor(memory.options().maxBytes(), metrics.registeredBytes(), metrics.allocatedBytes(),
				metrics.cachedBytes(), metrics.userBytes(), metrics.extents(), metrics.outstanding(),
				metrics.allocations(), metrics.waits(), metrics.failures(), metrics.leaks());
	}

	static Memory memoryOf(RdmaTransport transport) {
		MemoryOptions options = transport.memory().options();
		MemorySettings settings = new MemorySettings(options.initialBytes(), options.maxBytes(), options.extentBytes(),
				options.threadCacheBytes(), options.allocationTimeout().toString(), options.leakDetection().name(),
				options.registrationCacheBytes(), options.retention().toString());
		List<LoopReceives> receives = transport.loops()
			.stream()
			.map((loop) -> new LoopReceives(loop.name(), receives(loop.metrics())))
			.toList();
		MemoryMetrics metrics = transport.memory().metrics();
		return new Memory(memory(transport.memory()), settings, receives, metrics.extentsAdded(),
				metrics.extentsRemoved());
	}

	private static ReceivesDescriptor receives(LoopMetrics metrics) {
		return new ReceivesDescriptor(metrics.receivesPosted(), metrics.receivesPromised(),
				metrics.receiveMemoryBytes(), metrics.receivePosts(), metrics.receivesReplaced());
	}

	static LoopDescriptor loop(ChannelLoop loop) {
		LoopMetrics metrics = loop.metrics();
		return new LoopDescriptor(loop.name(), loop.rail(), loop.outstandingCalls(), metrics.completions(),
				metrics.polls(), metrics.emptyPolls(), metrics.paidSpins(), metrics.spinNanos() / 1_000,
				metrics.awaits(), metrics.awaitNanos() / 1_000_000, metrics.wakeUps(), metrics.sentBytes(),
				metrics.receivedBytes(), metrics.readBytes(), metrics.framesSent(), metrics.framesReceived(),
				metrics.creditFrames(), receives(metrics), loop.channels().stream().map(RdmaView::channel).toList());
	}

	private static ChannelDescriptor channel(RpcChannel channel) {
		ChannelSnapshot seen = ChannelSnapshot.of(channel);
		return new ChannelDescriptor(seen.queuePair(), String.valueOf(seen.remoteAddress()), seen.state().name());
	}

	static List<QueuePair> queuePairs(RdmaTransport transport) {
		return transport.loops()
			.stream()
			.flatMap((loop) -> loop.channels().stream().map((channel) -> queuePair(loop, ChannelSnapshot.of(channel))))
			.toList();
	}

	private static QueuePair queuePair(ChannelLoop loop, ChannelSnapshot channel) {
		return new QueuePair(channel.queuePair(), channel.initiator() ? "client" : "server", loop.rail(), loop.name(),
				channel.state().name(), text(channel.localAddress()), text(channel.remoteAddress()),
				channel.outstandingCalls(), channel.sendCredits(), channel.promisedReceives(), channel.receivedFrames(),
				channel.cancels(), channel.unfinishedBytes());
	}

	private static @Nullable String text(@Nullable Object value) {
		return (value != null) ? value.toString() : null;
	}

	static ServerDescriptor server(RpcServer server, RdmaServerControl.State state) {
		boolean running = server.isRunning();
		return new ServerDescriptor(state.name(), running, running ? server.address().toString() : null,
				running ? server.rails().stream().map(RdmaView::listening).toList() : List.of(), server.activeCalls(),
				server.options().maxConcurrentCalls(), server.channels().size(), server.options().maxConnections(),
				server.suspects().stream().map(RdmaView::suspect).toList(),
				server.services().stream().map(RdmaView::service).toList());
	}

	private static SuspectDescriptor suspect(SuspectPeer peer) {
		return new SuspectDescriptor(peer.address().getHostAddress(), peer.rejected(), peer.givenUp(),
				peer.lastReason(), peer.lastTime().toString());
	}

	static ServiceDescriptor service(dev.rdmarpc.rpc.ServiceDescriptor service) {
		return new ServiceDescriptor(service.name(), service.type().getName(),
				service.methods()
					.stream()
					.map((method) -> new MethodDescriptor(method.name(), signature(service.type(), method.javaMethod()),
							method.asynchronous(), method.inline(), method.idempotent(), method.consuming(),
							method.streaming()))
					.toList());
	}

	static Service serviceWithSchemas(dev.rdmarpc.rpc.ServiceDescriptor service) {
		return new Service(service.name(), service.type().getName(), service.printedSchema(),
				service.methods()
					.stream()
					.map((method) -> new RdmaParts.Method(method.name(), signature(service.type(), method.javaMethod()),
							method.printedSchema()))
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

	static ClientDescriptor client(String target, RpcClient client) {
		QueuePairPoolMetrics metrics = client.metrics();
		return new ClientDescriptor(target, client.state().name(), metrics.health().name(), client.lastFailure(),
				client.defaultDeadline().toString(),
				new PoolDescriptor(metrics.open(), metrics.min(), metrics.max(), metrics.outstandingCalls(),
						metrics.connects(), metrics.growths(), metrics.shrinks(), metrics.losses(),
						metrics.repetitions()),
				client.addresses(), client.queuePairs());
	}

}
