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
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientTransportFilter;
import io.grpc.ConnectivityState;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InternalChannelz;
import io.grpc.InternalInstrumented;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/** How connections are found, begin, end, and what they limit. */
class ConnectionTests {

	private static void defaults(RdmaChannelBuilder builder) {
		// nothing is changed
	}

	private static byte[] call(ManagedChannel channel, byte[] message) {
		return ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT, message);
	}

	private static StatusRuntimeException failure(ManagedChannel channel, byte[] message) {
		return Assertions.catchThrowableOfType(StatusRuntimeException.class, () -> call(channel, message));
	}

	private static ServerServiceDefinition echo() {
		return Bytes.unary((request, observer) -> {
			observer.onNext(request);
			observer.onCompleted();
		});
	}

	@Test
	void anRdmaTargetFindsThisTransport() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(echo()));
			ManagedChannelBuilder<?> builder = Grpc.newChannelBuilder("rdma:///localhost:" + server.getPort(),
					InsecureChannelCredentials.create());
			Assertions.assertThat(builder).isInstanceOf(RdmaChannelBuilder.class);
			ManagedChannel channel = ((RdmaChannelBuilder) builder).transport(fixture.transport()).build();
			try {
				Assertions.assertThat(call(channel, new byte[3])).hasSize(3);
				Assertions.assertThat(channel.authority()).isEqualTo("localhost:" + server.getPort());
			}
			finally {
				channel.shutdownNow().awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			}
		}
	}

	@Test
	void aDnsTargetIsReachedIfTheTransportIsNamed() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(echo()));
			ManagedChannel channel = RdmaChannelBuilder.forTarget("dns:///localhost:" + server.getPort())
				.transport(fixture.transport())
				.usePlaintext()
				.build();
			try {
				Assertions.assertThat(call(channel, new byte[3])).hasSize(3);
			}
			finally {
				channel.shutdownNow().awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			}
		}
	}

	@Test
	void otherTargetsAreLeftToOthers() {
		Assertions
			.assertThatThrownBy(
					() -> Grpc.newChannelBuilder("dns:///localhost:80", InsecureChannelCredentials.create()))
			.hasMessageContaining("RdmaChannelProvider: does not support 1 or more of");
		Assertions.assertThatThrownBy(() -> ManagedChannelBuilder.forTarget("dns:///localhost:80"))
			.hasMessageContaining("rdma:///host:port");
		Assertions.assertThatThrownBy(() -> ManagedChannelBuilder.forAddress("localhost", 80))
			.hasMessageContaining("rdma:///host:port");
	}

	@Test
	void encryptionIsRefused() {
		Assertions
			.assertThatThrownBy(() -> Grpc.newChannelBuilder("rdma:///localhost:80", TlsChannelCredentials.create()))
			.hasMessageContaining("TLS of the channel options");
		Assertions.assertThatThrownBy(() -> RdmaChannelBuilder.forAddress("localhost", 80).useTransportSecurity())
			.hasMessageContaining("TLS of the channel options");
	}

	@Test
	void aTargetWithoutPortIsRefused() {
		Assertions.assertThatThrownBy(() -> RdmaChannelBuilder.forTarget("rdma:///localhost").build())
			.hasMessageContaining("expected: rdma:///host:port");
	}

	@Test
	void channelsWithoutTransportShareOne() throws Exception {
		Server server = RdmaServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
			.addService(echo())
			.build()
			.start();
		ManagedChannel channel = RdmaChannelBuilder.forAddress("localhost", server.getPort()).build();
		Assertions.assertThat(call(channel, new byte[100_000])).hasSize(100_000);
		channel.shutdown();
		Assertions.assertThat(channel.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		server.shutdown();
		Assertions.assertThat(server.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void aWrongPortIsUnavailable() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			int port;
			try (ServerSocket socket = new ServerSocket(0)) {
				port = socket.getLocalPort();
			}
			StatusRuntimeException failure = failure(fixture.connect(port, ConnectionTests::defaults), new byte[1]);
			Assertions.assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
			Assertions.assertThat(failure).hasMessageContaining(":" + port);
		}
	}

	@Test
	void aPeerWithoutGrpcIsUnavailable() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture();
				RpcServer server = RpcServer.builder()
					.transport(fixture.transport())
					.options(RpcServerOptions.DEFAULTS.withLoopback(0))
					.service(Runnable.class, () -> {
					})
					.build()
					.start()) {
			StatusRuntimeException failure = failure(fixture.connect(server.port(), ConnectionTests::defaults),
					new byte[1]);
			Assertions.assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
			Assertions.assertThat(failure).hasMessageContaining("flatbuffers").hasMessageContaining("grpc");
		}
	}

	/** As while its rail is down; gRPC's channel is not to be given up for that. */
	@Test
	void whatCannotBeConnectedIsUnavailable() throws Exception {
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS)) {
			RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS.withProvider("iwarp", ""), memory);
			ManagedChannel channel = RdmaChannelBuilder.forAddress("localhost", 7471)
				.transport(transport)
				.usePlaintext()
				.build();
			transport.close();
			for (int i = 0; i < 3; i++) {
				StatusRuntimeException failure = failure(channel, new byte[1]);
				Assertions.assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
				Assertions.assertThat(failure).hasMessageContaining(":7471: ").hasMessageContaining("closed");
				channel.resetConnectBackoff();
			}
			channel.shutdown();
			Assertions.assertThat(channel.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void aServersTransportFilterThatFailsEndsTheConnectionAndNothingElse() throws Exception {
		AtomicInteger left = new AtomicInteger(1);
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture
				.serve((builder) -> builder.addService(echo()).addTransportFilter(new ServerTransportFilter() {

					@Override
					public Attributes transportReady(Attributes attributes) {
						if (left.getAndDecrement() > 0) {
							throw new IllegalStateException("fails on purpose");
						}
						return attributes;
					}

				}));
			ManagedChannel channel = fixture.connect(server, ConnectionTests::defaults);
			GrpcFixture.await(() -> {
				channel.resetConnectBackoff();
				return Assertions.catchThrowable(() -> call(channel, new byte[3])) == null;
			}, "a call on the next connection");
			Assertions.assertThat(left).as("connections, with that of which the filter was told").hasNegativeValue();
		}
	}

	@Test
	void aClientsTransportFilterThatFailsEndsTheConnectionAndNothingElse() throws Exception {
		AtomicInteger left = new AtomicInteger(1);
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(echo()));
			ManagedChannel channel = fixture.connect(server,
					(builder) -> builder.addTransportFilter(new ClientTransportFilter() {

						@Override
						public Attributes transportReady(Attributes attributes) {
							if (left.getAndDecrement() > 0) {
								throw new IllegalStateException("fails on purpose");
							}
							return attributes;
						}

					}));
			StatusRuntimeException failure = failure(channel, new byte[1]);
			Assertions.assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
			Assertions.assertThat(failure).hasMessageContaining("fails on purpose");
			GrpcFixture.await(() -> {
				channel.resetConnectBackoff();
				return Assertions.catchThrowable(() -> call(channel, new byte[3])) == null;
			}, "a call on the next connection");
		}
	}

	@Test
	void aPortInUseIsToldByTheServer() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> {
			});
			Server second = RdmaServerBuilder
				.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort()))
				.transport(fixture.transport())
				.build();
			Assertions.assertThatThrownBy(second::start).hasMessageContaining("cannot listen on");
			second.shutdownNow();
		}
	}

	@Test
	void aLostConnectionIsUnavailableAndReplaced() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			CountDownLatch arrived = new CountDownLatch(1);
			Server first = fixture
				.serve((builder) -> builder.addService(Bytes.unary((request, observer) -> arrived.countDown())));
			int port = first.getPort();
			ManagedChannel channel = fixture.connect(first, ConnectionTests::defaults);
			CompletableFuture<Throwable> ended = new CompletableFuture<>();
			ClientCalls.asyncUnaryCall(channel.newCall(Bytes.UNARY, CallOptions.DEFAULT), new byte[1],
					new Failure(ended));
			Assertions.assertThat(arrived.await(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
			first.shutdownNow();
			Assertions.assertThat(first.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
			Assertions
				.assertThat(Status.fromThrowable(ended.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).getCode())
				.isEqualTo(Status.Code.UNAVAILABLE);
			Server second = RdmaServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
				.transport(fixture.transport())
				.addService(echo())
				.build()
				.start();
			Assertions
				.assertThat(ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT.withWaitForReady(),
						new byte[7]))
				.hasSize(7);
			second.shutdownNow().awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
		}
	}

	@Test
	void aGracefulShutdownFinishesItsCalls() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			AtomicReference<StreamObserver<byte[]>> held = new AtomicReference<>();
			Server server = fixture
				.serve((builder) -> builder.addService(Bytes.unary((request, observer) -> held.set(observer))));
			ManagedChannel channel = fixture.connect(server, ConnectionTests::defaults);
			CompletableFuture<byte[]> reply = new CompletableFuture<>();
			ClientCalls.asyncUnaryCall(channel.newCall(Bytes.UNARY, CallOptions.DEFAULT), new byte[1],
					new StreamObserver<>() {
						@Override
						public void onNext(byte[] value) {
							reply.complete(value);
						}

						@Override
						public void onError(Throwable failure) {
							reply.completeExceptionally(failure);
						}

						@Override
						public void onCompleted() {
							// the reply was there
						}
					});
			GrpcFixture.await(() -> held.get() != null, "the call is served");
			server.shutdown();
			channel.shutdown();
			Assertions.assertThat(server.isTerminated()).isFalse();
			held.get().onNext(new byte[5]);
			held.get().onCompleted();
			Assertions.assertThat(reply.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).hasSize(5);
			Assertions.assertThat(server.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
			Assertions.assertThat(channel.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void callsSurviveTheAgeOfTheirConnections() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Filter filter = new Filter();
			Server server = fixture.serve((builder) -> builder.addService(echo())
				.addTransportFilter(filter)
				.maxConnectionAge(50, TimeUnit.MILLISECONDS)
				.maxConnectionAgeGrace(5, TimeUnit.SECONDS));
			ManagedChannel channel = fixture.connect(server, ConnectionTests::defaults);
			while (filter.ended.get() < 3) {
				Assertions.assertThat(call(channel, new byte[10])).hasSize(10);
			}
			Assertions.assertThat(filter.begun.get()).isGreaterThanOrEqualTo(3);
		}
	}

	@Test
	void anIdleConnectionIsClosed() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Filter filter = new Filter();
			Server server = fixture.serve((builder) -> builder.addService(echo())
				.addTransportFilter(filter)
				.maxConnectionIdle(50, TimeUnit.MILLISECONDS));
			ManagedChannel channel = fixture.connect(server, ConnectionTests::defaults);
			call(channel, new byte[1]);
			GrpcFixture.await(() -> filter.ended.get() == 1, "the connection is closed");
			Assertions.assertThat(call(channel, new byte[1])).hasSize(1);
		}
	}

	@Test
	void anIdleChannelDisconnects() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(echo()));
			ManagedChannel channel = fixture.connect(server,
					(builder) -> builder.idleTimeout(1, TimeUnit.SECONDS).keepAliveTime(10, TimeUnit.SECONDS));
			call(channel, new byte[1]);
			GrpcFixture.await(() -> channel.getState(false) == ConnectivityState.IDLE, "the channel is idle");
			Assertions.assertThat(call(channel, new byte[1])).hasSize(1);
		}
	}

	@Test
	void aFilterGivesTheConnectionAttributes() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Attributes.Key<String> key = Attributes.Key.create("test");
			CompletableFuture<String> seen = new CompletableFuture<>();
			Server server = fixture
				.serve((builder) -> builder.addService(echo()).addTransportFilter(new ServerTransportFilter() {
					@Override
					public Attributes transportReady(Attributes attributes) {
						return attributes.toBuilder().set(key, "filtered").build();
					}
				}).intercept(new ServerInterceptor() {
					@Override
					public <Q, P> ServerCall.Listener<Q> interceptCall(ServerCall<Q, P> call, Metadata headers,
							ServerCallHandler<Q, P> next) {
						seen.complete(call.getAttributes().get(key));
						return next.startCall(call, headers);
					}
				}));
			call(fixture.connect(server, ConnectionTests::defaults), new byte[1]);
			Assertions.assertThat(seen.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isEqualTo("filtered");
		}
	}

	@Test
	void channelzCountsCallsAndMessages() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(echo()));
			ManagedChannel channel = fixture.connect(server, ConnectionTests::defaults);
			for (int i = 0; i < 5; i++) {
				call(channel, new byte[i]);
			}
			InternalInstrumented<InternalChannelz.SocketStats> socket = InternalChannelz.instance()
				.getServers(0, 1000).servers.stream()
				.filter((candidate) -> server.toString().contains(Long.toString(candidate.getLogId().getId())))
				.map((candidate) -> InternalChannelz.instance().getServerSockets(candidate.getLogId().getId(), 0, 10))
				.flatMap((list) -> list.sockets.stream())
				.map((found) -> InternalChannelz.instance().getSocket(found.getLogId().getId()))
				.findFirst()
				.orElseThrow();
			InternalChannelz.SocketStats stats = socket.getStats().get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			Assertions.assertThat(stats.data.streamsStarted).isEqualTo(5);
			Assertions.assertThat(stats.data.messagesReceived).isEqualTo(5);
			Assertions.assertThat(stats.data.messagesSent).isEqualTo(5);
			Assertions.assertThat(((InetSocketAddress) stats.local).getPort()).isEqualTo(server.getPort());
		}
	}

	@Test
	void aRequestAboveTheLimitIsExhausted() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(echo()).maxInboundMessageSize(1000));
			ManagedChannel channel = fixture.connect(server, ConnectionTests::defaults);
			Assertions.assertThat(failure(channel, new byte[1001]))
				.hasMessage("RESOURCE_EXHAUSTED: gRPC message exceeds maximum size 1000: 1001");
			Assertions.assertThat(call(channel, new byte[1000])).hasSize(1000);
		}
	}

	@Test
	void aReplyAboveTheLimitIsExhausted() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(echo()));
			ManagedChannel channel = fixture.connect(server, (builder) -> builder.maxInboundMessageSize(1000));
			Assertions.assertThat(failure(channel, new byte[1001]))
				.hasMessage("RESOURCE_EXHAUSTED: gRPC message exceeds maximum size 1000: 1001");
			Assertions.assertThat(call(channel, new byte[1000])).hasSize(1000);
		}
	}

	@Test
	void metadataAboveTheLimitIsExhausted() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Metadata.Key<String> key = Metadata.Key.of("text", Metadata.ASCII_STRING_MARSHALLER);
			Server server = fixture.serve((builder) -> builder.addService(echo()).maxInboundMetadataSize(20_000));
			Metadata much = new Metadata();
			much.put(key, "x".repeat(19_000));
			Metadata tooMuch = new Metadata();
			tooMuch.put(key, "x".repeat(20_000));
			ManagedChannel accepted = fixture.connect(server,
					(builder) -> builder.intercept(MetadataUtils.newAttachHeadersInterceptor(much)));
			Assertions.assertThat(call(accepted, new byte[1])).hasSize(1);
			ManagedChannel refused = fixture.connect(server,
					(builder) -> builder.intercept(MetadataUtils.newAttachHeadersInterceptor(tooMuch)));
			Assertions.assertThat(failure(refused, new byte[1]))
				.hasMessageStartingWith("RESOURCE_EXHAUSTED: Request metadata larger than 20000: 20");
		}
	}

	@Test
	void replyMetadataAboveTheLimitIsExhausted() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Metadata trailers = new Metadata();
			trailers.put(Metadata.Key.of("data-bin", Metadata.BINARY_BYTE_MARSHALLER), new byte[9000]);
			Server server = fixture.serve((builder) -> builder.addService(
					Bytes.unary((request, observer) -> observer.onError(Status.ABORTED.asRuntimeException(trailers)))));
			Assertions.assertThat(failure(fixture.connect(server, ConnectionTests::defaults), new byte[1]))
				.hasMessageStartingWith("RESOURCE_EXHAUSTED: Response trailer metadata larger than 8192: 90");
		}
	}

	@Test
	void manyConnectionsShareTheirCalls() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server first = fixture.serve((builder) -> builder.addService(echo()).loops(2));
			for (int i = 0; i < 10; i++) {
				ManagedChannel channel = fixture.connect(first, (builder) -> builder.loops(2));
				Assertions.assertThat(call(channel, new byte[i])).hasSize(i);
			}
		}
	}

	/** What the server may have begun is not repeated behind the caller's back. */
	@Test
	void aCallOfALostConnectionIsNotDeliveredTwice() throws Exception {
		int calls = 500;
		try (GrpcFixture fixture = new GrpcFixture()) {
			AtomicInteger delivered = new AtomicInteger();
			Server server = fixture.serve((builder) -> builder.addService(Bytes.unary((request, observer) -> {
				delivered.incrementAndGet();
				fixture.transport()
					.loops()
					.stream()
					.filter((loop) -> loop.name().startsWith("rdma-grpc-server"))
					.flatMap((loop) -> loop.channels().stream())
					.forEach((channel) -> channel.close("cut"));
			})));
			for (int i = 0; i < calls; i++) {
				ManagedChannel channel = fixture.connect(server, ConnectionTests::defaults);
				Assertions.assertThat(failure(channel, new byte[3]).getStatus().getCode())
					.isEqualTo(Status.Code.UNAVAILABLE);
				Assertions.assertThat(delivered).as("deliveries of %d calls", i + 1).hasValue(i + 1);
				channel.shutdownNow();
			}
		}
	}

	private record Failure(CompletableFuture<Throwable> ended) implements StreamObserver<byte[]> {

		@Override
		public void onNext(byte[] value) {
			// there is none
		}

		@Override
		public void onError(Throwable failure) {
			this.ended.complete(failure);
		}

		@Override
		public void onCompleted() {
			this.ended.complete(new IllegalStateException("completed"));
		}

	}

	/** Counts connections. */
	private static final class Filter extends ServerTransportFilter {

		private final AtomicInteger begun = new AtomicInteger();

		private final AtomicInteger ended = new AtomicInteger();

		@Override
		public Attributes transportReady(Attributes attributes) {
			this.begun.incrementAndGet();
			return attributes;
		}

		@Override
		public void transportTerminated(Attributes attributes) {
			this.ended.incrementAndGet();
		}

	}

}
