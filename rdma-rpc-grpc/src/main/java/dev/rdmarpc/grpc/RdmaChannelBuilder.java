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
import java.util.concurrent.TimeUnit;

import io.grpc.CallCredentials;
import io.grpc.ChannelCredentials;
import io.grpc.ForwardingChannelBuilder2;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.ManagedChannelImplBuilder;
import io.grpc.internal.ObjectPool;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RailOptions;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * Builds gRPC channels whose calls travel over RDMA queue pairs. <pre>
 * ManagedChannel channel = RdmaChannelBuilder.forAddress("server.example", 7471).build();
 * </pre>
 *
 * <p>
 * Not thread-safe, as gRPC's other builders.
 */
public final class RdmaChannelBuilder extends ForwardingChannelBuilder2<RdmaChannelBuilder> {

	private final ManagedChannelImplBuilder builder;

	private ObjectPool<SharedTransport> transport = SharedTransport.pool();

	private ChannelOptions options = ChannelOptions.DEFAULTS;

	private RailOptions rails = RailOptions.DEFAULTS;

	private int loops = 1;

	private int maxMessageBytes = GrpcUtil.DEFAULT_MAX_MESSAGE_SIZE;

	private int maxMetadataBytes = GrpcUtil.DEFAULT_MAX_HEADER_LIST_SIZE;

	private long keepAliveNanos = ServerSettings.NEVER;

	private long keepAliveTimeoutNanos = GrpcUtil.DEFAULT_KEEPALIVE_TIMEOUT_NANOS;

	private RdmaChannelBuilder(String target, ChannelCredentials credentials,
			@Nullable CallCredentials callCredentials) {
		this.builder = new ManagedChannelImplBuilder(target, credentials, callCredentials, this::factory,
				new ManagedChannelImplBuilder.FixedPortProvider(GrpcUtil.DEFAULT_PORT_PLAINTEXT));
	}

	private RdmaChannelBuilder(InetSocketAddress address) {
		this.builder = new ManagedChannelImplBuilder(new RdmaSocketAddress(address),
				GrpcUtil.authorityFromHostAndPort(address.getHostString(), address.getPort()),
				InsecureChannelCredentials.create(), null, this::factory, null);
	}

	/**
	 * For a target of any scheme whose addresses are IP addresses, such as
	 * {@code rdma:///host:port} or {@code dns:///host:port}.
	 */
	public static RdmaChannelBuilder forTarget(String target) {
		return new RdmaChannelBuilder(target, InsecureChannelCredentials.create(), null);
	}

	/** For a host and its port. */
	public static RdmaChannelBuilder forAddress(String host, int port) {
		return forTarget(RdmaNameResolverProvider.SCHEME + ":///" + GrpcUtil.authorityFromHostAndPort(host, port));
	}

	/** For a resolved address. */
	public static RdmaChannelBuilder forAddress(InetSocketAddress address) {
		return new RdmaChannelBuilder(address);
	}

	static RdmaChannelBuilder forTarget(String target, ChannelCredentials credentials,
			@Nullable CallCredentials callCredentials) {
		return new RdmaChannelBuilder(target, credentials, callCredentials);
	}

	@Override
	protected ManagedChannelBuilder<?> delegate() {
		return this.builder;
	}

	/** Whether Census records calls if it is on the class path, as it does by default. */
	RdmaChannelBuilder statsEnabled(boolean enabled) {
		this.builder.setStatsEnabled(enabled);
		return this;
	}

	/**
	 * The transport to connect with; borrowed. By default one with memory of its own that
	 * all channels and servers share that are given none.
	 */
	public RdmaChannelBuilder transport(RdmaTransport value) {
		this.transport = SharedTransport.of(value);
		return this;
	}

	/**
	 * Frames, credits, eager limit, window of streams, timeouts and security of each
	 * connection. The largest message and the keep-alive are raised to what gRPC's own
	 * settings ask for.
	 */
	public RdmaChannelBuilder channelOptions(ChannelOptions value) {
		this.options = value;
		return this;
	}

	/**
	 * Which of the transport's providers connections may use, in order of preference, how
	 * long each is tried while there is another one, and how often a better one than that
	 * in use. All of them, 1 s and 10 s by default.
	 */
	public RdmaChannelBuilder railOptions(RailOptions value) {
		this.rails = value;
		return this;
	}

	/**
	 * Over how many loops, each with a thread, connections are spread.
	 * @param count at least 1
	 */
	public RdmaChannelBuilder loops(int count) {
		if (count < 1) {
			throw new IllegalArgumentException(count + " loops (expected: at least 1)");
		}
		this.loops = count;
		return this;
	}

	/** Nothing changes: TLS is part of {@link #channelOptions}. */
	@Override
	public RdmaChannelBuilder usePlaintext() {
		return this;
	}

	/** Not supported: TLS is part of {@link #channelOptions}. */
	@Override
	public RdmaChannelBuilder useTransportSecurity() {
		throw new UnsupportedOperationException("TLS of gRPC is not used here (expected: TLS of the channel options)");
	}

	@Override
	public RdmaChannelBuilder maxInboundMessageSize(int bytes) {
		this.maxMessageBytes = notNegative(bytes, "maximum inbound message size");
		return this;
	}

	@Override
	public RdmaChannelBuilder maxInboundMetadataSize(int bytes) {
		this.maxMetadataBytes = notNegative(bytes, "maximum inbound metadata size");
		return this;
	}

	static int notNegative(int bytes, String what) {
		if (bytes < 0) {
			throw new IllegalArgumentException(what + " " + bytes + " (expected: at least 0)");
		}
		return bytes;
	}

	@Override
	public RdmaChannelBuilder keepAliveTime(long time, TimeUnit unit) {
		this.keepAliveNanos = ServerSettings.nanos(time, unit, "keep-alive time");
		return this;
	}

	@Override
	public RdmaChannelBuilder keepAliveTimeout(long time, TimeUnit unit) {
		this.keepAliveTimeoutNanos = ServerSettings.nanos(time, unit, "keep-alive timeout");
		return this;
	}

	/** Nothing changes: connections are kept alive with and without calls. */
	@Override
	public RdmaChannelBuilder keepAliveWithoutCalls(boolean enable) {
		return this;
	}

	private RdmaTransportFactory factory() {
		ChannelOptions channel = GrpcProtocol.options(this.options, this.maxMessageBytes, this.maxMetadataBytes,
				this.keepAliveNanos, this.keepAliveTimeoutNanos);
		return new RdmaTransportFactory(this.transport,
				new ClientSettings(channel, this.rails, this.loops, this.maxMessageBytes, this.maxMetadataBytes));
	}

}
