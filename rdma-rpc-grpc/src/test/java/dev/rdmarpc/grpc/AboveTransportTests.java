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
import java.net.SocketAddress;
import java.net.URI;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.EquivalentAddressGroup;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.SecurityLevel;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusOr;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.iwarp.TcpProxy;

/** What grpc-java offers above its transports works over this one. */
class AboveTransportTests {

	private static final Metadata.Key<String> TOKEN = Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);

	private static Map<String, ?> serviceConfig(String policy, Map<String, ?> settings) {
		return Map.of("methodConfig", List.of(Map.of("name", List.of(Map.of()), policy, settings)));
	}

	private static byte[] call(ManagedChannel channel, byte[] message) {
		return ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT, message);
	}

	private static Status statusOf(ManagedChannel channel, CallOptions options) {
		return Assertions
			.catchThrowableOfType(StatusRuntimeException.class,
					() -> ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, options, new byte[1]))
			.getStatus();
	}

	/** Fails the first calls. */
	private static ServerServiceDefinition failing(AtomicInteger calls, int failures) {
		return Bytes.unary((request, observer) -> {
			if (calls.incrementAndGet() <= failures) {
				observer.onError(Status.UNAVAILABLE.withDescription("not now").asRuntimeException());
				return;
			}
			observer.onNext(request);
			observer.onCompleted();
		});
	}

	@Test
	void callsAreRetried() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			AtomicInteger calls = new AtomicInteger();
			Server server = fixture.serve((builder) -> builder.addService(failing(calls, 6)));
			ManagedChannel channel = fixture.connect(server,
					(builder) -> builder.enableRetry()
						.defaultServiceConfig(serviceConfig("retryPolicy",
								Map.of("maxAttempts", 4.0, "initialBackoff", "0.01s", "maxBackoff", "0.02s",
										"backoffMultiplier", 1.0, "retryableStatusCodes", List.of("UNAVAILABLE")))));
			Assertions.assertThat(statusOf(channel, CallOptions.DEFAULT).getDescription()).isEqualTo("not now");
			Assertions.assertThat(calls.get()).isEqualTo(4);
			Assertions.assertThat(call(channel, new byte[100_000])).hasSize(100_000);
			Assertions.assertThat(calls.get()).isEqualTo(7);
		}
	}

	@Test
	void callsAreHedged() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			AtomicInteger calls = new AtomicInteger();
			AtomicInteger cancelled = new AtomicInteger();
			Server server = fixture.serve((builder) -> builder.addService(Bytes.unary((request, observer) -> {
				if (calls.incrementAndGet() < 3) {
					((ServerCallStreamObserver<byte[]>) observer).setOnCancelHandler(cancelled::incrementAndGet);
					return;
				}
				observer.onNext(request);
				observer.onCompleted();
			})));
			ManagedChannel channel = fixture.connect(server,
					(builder) -> builder.enableRetry()
						.defaultServiceConfig(serviceConfig("hedgingPolicy", Map.of("maxAttempts", 3.0, "hedgingDelay",
								"0.02s", "nonFatalStatusCodes", List.of("UNAVAILABLE")))));
			Assertions.assertThat(call(channel, new byte[100_000])).hasSize(100_000);
			Assertions.assertThat(calls.get()).isEqualTo(3);
			GrpcFixture.await(() -> cancelled.get() == 2, "the other two are cancelled");
		}
	}

	@Test
	void healthIsAnsweredAndWatched() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			HealthStatusManager health = new HealthStatusManager();
			Server server = fixture.serve((builder) -> builder.addService(health.getHealthService()));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			HealthCheckRequest request = HealthCheckRequest.getDefaultInstance();
			Assertions.assertThat(HealthGrpc.newBlockingStub(channel).check(request).getStatus())
				.isEqualTo(ServingStatus.SERVING);
			AtomicReference<ServingStatus> watched = new AtomicReference<>();
			HealthGrpc.newStub(channel)
				.watch(request,
						new Watching<>((response) -> watched.set(((HealthCheckResponse) response).getStatus())));
			GrpcFixture.await(() -> watched.get() == ServingStatus.SERVING, "it serves");
			health.setStatus("", ServingStatus.NOT_SERVING);
			GrpcFixture.await(() -> watched.get() == ServingStatus.NOT_SERVING, "it does not");
		}
	}

	@Test
	void servicesAreReflected() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(ProtoReflectionServiceV1.newInstance())
				.addService(new HealthStatusManager().getHealthService()));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			CompletableFuture<ServerReflectionResponse> answer = new CompletableFuture<>();
			StreamObserver<ServerReflectionRequest> requests = ServerReflectionGrpc.newStub(channel)
				.serverReflectionInfo(
						new Watching<>((response) -> answer.complete((ServerReflectionResponse) response)));
			requests
				.onNext(ServerReflectionRequest.newBuilder().setFileContainingSymbol("grpc.health.v1.Health").build());
			Assertions
				.assertThat(answer.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)
					.getFileDescriptorResponse()
					.getFileDescriptorProtoCount())
				.isEqualTo(1);
			requests.onCompleted();
		}
	}

	@Test
	void callsCarryCredentials() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve(
					(builder) -> builder.intercept(new TokenInterceptor()).addService(failing(new AtomicInteger(), 0)));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			Assertions.assertThat(statusOf(channel, CallOptions.DEFAULT).getCode())
				.isEqualTo(Status.Code.UNAUTHENTICATED);
			Credentials good = new Credentials("secret", null);
			Assertions
				.assertThat(ClientCalls.blockingUnaryCall(channel, Bytes.UNARY,
						CallOptions.DEFAULT.withCallCredentials(good), new byte[100_000]))
				.hasSize(100_000);
			Assertions.assertThat(good.seen.get()).isEqualTo(SecurityLevel.NONE);
			Status refused = statusOf(channel, CallOptions.DEFAULT.withCallCredentials(
					new Credentials("", Status.UNAUTHENTICATED.withDescription("no token to be had"))));
			Assertions.assertThat(refused.getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
			Assertions.assertThat(refused.getDescription()).isEqualTo("no token to be had");
		}
	}

	@Test
	void callsAreSpreadOverTwoServersAndLeaveOneThatStops() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			AtomicInteger one = new AtomicInteger();
			AtomicInteger two = new AtomicInteger();
			Server first = fixture.serve((builder) -> builder.addService(failing(one, 0)));
			Server second = fixture.serve((builder) -> builder.addService(failing(two, 0)));
			NameResolverProvider names = new TwoServers(first.getPort(), second.getPort());
			NameResolverRegistry.getDefaultRegistry().register(names);
			ManagedChannel channel = RdmaChannelBuilder.forTarget("two:///servers")
				.transport(fixture.transport())
				.defaultLoadBalancingPolicy("round_robin")
				.build();
			try {
				while (one.get() == 0 || two.get() == 0) {
					Assertions.assertThat(call(channel, new byte[10])).hasSize(10);
				}
				int before = one.get() + two.get();
				for (int i = 0; i < 100; i++) {
					call(channel, new byte[10]);
				}
				Assertions.assertThat(one.get() + two.get()).isEqualTo(before + 100);
				Assertions.assertThat(List.of(one.get(), two.get()))
					.allSatisfy((calls) -> Assertions.assertThat(calls).isGreaterThanOrEqualTo(50));
				first.shutdown().awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
				int served = two.get();
				for (int i = 0; i < 10; i++) {
					ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT.withWaitForReady(),
							new byte[10]);
				}
				Assertions.assertThat(two.get()).isEqualTo(served + 10);
			}
			finally {
				NameResolverRegistry.getDefaultRegistry().deregister(names);
				channel.shutdownNow().awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			}
		}
	}

	/**
	 * A peer that says nothing any more is found dead, and another connection is made.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aDeadPeerIsUnavailable(boolean killed) throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			AtomicInteger calls = new AtomicInteger();
			Server server = fixture.serve((builder) -> builder.addService(Bytes.unary((request, observer) -> {
				if (calls.incrementAndGet() > 1) {
					observer.onNext(request);
					observer.onCompleted();
				}
			})));
			try (TcpProxy proxy = new TcpProxy((InetSocketAddress) server.getListenSockets().get(0))) {
				ManagedChannel channel = fixture.connect(proxy.address().getPort(), (builder) -> {
					if (!killed) {
						builder.keepAliveTime(200, TimeUnit.MILLISECONDS).keepAliveTimeout(300, TimeUnit.MILLISECONDS);
					}
				});
				ListenableFuture<byte[]> reply = ClientCalls
					.futureUnaryCall(channel.newCall(Bytes.UNARY, CallOptions.DEFAULT), new byte[1]);
				GrpcFixture.await(() -> calls.get() == 1, "the call is served");
				if (killed) {
					proxy.cut(true);
				}
				else {
					proxy.mute();
				}
				Assertions.assertThatThrownBy(() -> reply.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS))
					.rootCause()
					.satisfies((ex) -> Assertions.assertThat(Status.fromThrowable(ex).getCode())
						.isEqualTo(Status.Code.UNAVAILABLE))
					.hasMessageContaining("no connection to ");
				Assertions
					.assertThat(ClientCalls.blockingUnaryCall(channel, Bytes.UNARY,
							CallOptions.DEFAULT.withWaitForReady(), new byte[7]))
					.hasSize(7);
			}
		}
	}

	/** Admits calls with the right token. */
	private static final class TokenInterceptor implements ServerInterceptor {

		@Override
		public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(ServerCall<ReqT, RespT> call, Metadata headers,
				ServerCallHandler<ReqT, RespT> next) {
			if ("secret".equals(headers.get(TOKEN))) {
				return next.startCall(call, headers);
			}
			call.close(Status.UNAUTHENTICATED.withDescription("token?"), new Metadata());
			return new ServerCall.Listener<>() {
			};
		}

	}

	/** Gives a token, or fails, from another thread. */
	private static final class Credentials extends CallCredentials {

		private final AtomicReference<SecurityLevel> seen = new AtomicReference<>();

		private final String token;

		private final @Nullable Status failure;

		Credentials(String token, @Nullable Status failure) {
			this.token = token;
			this.failure = failure;
		}

		@Override
		public void applyRequestMetadata(RequestInfo info, Executor executor, MetadataApplier applier) {
			this.seen.set(info.getSecurityLevel());
			Status failed = this.failure;
			executor.execute(() -> {
				if (failed != null) {
					applier.fail(failed);
					return;
				}
				Metadata headers = new Metadata();
				headers.put(TOKEN, this.token);
				applier.apply(headers);
			});
		}

	}

	/** Hands on what comes. */
	private record Watching<T>(Consumer<Object> watcher) implements StreamObserver<T> {

		@Override
		public void onNext(T value) {
			this.watcher.accept(value);
		}

		@Override
		public void onError(Throwable failure) {
			// at the end of the test
		}

		@Override
		public void onCompleted() {
			// at the end of the test
		}

	}

	/** Resolves {@code two:} to two servers on this host. */
	private static final class TwoServers extends NameResolverProvider {

		private final List<EquivalentAddressGroup> groups;

		TwoServers(int... ports) {
			this.groups = Arrays.stream(ports)
				.mapToObj((port) -> new EquivalentAddressGroup(
						new RdmaSocketAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))))
				.toList();
		}

		@Override
		protected boolean isAvailable() {
			return true;
		}

		@Override
		protected int priority() {
			return 5;
		}

		@Override
		public String getDefaultScheme() {
			return "two";
		}

		@Override
		public Collection<Class<? extends SocketAddress>> getProducedSocketAddressTypes() {
			return List.of(RdmaSocketAddress.class);
		}

		@Override
		public @Nullable NameResolver newNameResolver(URI target, NameResolver.Args args) {
			if (!"two".equals(target.getScheme())) {
				return null;
			}
			return new NameResolver() {

				@Override
				public String getServiceAuthority() {
					return "servers";
				}

				@Override
				public void start(Listener2 listener) {
					args.getSynchronizationContext()
						.execute(() -> listener.onResult2(ResolutionResult.newBuilder()
							.setAddressesOrError(StatusOr.fromValue(TwoServers.this.groups))
							.build()));
				}

				@Override
				public void shutdown() {
					// nothing is held
				}

			};
		}

	}

}
