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

import java.io.File;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.grpc.Attributes;
import io.grpc.ForwardingServerBuilder;
import io.grpc.Grpc;
import io.grpc.ServerBuilder;
import io.grpc.ServerStreamTracer;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.InternalServer;
import io.grpc.internal.ObjectPool;
import io.grpc.internal.ServerImplBuilder;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * Builds gRPC servers that are called over RDMA queue pairs. <pre>
 * Server server = RdmaServerBuilder.forPort(7471).addService(new Greeter()).build().start();
 * </pre>
 *
 * <p>
 * Not thread-safe, as gRPC's other builders.
 */
public final class RdmaServerBuilder extends ForwardingServerBuilder<RdmaServerBuilder> {

	/**
	 * Who the caller is, among the attributes of calls and connections, if the server's
	 * {@linkplain ChannelOptions#security() security} asks for that.
	 */
	@Grpc.TransportAttr
	public static final Attributes.Key<Principal> TRANSPORT_ATTR_PRINCIPAL = Attributes.Key
		.create("dev.rdmarpc.grpc.RdmaServerBuilder.TRANSPORT_ATTR_PRINCIPAL");

	private static final int MAX_CONNECTIONS = 1024;

	private final ServerImplBuilder builder = new ServerImplBuilder(this::server);

	private final InetSocketAddress address;

	private ObjectPool<SharedTransport> transport = SharedTransport.pool();

	private ChannelOptions options = ChannelOptions.DEFAULTS;

	private int loops = 1;

	private int maxConnections = MAX_CONNECTIONS;

	private @Nullable Integer maxConcurrentCalls;

	private PeerLimits peers = PeerLimits.DEFAULTS;

	private int maxMessageBytes = GrpcUtil.DEFAULT_MAX_MESSAGE_SIZE;

	private int maxMetadataBytes = GrpcUtil.DEFAULT_MAX_HEADER_LIST_SIZE;

	private long keepAliveNanos = ServerSettings.NEVER;

	private long keepAliveTimeoutNanos = GrpcUtil.DEFAULT_SERVER_KEEPALIVE_TIMEOUT_NANOS;

	private long maxIdleNanos = ServerSettings.NEVER;

	private long maxAgeNanos = ServerSettings.NEVER;

	private long maxAgeGraceNanos = ServerSettings.NEVER;

	private long farewellNanos = Farewell.PATIENCE_NANOS;

	private RdmaServerBuilder(InetSocketAddress address) {
		this.address = address;
	}

	/**
	 * Listens at all addresses.
	 * @param port 0 lets the system choose
	 */
	public static RdmaServerBuilder forPort(int port) {
		return new RdmaServerBuilder(new InetSocketAddress(port));
	}

	/** Listens at an address; port 0 lets the system choose. */
	public static RdmaServerBuilder forAddress(InetSocketAddress address) {
		return new RdmaServerBuilder(address);
	}

	@Override
	protected ServerBuilder<?> delegate() {
		return this.builder;
	}

	/** Whether Census records calls if it is on the class path, as it does by default. */
	RdmaServerBuilder statsEnabled(boolean enabled) {
		this.builder.setStatsEnabled(enabled);
		return this;
	}

	/** How long a caller may not know that its connection is to end, for tests. */
	RdmaServerBuilder farewell(long time, TimeUnit unit) {
		this.farewellNanos = unit.toNanos(time);
		return this;
	}

	/**
	 * The transport to serve on; borrowed. By default one with memory of its own that all
	 * channels and servers share that are given none.
	 */
	public RdmaServerBuilder transport(RdmaTransport value) {
		this.transport = SharedTransport.of(value);
		return this;
	}

	/**
	 * Frames, credits, eager limit, window of streams, calls, timeouts and security of
	 * each connection. The largest message and the keep-alive are raised to what gRPC's
	 * own settings ask for.
	 */
	public RdmaServerBuilder channelOptions(ChannelOptions value) {
		this.options = value;
		return this;
	}

	/**
	 * How many loops, each with a thread, share the connections.
	 * @param count at least 1
	 */
	public RdmaServerBuilder loops(int count) {
		if (count < 1) {
			throw new IllegalArgumentException(count + " loops (expected: at least 1)");
		}
		this.loops = count;
		return this;
	}

	/**
	 * The most connections, 1024 by default; more are rejected.
	 * @param count at least 1
	 */
	public RdmaServerBuilder maxConnections(int count) {
		if (count < 1) {
			throw new IllegalArgumentException(count + " connections (expected: at least 1)");
		}
		this.maxConnections = count;
		return this;
	}

	/**
	 * The most calls that are open at once, over all connections; more are refused with
	 * {@code RESOURCE_EXHAUSTED}. One connection may have four times what remains for
	 * others. By default 16384, or fewer, but at least 1024, if with all the metadata
	 * that are accepted these might need more than a quarter of the heap. A call that was
	 * cancelled, or whose deadline has passed, counts until its handler has returned.
	 * @param count at least 1
	 */
	public RdmaServerBuilder maxConcurrentCalls(int count) {
		if (count < 1) {
			throw new IllegalArgumentException(count + " concurrent calls (expected: at least 1)");
		}
		this.maxConcurrentCalls = count;
		return this;
	}

	/**
	 * What the callers of one address get of the connections, and what one principal
	 * gets; by default {@link PeerLimits#DEFAULTS}.
	 */
	public RdmaServerBuilder peerLimits(PeerLimits limits) {
		this.peers = limits;
		return this;
	}

	/** Not supported: TLS is part of {@link #channelOptions}. */
	@Override
	public RdmaServerBuilder useTransportSecurity(File chain, File key) {
		throw new UnsupportedOperationException("TLS of gRPC is not used here (expected: TLS of the channel options)");
	}

	@Override
	public RdmaServerBuilder maxInboundMessageSize(int bytes) {
		this.maxMessageBytes = RdmaChannelBuilder.notNegative(bytes, "maximum inbound message size");
		return this;
	}

	@Override
	public RdmaServerBuilder maxInboundMetadataSize(int bytes) {
		this.maxMetadataBytes = RdmaChannelBuilder.notNegative(bytes, "maximum inbound metadata size");
		return this;
	}

	@Override
	public RdmaServerBuilder keepAliveTime(long time, TimeUnit unit) {
		this.keepAliveNanos = ServerSettings.nanos(time, unit, "keep-alive time");
		return this;
	}

	@Override
	public RdmaServerBuilder keepAliveTimeout(long time, TimeUnit unit) {
		this.keepAliveTimeoutNanos = ServerSettings.nanos(time, unit, "keep-alive timeout");
		return this;
	}

	/** Nothing changes: clients may ask at any time whether the server is alive. */
	@Override
	public RdmaServerBuilder permitKeepAliveTime(long time, TimeUnit unit) {
		return this;
	}

	/** Nothing changes: clients may ask at any time whether the server is alive. */
	@Override
	public RdmaServerBuilder permitKeepAliveWithoutCalls(boolean permit) {
		return this;
	}

	@Override
	public RdmaServerBuilder maxConnectionIdle(long time, TimeUnit unit) {
		this.maxIdleNanos = ServerSettings.nanos(time, unit, "maximum idle time of a connection");
		return this;
	}

	@Override
	public RdmaServerBuilder maxConnectionAge(long time, TimeUnit unit) {
		this.maxAgeNanos = ServerSettings.nanos(time, unit, "maximum age of a connection");
		return this;
	}

	@Override
	public RdmaServerBuilder maxConnectionAgeGrace(long time, TimeUnit unit) {
		this.maxAgeGraceNanos = (time == 0) ? 0 : ServerSettings.nanos(time, unit, "grace of a connection");
		return this;
	}

	private InternalServer server(List<? extends ServerStreamTracer.Factory> tracers) {
		ChannelOptions channel = GrpcProtocol.options(this.options, this.maxMessageBytes, this.maxMetadataBytes,
				this.keepAliveNanos, this.keepAliveTimeoutNanos);
		// the one that was added last is the outermost
		this.builder.intercept(HandlerWatch.INSTANCE);
		int calls = (this.maxConcurrentCalls != null) ? this.maxConcurrentCalls
				: OpenCalls.mostIn(Runtime.getRuntime().maxMemory(), this.maxMetadataBytes);
		return new RdmaServer(this.transport,
				new ServerSettings(this.address, channel, this.loops, this.maxConnections, calls, this.peers,
						this.maxMessageBytes, this.maxMetadataBytes, this.maxIdleNanos, this.maxAgeNanos,
						this.maxAgeGraceNanos, this.farewellNanos, tracers));
	}

}
