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

package dev.rdmarpc.benchmarks.compare.grpc;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.Peer;
import dev.rdmarpc.benchmarks.compare.PeerCalls;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.benchmarks.compare.tls.TlsSetup;
import dev.rdmarpc.grpc.RdmaChannelBuilder;
import dev.rdmarpc.grpc.RdmaServerBuilder;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;
import dev.rdmarpc.verbs.shm.SharedMemoryProvider;

/**
 * Unary calls through grpc-java as its generated stubs make them: the asynchronous stub
 * for {@link Mode#ASYNC} and {@link Mode#MULTI}, the blocking stub else.
 */
public final class GrpcPeer implements Peer {

	private final Variant variant;

	/**
	 * Creates the peer.
	 * @param variant transport, and threads that run callbacks and handlers
	 */
	public GrpcPeer(Variant variant) {
		this.variant = variant;
	}

	@Override
	public String name() {
		return this.variant.peer;
	}

	@Override
	public boolean supports(Mode mode) {
		return mode != Mode.BESIDE;
	}

	@Override
	public PeerServer startServer() throws Exception {
		InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
		String provider = this.variant.provider;
		ServerBuilder<?> builder = (provider != null)
				? RdmaServerBuilder.forAddress(address).transport(SingleRail.of(provider))
				: NettyServerBuilder.forAddress(address);
		if (builder instanceof NettyServerBuilder netty && this.variant.tls) {
			netty.sslContext(secure(SslContextBuilder.forServer(TlsSetup.newKey())));
		}
		builder.maxInboundMessageSize(Integer.MAX_VALUE).addService(new PayloadsGrpc.Service());
		if (this.variant.direct) {
			builder.directExecutor();
		}
		return new RunningServer(builder.build().start());
	}

	@Override
	public PeerClient connect(InetSocketAddress server, Workload workload) throws Exception {
		byte[] payload = workload.payload();
		SslContext security = this.variant.tls
				? secure(SslContextBuilder.forClient().trustManager(new TlsSetup.AcceptsEverybody())) : null;
		return PeerCalls.client(workload, () -> {
			ManagedChannel channel = open(server, security);
			return new StubCalls(workload, payload, PayloadsGrpc.newBlockingStub(channel),
					PayloadsGrpc.newStub(channel), () -> close(channel));
		});
	}

	private ManagedChannel open(InetSocketAddress server, @Nullable SslContext security) {
		String provider = this.variant.provider;
		ManagedChannelBuilder<?> builder = (provider != null)
				? RdmaChannelBuilder.forAddress(server).transport(SingleRail.of(provider))
				: NettyChannelBuilder.forAddress(server);
		if (builder instanceof NettyChannelBuilder netty && security != null) {
			netty.sslContext(security);
		}
		else {
			builder.usePlaintext();
		}
		builder.maxInboundMessageSize(Integer.MAX_VALUE);
		if (this.variant.direct) {
			builder.directExecutor();
		}
		return builder.build();
	}

	/** BoringSSL, as grpc-netty-shaded brings it along. */
	private static SslContext secure(SslContextBuilder builder) throws IOException {
		return GrpcSslContexts.configure(builder, SslProvider.OPENSSL)
			.protocols(TlsSetup.PROTOCOL)
			.ciphers(List.of(TlsSetup.CIPHER_SUITE))
			.build();
	}

	private static void close(ManagedChannel channel) throws IOException {
		channel.shutdown();
		awaitEnd(channel::awaitTermination);
	}

	private static void awaitEnd(Termination termination) throws IOException {
		try {
			if (!termination.await(10, TimeUnit.SECONDS)) {
				throw new IOException("does not end");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new InterruptedIOException();
		}
	}

	/** Transport, and threads that run callbacks and handlers. */
	public enum Variant {

		/** Netty; both sides run callbacks and handlers on the transport's threads. */
		DIRECT("grpc-direct", true, null),

		/** Netty; grpc-java's default executors. */
		DEFAULT("grpc-default", false, null),

		/** As {@link #DIRECT}, with TLS. */
		TLS("grpc-tls", true, null, true),

		/** This project's transport for gRPC, on the transport's threads. */
		RDMA("rdma-grpc", true, IwarpProvider.NAME),

		/** The same through shared memory. */
		RDMA_SHM("rdma-grpc-shm", true, SharedMemoryProvider.NAME),

		/** This project's transport for gRPC, grpc-java's default executors. */
		RDMA_DEFAULT("rdma-grpc-default", false, IwarpProvider.NAME);

		private final String peer;

		private final boolean direct;

		/** Of this project's transport, {@code null} for Netty. */
		private final @Nullable String provider;

		private final boolean tls;

		Variant(String peer, boolean direct, @Nullable String provider) {
			this(peer, direct, provider, false);
		}

		Variant(String peer, boolean direct, @Nullable String provider, boolean tls) {
			this.tls = tls;
			this.peer = peer;
			this.direct = direct;
			this.provider = provider;
		}

	}

	private record RunningServer(Server server) implements PeerServer {

		@Override
		public int port() {
			return this.server.getPort();
		}

		@Override
		public void close() throws IOException {
			this.server.shutdownNow();
			awaitEnd(this.server::awaitTermination);
		}

	}

	/** Waits for something to end. */
	@FunctionalInterface
	private interface Termination {

		boolean await(long timeout, TimeUnit unit) throws InterruptedException;

	}

}
