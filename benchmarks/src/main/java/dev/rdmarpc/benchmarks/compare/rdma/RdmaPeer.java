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

package dev.rdmarpc.benchmarks.compare.rdma;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

import javax.net.ssl.SSLContext;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.benchmarks.compare.LatencyRecorder;
import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.Peer;
import dev.rdmarpc.benchmarks.compare.PeerCalls;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.benchmarks.compare.tls.TlsSetup;
import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.Dispatch;
import dev.rdmarpc.rpc.HandlerOptions;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RailOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.TlsOptions;
import dev.rdmarpc.verbs.VerbsProvider;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;
import dev.rdmarpc.verbs.shm.SharedMemoryOptions;
import dev.rdmarpc.verbs.shm.SharedMemoryProvider;
import dev.rdmarpc.verbs.shm.SharedMemoryTrust;

/**
 * This framework with its default options, except for limits that let the largest
 * workload pass: futures for {@link Mode#ASYNC} and {@link Mode#MULTI}, blocking proxies
 * else.
 */
public final class RdmaPeer implements Peer {

	private static final MemoryOptions MEMORY = MemoryOptions.DEFAULTS.withMaxBytes(768L << 20);

	/**
	 * One for all, as in Spring: each has classes of its own for the types it has met.
	 */
	private static final MessageCodec CODEC = new FlatBuffersCodec();

	/** The first handshake of TLS takes seconds where all peers start at once. */
	private static final Duration SETUP_TIME = Duration.ofMinutes(1);

	private static final int LARGEST_MESSAGE_BYTES = Workload.LARGEST_PAYLOAD_BYTES + 4096;

	private final Variant variant;

	/**
	 * Creates the peer.
	 * @param variant what payloads are and what is declared of handlers
	 */
	public RdmaPeer(Variant variant) {
		this.variant = variant;
	}

	@Override
	public String name() {
		return this.variant.peer;
	}

	@Override
	public boolean supports(Mode mode) {
		return !mode.isStreaming() || !this.variant.isRegistered();
	}

	@Override
	public PeerServer startServer() throws Exception {
		Resources resources = Resources.open(this.variant);
		RpcServer server = RpcServer.builder()
			.transport(resources.transport())
			.codec(CODEC)
			.options(RpcServerOptions.DEFAULTS.withLoopback(0)
				.withChannel(channel(this.variant.tls ? TlsSetup.serverContext() : null))
				.withHandlers(handlers()))
			.service(Variant.INLINE.peer, InlinePayloads.class, new Handler())
			.service(Variant.DEFAULT.peer, Payloads.class, new Handler())
			.service(Variant.REGISTERED.peer, RegisteredPayloads.class, new RegisteredHandler())
			.service(Holding.SERVICE, Holding.class, new Holding.Handler())
			.service(StreamedPayloads.SERVICE, StreamedPayloads.class, (payloads) -> payloads)
			.service(StreamedPayloads.INLINE_SERVICE, StreamedPayloads.Inline.class, (payloads) -> payloads)
			.build()
			.start();
		return new RunningServer(server, resources);
	}

	@Override
	public PeerClient connect(InetSocketAddress server, Workload workload) throws Exception {
		ChannelOptions channel = channel(this.variant.tls ? TlsSetup.clientContext() : null);
		Resources resources = Resources.open(this.variant);
		if (this.variant.isRegistered()) {
			RegisteredBuffer payload = resources.memory().allocate(workload.payloadBytes());
			payload.buffer().put(workload.payload());
			return new OwningClient(
					PeerCalls.client(workload,
							() -> new RegisteredCalls(open(server, resources, channel), workload, payload)),
					payload::release, resources);
		}
		byte[] payload = workload.payload();
		return new OwningClient(
				PeerCalls.client(workload, () -> new ArrayCalls(open(server, resources, channel), workload, payload)),
				() -> {
				}, resources);
	}

	private HandlerOptions handlers() {
		return (this.variant == Variant.EXECUTOR) ? HandlerOptions.DEFAULTS.withDispatch(Dispatch.EXECUTOR)
				: HandlerOptions.DEFAULTS;
	}

	private ChannelOptions channel(@Nullable SSLContext context) {
		ChannelOptions options = ChannelOptions.DEFAULTS
			.withLimits(LARGEST_MESSAGE_BYTES, ChannelOptions.DEFAULTS.maxCalls())
			.withEagerLimit(this.variant.eagerBytes);
		if (context == null) {
			return options;
		}
		return options.withSecurity(ChannelSecurity.NONE.withTls(TlsOptions.of(() -> context)
			.withCipherSuites(List.of(TlsSetup.CIPHER_SUITE))
			.withVerifyHostName(false)));
	}

	private Clients open(InetSocketAddress server, Resources resources, ChannelOptions channel) {
		RpcClient client = RpcClient.builder()
			.transport(resources.transport())
			.codec(CODEC)
			.target(server.getHostString(), server.getPort())
			.options(RpcClientOptions.DEFAULTS.withChannel(channel)
				.withRails(this.variant.rails())
				.withConnectTimeout(SETUP_TIME)
				.withWaitForReady(true))
			.build();
		return new Proxies(client, this.variant.service(), this.variant.streams());
	}

	/** What payloads are and what is declared of handlers. */
	public enum Variant {

		/** Arrays; methods are declared inline. */
		INLINE("rdma", ChannelOptions.DEFAULTS.eagerBytes()),

		/** Arrays; nothing is declared. */
		DEFAULT("rdma-default", ChannelOptions.DEFAULTS.eagerBytes()),

		/** As {@link #DEFAULT}, but handlers always run on the server's executor. */
		EXECUTOR("rdma-executor", ChannelOptions.DEFAULTS.eagerBytes()),

		/** Registered memory; methods are declared inline. */
		REGISTERED("rdma-registered", ChannelOptions.DEFAULTS.eagerBytes()),

		/** As {@link #INLINE}, through shared memory. */
		SHARED_MEMORY("rdma-shm", ChannelOptions.DEFAULTS.eagerBytes(), "shm"),

		/** As {@link #REGISTERED}, through shared memory. */
		SHARED_MEMORY_REGISTERED("rdma-shm-registered", ChannelOptions.DEFAULTS.eagerBytes(), "shm"),

		/**
		 * As {@link #SHARED_MEMORY_REGISTERED}, and processes of the user are trusted.
		 */
		SHARED_MEMORY_TRUSTED("rdma-shm-trusted", ChannelOptions.DEFAULTS.eagerBytes(), "shm"),

		/** As {@link #INLINE}, with shared memory on both sides that nobody uses. */
		RAILS("rdma-rails", ChannelOptions.DEFAULTS.eagerBytes(), "shm," + IwarpProvider.NAME),

		/** As {@link #INLINE}, with TLS. */
		TLS("rdma-tls", ChannelOptions.DEFAULTS.eagerBytes(), IwarpProvider.NAME, true),

		/** As {@link #REGISTERED}, with TLS. */
		TLS_REGISTERED("rdma-tls-registered", ChannelOptions.DEFAULTS.eagerBytes(), IwarpProvider.NAME, true),

		/** As {@link #INLINE}, and all messages are sent in frames. */
		EAGER("rdma-eager", LARGEST_MESSAGE_BYTES),

		/** As {@link #INLINE}, and all messages are Read by the receiver. */
		READ("rdma-read", 0);

		private final String peer;

		private final int eagerBytes;

		private final String provider;

		private final boolean tls;

		Variant(String peer, int eagerBytes) {
			this(peer, eagerBytes, IwarpProvider.NAME);
		}

		Variant(String peer, int eagerBytes, String provider) {
			this(peer, eagerBytes, provider, false);
		}

		Variant(String peer, int eagerBytes, String provider, boolean tls) {
			this.tls = tls;
			this.peer = peer;
			this.eagerBytes = eagerBytes;
			this.provider = provider;
		}

		private boolean isRegistered() {
			return this == REGISTERED || this == SHARED_MEMORY_REGISTERED || this == SHARED_MEMORY_TRUSTED
					|| this == TLS_REGISTERED;
		}

		private RailOptions rails() {
			return (this == RAILS) ? RailOptions.DEFAULTS.withProviders(List.of(IwarpProvider.NAME))
					: RailOptions.DEFAULTS;
		}

		/** The name of the peer. */
		public String peer() {
			return this.peer;
		}

		/** The name under which handlers of streams are exported. */
		private String streams() {
			return (this == DEFAULT || this == EXECUTOR) ? StreamedPayloads.SERVICE : StreamedPayloads.INLINE_SERVICE;
		}

		/** The name under which handlers for such payloads are exported. */
		private String service() {
			return switch (this) {
				case EAGER, READ, SHARED_MEMORY, RAILS, TLS -> INLINE.peer;
				case SHARED_MEMORY_REGISTERED, SHARED_MEMORY_TRUSTED, TLS_REGISTERED -> REGISTERED.peer;
				case EXECUTOR -> DEFAULT.peer;
				default -> this.peer;
			};
		}

	}

	/** Handles the calls. */
	private static final class Handler implements InlinePayloads {

		@Override
		public byte[] echo(byte[] payload) {
			return payload;
		}

		@Override
		public long upload(byte[] payload) {
			return payload.length;
		}

	}

	/** Handles the calls with registered memory. */
	private static final class RegisteredHandler implements RegisteredPayloads {

		@Override
		public RegisteredBuffer echo(RegisteredBuffer payload) {
			return payload;
		}

		@Override
		public long upload(RegisteredBuffer payload) {
			return payload.length();
		}

	}

	/** What clients and servers of a process share. */
	private record Resources(RdmaTransport transport, RegisteredMemory memory) implements Closeable {

		static Resources open(Variant variant) {
			if (variant == Variant.SHARED_MEMORY_TRUSTED) {
				return openTrusted();
			}
			RegisteredMemory memory = RegisteredMemory.create(MEMORY);
			TransportOptions options = TransportOptions.DEFAULTS.withProviders(List.of(variant.provider.split(",")));
			return new Resources(RdmaTransport.open(options, memory), memory);
		}

		private static Resources openTrusted() {
			VerbsProvider provider = new SharedMemoryProvider(
					SharedMemoryOptions.DEFAULTS.withTrust(SharedMemoryTrust.SAME_USER));
			RegisteredMemory memory = RegisteredMemory.create(MEMORY, provider.openMemorySource());
			List<String> names = List.of(SharedMemoryProvider.NAME);
			return new Resources(RdmaTransport.open(TransportOptions.DEFAULTS.withProviders(names),
					ProviderSelection.selectAll(names, List.of(provider)), memory), memory);
		}

		@Override
		public void close() {
			this.transport.close();
			this.memory.close();
		}

	}

	private record RunningServer(RpcServer server, Resources resources) implements PeerServer {

		@Override
		public int port() {
			return this.server.port();
		}

		@Override
		public long copiedBytes() {
			return this.resources.transport().copiedBytes();
		}

		@Override
		public void close() {
			this.server.close();
			this.resources.close();
		}

	}

	private record Proxies(RpcClient client, String service, String streams) implements Clients {

		@Override
		public <T> T of(Class<T> type) {
			if (type == StreamedPayloads.class) {
				return this.client.proxy(this.streams, type);
			}
			return this.client.proxy((type == Holding.Blocking.class) ? Holding.SERVICE : this.service, type);
		}

		@Override
		public void close() {
			this.client.close();
		}

	}

	private record OwningClient(PeerClient client, Closeable payload, Resources resources) implements PeerClient {

		@Override
		public long run(long durationNanos, LatencyRecorder latencies) throws Exception {
			return this.client.run(durationNanos, latencies);
		}

		@Override
		public long copiedBytes() {
			return this.resources.transport().copiedBytes();
		}

		@Override
		public void close() throws IOException {
			try (this.resources; this.payload) {
				this.client.close();
			}
		}

	}

}
