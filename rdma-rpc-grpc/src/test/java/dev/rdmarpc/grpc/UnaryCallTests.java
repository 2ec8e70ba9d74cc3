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
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls with one message each way. */
class UnaryCallTests {

	private static final Metadata.Key<String> TEXT = Metadata.Key.of("text", Metadata.ASCII_STRING_MARSHALLER);

	private static final Metadata.Key<byte[]> BINARY = Metadata.Key.of("data-bin", Metadata.BINARY_BYTE_MARSHALLER);

	private static byte[] call(ManagedChannel channel, byte[] message) {
		return ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT, message);
	}

	private static byte[] random(int length) {
		byte[] bytes = new byte[length];
		new Random(length).nextBytes(bytes);
		return bytes;
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 5, 100, 8_000, 9_000, 41_000, 300_000, 3_000_000 })
	void aMessageIsEchoed(int length) throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(Bytes.unary((request, observer) -> {
				observer.onNext(request);
				observer.onCompleted();
			})));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			byte[] message = random(length);
			for (int i = 0; i < 20; i++) {
				Assertions.assertThat(Arrays.equals(call(channel, message), message)).isTrue();
			}
		}
	}

	@Test
	void aMessageIsEchoedByDirectExecutors() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture
				.serve((builder) -> builder.directExecutor().addService(Bytes.unary((request, observer) -> {
					observer.onNext(request);
					observer.onCompleted();
				})));
			ManagedChannel channel = fixture.connect(server, RdmaChannelBuilder::directExecutor);
			for (int i = 0; i < 1000; i++) {
				Assertions.assertThat(call(channel, random(i))).isEqualTo(random(i));
			}
		}
	}

	/** Who is told nothing any more does not keep the connection. */
	@Test
	void aCallWhoseExecutorTakesNothingMoreDoesNotKeepTheChannel() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(echo()));
			ManagedChannel channel = fixture.connect(server, RdmaChannelBuilder::disableRetry);
			Assertions.assertThat(call(channel, random(5))).hasSize(5);
			ExecutorService executor = Executors.newSingleThreadExecutor();
			ClientCall<byte[], byte[]> call = channel.newCall(Bytes.UNARY, CallOptions.DEFAULT.withExecutor(executor));
			call.start(new ClientCall.Listener<>() {
			}, new Metadata());
			executor.shutdownNow();
			call.cancel("no more", null);
			channel.shutdown();
			Assertions.assertThat(channel.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void metadataTravelsBothWays() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			AtomicReference<Metadata> received = new AtomicReference<>();
			Server server = fixture.serve((builder) -> builder.intercept(new Answering(received)).addService(echo()));
			Metadata headers = new Metadata();
			headers.put(TEXT, "one");
			headers.put(TEXT, "two");
			headers.put(BINARY, new byte[] { 0, -1, 10, 13 });
			AtomicReference<Metadata> replyHeaders = new AtomicReference<>();
			AtomicReference<Metadata> replyTrailers = new AtomicReference<>();
			ManagedChannel channel = fixture.connect(server,
					(builder) -> builder.intercept(MetadataUtils.newAttachHeadersInterceptor(headers),
							MetadataUtils.newCaptureMetadataInterceptor(replyHeaders, replyTrailers)));
			call(channel, new byte[3]);
			Assertions.assertThat(received.get().getAll(TEXT)).containsExactly("one", "two");
			Assertions.assertThat(received.get().get(BINARY)).containsExactly(0, -1, 10, 13);
			Assertions.assertThat(replyHeaders.get().get(TEXT)).isEqualTo("headers");
			Assertions.assertThat(replyTrailers.get().get(TEXT)).isEqualTo("trailers");
			Assertions.assertThat(replyTrailers.get().get(BINARY)).containsExactly(1, 2, 3);
			Assertions.assertThat(replyTrailers.get().keys()).containsExactlyInAnyOrder("text", "data-bin");
		}
	}

	@Test
	void aStatusArrivesWithDescriptionAndTrailers() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Metadata trailers = new Metadata();
			trailers.put(TEXT, "why");
			Server server = fixture.serve((builder) -> builder.addService(Bytes.unary((request, observer) -> observer
				.onError(Status.FAILED_PRECONDITION.withDescription("äöü: not now\n").asRuntimeException(trailers)))));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			StatusRuntimeException failure = Assertions.catchThrowableOfType(StatusRuntimeException.class,
					() -> call(channel, new byte[3]));
			Assertions.assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
			Assertions.assertThat(failure.getStatus().getDescription()).isEqualTo("äöü: not now\n");
			Assertions.assertThat(failure.getTrailers().get(TEXT)).isEqualTo("why");
		}
	}

	@Test
	void aMethodThatDoesNotExistIsUnimplemented() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> {
			});
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			Assertions.assertThatThrownBy(() -> call(channel, new byte[3]))
				.hasMessage("UNIMPLEMENTED: Method not found: test.Bytes/Unary");
		}
	}

	@Test
	void aDeadlineEndsTheCallOnBothSides() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			CountDownLatch cancelled = new CountDownLatch(1);
			Server server = fixture.serve((builder) -> builder.addService(Bytes.unary((request,
					observer) -> Context.current().addListener((context) -> cancelled.countDown(), Runnable::run))));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			Assertions
				.assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, Bytes.UNARY,
						CallOptions.DEFAULT.withDeadlineAfter(200, TimeUnit.MILLISECONDS), new byte[3]))
				.hasMessageStartingWith("DEADLINE_EXCEEDED");
			Assertions.assertThat(cancelled.await(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void cancellationReachesTheHandler() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			CountDownLatch arrived = new CountDownLatch(1);
			CountDownLatch cancelled = new CountDownLatch(1);
			Server server = fixture.serve((builder) -> builder.addService(Bytes.unary((request, observer) -> {
				Context.current().addListener((context) -> cancelled.countDown(), Runnable::run);
				arrived.countDown();
			})));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			ClientCall<byte[], byte[]> call = channel.newCall(Bytes.UNARY, CallOptions.DEFAULT);
			CompletableFuture<Status> end = new CompletableFuture<>();
			call.start(new ClientCall.Listener<>() {
				@Override
				public void onClose(Status status, Metadata trailers) {
					end.complete(status);
				}
			}, new Metadata());
			call.request(2);
			call.sendMessage(new byte[50_000]);
			call.halfClose();
			Assertions.assertThat(arrived.await(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
			call.cancel("changed my mind", null);
			Assertions.assertThat(end.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS).getCode())
				.isEqualTo(Status.Code.CANCELLED);
			Assertions.assertThat(cancelled.await(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void callsThatEndBeforeTheirMessageIsSentKeepNoMemory() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(echo()));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			call(channel, new byte[1]);
			for (int i = 0; i < 100; i++) {
				ClientCall<byte[], byte[]> call = channel.newCall(Bytes.UNARY, CallOptions.DEFAULT);
				call.start(new ClientCall.Listener<>() {
				}, new Metadata());
				call.request(2);
				call.sendMessage(new byte[i * 1000]);
				call.cancel("before it is half-closed", null);
			}
		}
	}

	@Test
	void addressesAreInTheAttributes() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			CompletableFuture<String> seen = new CompletableFuture<>();
			Server server = fixture.serve((builder) -> builder.addService(echo()).intercept(new ServerInterceptor() {
				@Override
				public <Q, P> ServerCall.Listener<Q> interceptCall(ServerCall<Q, P> call, Metadata headers,
						ServerCallHandler<Q, P> next) {
					seen.complete(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR) + " "
							+ call.getAttributes().get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR) + " " + call.getAuthority());
					return next.startCall(call, headers);
				}
			}));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			ClientCall<byte[], byte[]> call = channel.newCall(Bytes.UNARY, CallOptions.DEFAULT);
			CompletableFuture<Status> end = new CompletableFuture<>();
			call.start(new ClientCall.Listener<>() {
				@Override
				public void onClose(Status status, Metadata trailers) {
					end.complete(status);
				}
			}, new Metadata());
			call.request(2);
			call.sendMessage("x".getBytes(StandardCharsets.US_ASCII));
			call.halfClose();
			end.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			InetSocketAddress local = (InetSocketAddress) call.getAttributes().get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR);
			InetSocketAddress remote = (InetSocketAddress) call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
			Assertions.assertThat(remote.getPort()).isEqualTo(server.getPort());
			Assertions.assertThat(seen.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS))
				.isEqualTo(local + " /127.0.0.1:" + remote.getPort() + " " + channel.authority());
		}
	}

	@Test
	void aServerStreamsMessages() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder
				.addService(Bytes.of(Bytes.SERVER, ServerCalls.asyncServerStreamingCall((request, observer) -> {
					for (int i = 0; i < 1000; i++) {
						observer.onNext(random(i * 37));
					}
					observer.onCompleted();
				}))));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			Iterator<byte[]> replies = ClientCalls.blockingServerStreamingCall(channel, Bytes.SERVER,
					CallOptions.DEFAULT, new byte[1]);
			for (int i = 0; i < 1000; i++) {
				Assertions.assertThat(replies.next()).isEqualTo(random(i * 37));
			}
			Assertions.assertThat(replies.hasNext()).isFalse();
		}
	}

	private static ServerServiceDefinition echo() {
		return Bytes.unary((request, observer) -> {
			observer.onNext(request);
			observer.onCompleted();
		});
	}

	/** Answers with metadata. */
	private record Answering(AtomicReference<Metadata> received) implements ServerInterceptor {

		@Override
		public <Q, P> ServerCall.Listener<Q> interceptCall(ServerCall<Q, P> call, Metadata headers,
				ServerCallHandler<Q, P> next) {
			this.received.set(headers);
			return next.startCall(new SimpleForwardingServerCall<>(call) {
				@Override
				public void sendHeaders(Metadata sent) {
					sent.put(TEXT, "headers");
					super.sendHeaders(sent);
				}

				@Override
				public void close(Status status, Metadata trailers) {
					trailers.put(TEXT, "trailers");
					trailers.put(BINARY, new byte[] { 1, 2, 3 });
					super.close(status, trailers);
				}
			}, headers);
		}

	}

}
