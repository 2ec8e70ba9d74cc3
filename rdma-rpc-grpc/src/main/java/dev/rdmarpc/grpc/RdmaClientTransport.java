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

import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.Grpc;
import io.grpc.InternalChannelz.SocketOptions;
import io.grpc.InternalChannelz.SocketStats;
import io.grpc.InternalLogId;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.internal.ClientStream;
import io.grpc.internal.ClientStreamListener.RpcProgress;
import io.grpc.internal.ClientTransportFactory.ClientTransportOptions;
import io.grpc.internal.ConnectionClientTransport;
import io.grpc.internal.DisconnectError;
import io.grpc.internal.FailingClientStream;
import io.grpc.internal.GrpcAttributes;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.SimpleDisconnectError;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.TransportTracer;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RpcChannel;

/**
 * The caller's end of one connection, which is one channel. gRPC makes another one when
 * it has ended.
 *
 * <p>
 * Thread-safe.
 *
 * <p>
 * Implementation notes. The lock guards the sets of calls and how the connection ended. A
 * call that ends lets one begin that waits, after it has given its place on the channel
 * back or has left that to a task that the driver runs before the request. gRPC's
 * listener is told by the tasks of the connection, so in the order of events.
 */
final class RdmaClientTransport implements ConnectionClientTransport, ChannelHandler {

	/** Calls beyond those that wait fail. */
	private static final int MOST_WAITING_CALLS = ChannelOptions.MAX_CALLS;

	private final RdmaTransport transport;

	private final ClientSettings settings;

	private final InetSocketAddress address;

	private final String authority;

	private final byte[][] userAgent;

	private final InternalLogId logId;

	private final TransportTracer tracer = GrpcProtocol.newTracer();

	private final RpcChannel channel;

	private final SerialTasks tasks;

	/** Let calls begin, which may wait for memory. */
	private final SerialTasks releases;

	private final Set<RdmaClientStream> calls = new LinkedHashSet<>();

	/** Those of the calls that wait until others have ended, in their order. */
	private final Set<RdmaClientStream> waiting = new LinkedHashSet<>();

	private int callsInUse;

	private boolean reportedInUse;

	private boolean shutdown;

	private boolean toldShutdown;

	private @Nullable Status ending;

	private volatile @Nullable Status forced;

	private volatile boolean unauthenticated;

	private volatile Attributes attributes;

	private @Nullable Listener listener;

	/** Made before there may be no memory for it. */
	private final Runnable termination = this::terminate;

	/** Why the channel has closed. */
	private volatile @Nullable String closeReason;

	/** Whether gRPC has been told of that. */
	private volatile boolean terminated;

	RdmaClientTransport(RdmaTransport transport, ClientSettings settings, Rail rail, InetSocketAddress address,
			ClientTransportOptions options) {
		this.transport = transport;
		this.settings = settings;
		this.address = address;
		this.authority = options.getAuthority();
		Metadata own = new Metadata();
		own.put(GrpcUtil.USER_AGENT_KEY, GrpcUtil.getGrpcUserAgent("rdma", options.getUserAgent()));
		this.userAgent = HeaderBlock.of(own);
		this.logId = InternalLogId.allocate(RdmaClientTransport.class, address.toString());
		this.attributes = Attributes.newBuilder()
			.set(GrpcAttributes.ATTR_SECURITY_LEVEL, GrpcProtocol.securityLevel(settings.channel()))
			.set(GrpcAttributes.ATTR_CLIENT_EAG_ATTRS, options.getEagAttributes())
			.build();
		this.channel = transport.newChannel(settings.loop(transport, rail), settings.channel(), this);
		this.tasks = newTasks();
		this.releases = newTasks();
	}

	RpcChannel channel() {
		return this.channel;
	}

	String authority() {
		return this.authority;
	}

	/** The header that every call has. */
	byte[][] userAgent() {
		return this.userAgent;
	}

	int maxMessageBytes() {
		return this.settings.maxMessageBytes();
	}

	int maxMetadataBytes() {
		return this.settings.maxMetadataBytes();
	}

	int windowBytes() {
		return this.settings.channel().streamWindowBytes();
	}

	/** For a call or the connection. */
	SerialTasks newTasks() {
		return new SerialTasks(this.transport, this.channel.loop());
	}

	@Override
	public @Nullable Runnable start(Listener told) {
		this.listener = told;
		if (this.address.isUnresolved()) {
			this.channel.close("unknown host " + this.address.getHostString());
		}
		else {
			this.transport.connect(this.channel, this.address);
		}
		return null;
	}

	private Listener listener() {
		Listener told = this.listener;
		if (told == null) {
			throw new IllegalStateException("transport was not started");
		}
		return told;
	}

	@Override
	public ClientStream newStream(MethodDescriptor<?, ?> method, Metadata headers, CallOptions callOptions,
			ClientStreamTracer[] tracers) {
		StatsTraceContext stats = StatsTraceContext.newClientContext(tracers, getAttributes(), headers);
		Status refused = refusal();
		if (refused != null) {
			return new FailingClientStream(refused, RpcProgress.MISCARRIED, tracers);
		}
		return new RdmaClientStream(this, method, headers, callOptions, new OutgoingPieces(this.transport.memory()),
				stats, this.tracer);
	}

	private synchronized @Nullable Status refusal() {
		return this.ending;
	}

	/**
	 * A call begins, or is held until others have ended.
	 * @return why it cannot, or {@code null}
	 */
	@Nullable Status began(RdmaClientStream call) {
		repeatTermination();
		synchronized (this) {
			if (this.ending != null) {
				return this.ending;
			}
			if (this.calls.size() - this.waiting.size() >= this.channel.maxSendCalls()) {
				if (this.waiting.size() >= MOST_WAITING_CALLS) {
					return Status.RESOURCE_EXHAUSTED.withDescription(
							MOST_WAITING_CALLS + " calls wait for others on the connection to end already");
				}
				call.hold();
				this.waiting.add(call);
			}
			this.calls.add(call);
			if (!call.shouldBeCountedForInUse() || this.callsInUse++ > 0) {
				return null;
			}
		}
		this.tasks.execute(this::reportUse);
		return null;
	}

	/** A call has ended. */
	void ended(RdmaClientStream call) {
		boolean idle;
		boolean last;
		RdmaClientStream next = null;
		synchronized (this) {
			if (!this.calls.remove(call)) {
				return;
			}
			if (!this.waiting.isEmpty() && !this.waiting.remove(call)) {
				next = this.waiting.iterator().next();
				this.waiting.remove(next);
			}
			idle = call.shouldBeCountedForInUse() && --this.callsInUse == 0;
			last = this.shutdown && this.calls.isEmpty();
		}
		if (idle) {
			this.tasks.execute(this::reportUse);
		}
		if (last) {
			this.channel.drain();
		}
		if (next != null) {
			// the thread may be the one that gRPC has for all deadlines
			this.releases.executeElsewhere(next::release);
		}
	}

	private void reportUse() {
		boolean inUse;
		synchronized (this) {
			inUse = this.callsInUse > 0;
			if (inUse == this.reportedInUse) {
				return;
			}
			this.reportedInUse = inUse;
		}
		listener().transportInUse(inUse);
	}

	/** What a call ends with that the channel gave up. */
	Status statusOf(CallFailure failure, String detail) {
		Status known = this.forced;
		return switch (failure) {
			case CONNECTION_LOST, NOT_SENT -> (known != null) ? known : unconnected(detail);
			case DEADLINE_EXCEEDED -> Status.DEADLINE_EXCEEDED.withDescription(detail);
			case CANCELLED -> Status.CANCELLED.withDescription(detail);
			case RESOURCE_EXHAUSTED, MESSAGE_TOO_LARGE -> Status.RESOURCE_EXHAUSTED.withDescription(detail);
			case MALFORMED_REPLY -> Status.INTERNAL.withDescription(detail);
		};
	}

	private Status unconnected(String detail) {
		Status status = this.unauthenticated ? Status.UNAUTHENTICATED : Status.UNAVAILABLE;
		return status.withDescription("no connection to " + this.address + ": " + detail);
	}

	@Override
	public void ping(PingCallback callback, Executor executor) {
		new Ping(callback, executor, this.tasks).send(this.channel);
	}

	@Override
	public void shutdown(Status reason) {
		if (end(reason)) {
			this.tasks.execute(() -> tellShutdown(reason, SimpleDisconnectError.SUBCHANNEL_SHUTDOWN));
			drainIfUnused();
		}
	}

	@Override
	public void shutdownNow(Status reason) {
		shutdown(reason);
		this.forced = reason;
		failWaiting(reason);
		openCalls().forEach((call) -> call.fail(reason, RpcProgress.PROCESSED));
		this.channel.close(String.valueOf(reason.getDescription()));
	}

	/**
	 * A call that has begun may not have been sent yet, so the channel knows nothing of
	 * it.
	 */
	private void drainIfUnused() {
		synchronized (this) {
			this.shutdown = true;
			if (!this.calls.isEmpty()) {
				return;
			}
		}
		this.channel.drain();
	}

	private synchronized boolean end(Status reason) {
		if (this.ending != null) {
			return false;
		}
		this.ending = reason;
		return true;
	}

	/** None of them was sent, so that gRPC may have them go another way. */
	private void failWaiting(Status status) {
		List<RdmaClientStream> unsent;
		synchronized (this) {
			unsent = List.copyOf(this.waiting);
			this.waiting.clear();
		}
		unsent.forEach((call) -> call.fail(status, RpcProgress.MISCARRIED));
	}

	private synchronized List<RdmaClientStream> openCalls() {
		return List.copyOf(this.calls);
	}

	@Override
	public Attributes getAttributes() {
		return this.attributes;
	}

	@Override
	public ListenableFuture<SocketStats> getStats() {
		return Futures.immediateFuture(new SocketStats(this.tracer.getStats(), this.channel.localAddress(),
				this.channel.remoteAddress(), new SocketOptions.Builder().build(), null));
	}

	@Override
	public InternalLogId getLogId() {
		return this.logId;
	}

	@Override
	public String codec() {
		return GrpcProtocol.CODEC;
	}

	@Override
	public void onOpen(RpcChannel opened) {
		this.tasks.executeAfterTurn(this::ready);
	}

	private void ready() {
		try {
			tellReady();
		}
		catch (Throwable ex) {
			this.channel.close("a transport filter has failed: " + FailureText.of(ex));
			throw ex;
		}
	}

	private void tellReady() {
		Attributes known = this.attributes.toBuilder()
			.set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, this.channel.remoteAddress())
			.set(Grpc.TRANSPORT_ATTR_LOCAL_ADDR, this.channel.localAddress())
			.build();
		this.attributes = listener().filterTransport(known);
		listener().transportReady();
	}

	@Override
	public void onUnauthenticated(RpcChannel refused) {
		this.unauthenticated = true;
	}

	@Override
	public void onGoodbye(RpcChannel draining) {
		this.tasks.executeAfterTurn(() -> stop("the peer is shutting down", SimpleDisconnectError.UNKNOWN));
	}

	@Override
	public void onClosed(RpcChannel closed, String reason) {
		this.closeReason = reason;
		this.tasks.executeAfterTurn(this.termination);
	}

	/** The connection has ended. One of the tasks, or several until one succeeds. */
	private void terminate() {
		String reason = this.closeReason;
		if (reason == null || this.terminated) {
			return;
		}
		stop(reason, SimpleDisconnectError.CONNECTION_RESET);
		Status known = this.forced;
		Status status = (known != null) ? known : unconnected(reason);
		openCalls().forEach((call) -> call.failUnlessSubmitted(status));
		listener().transportTerminated();
		this.terminated = true;
	}

	/**
	 * gRPC uses the connection, although it may have ended: where there was no memory to
	 * say so.
	 */
	private void repeatTermination() {
		if (this.closeReason != null && !this.terminated) {
			this.tasks.execute(this.termination);
		}
	}

	private void stop(String reason, DisconnectError error) {
		Status status = unconnected(reason);
		end(status);
		failWaiting(status);
		tellShutdown(status, error);
	}

	/**
	 * Before it is told the end, also if that comes between a shutdown and its task. One
	 * of the tasks.
	 */
	private void tellShutdown(Status reason, DisconnectError error) {
		if (!this.toldShutdown) {
			this.toldShutdown = true;
			listener().transportShutdown(reason, error);
		}
	}

	@Override
	public void onRequest(RpcChannel from, IncomingMessage request) {
		from.close("a request from the side that serves");
	}

	@Override
	public void onUnreadableRequest(RpcChannel from, int requestId, String detail) {
		from.close("a request from the side that serves");
	}

	@Override
	public void onCancel(RpcChannel from, int requestId) {
		// nothing is executed here for the peer
	}

	@Override
	public String toString() {
		return this.logId + " to " + this.address;
	}

}
