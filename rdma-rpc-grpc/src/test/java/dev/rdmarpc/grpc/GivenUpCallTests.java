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

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.Await;

/** Calls that one side gives up end although the caller takes none of their messages. */
class GivenUpCallTests {

	/** The handler has sent what it has. */
	private final CountDownLatch sent = new CountDownLatch(1);

	/** The handler was told that its call has not ended well. */
	private final CountDownLatch cancelled = new CountDownLatch(1);

	/** The handler was told that it has. */
	private final CountDownLatch completed = new CountDownLatch(1);

	private Server serve(GrpcFixture fixture, int most, int messages, boolean closes) throws Exception {
		return fixture.serve((builder) -> builder.maxConcurrentCalls(most)
			.addService(ServerServiceDefinition.builder(Bytes.SERVICE)
				.addMethod(Bytes.UNARY, ServerCalls.asyncUnaryCall((request, replies) -> {
					replies.onNext(request);
					replies.onCompleted();
				}))
				.addMethod(Bytes.SERVER, (call, headers) -> new Sending(call, messages, closes))
				.build()));
	}

	private static ManagedChannel connect(GrpcFixture fixture, Server server) {
		ManagedChannel channel = fixture.connect(server, (builder) -> {
		});
		GrpcFixture.await(() -> channel.getState(true) == ConnectivityState.READY, "there is a connection");
		return channel;
	}

	private static boolean isServed(ManagedChannel channel) {
		try {
			return ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT, new byte[1]).length == 1;
		}
		catch (StatusRuntimeException ex) {
			Assertions.assertThat(ex.getStatus().getDescription()).startsWith("too many calls");
			return false;
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aDeadlineOfTheServerEndsACallWhoseMessagesNobodyTakes(boolean closes) throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = serve(fixture, 1, 20, closes);
			ManagedChannel channel = connect(fixture, server);
			Metadata headers = new Metadata();
			headers.put(Metadata.Key.of("grpc-timeout", Metadata.ASCII_STRING_MARSHALLER), "300m");
			Waiting waiting = new Waiting(channel, headers);
			Await.latch(waiting.headers);
			Await.latch(this.cancelled);
			Await.until(() -> isServed(channel));
			Assertions.assertThat(this.completed.getCount()).isEqualTo(1);
			server.shutdown();
			Assertions.assertThat(server.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
			waiting.call.request(100);
			Assertions.assertThat(waiting.status().getCode()).isEqualTo(Status.Code.CANCELLED);
		}
	}

	@Test
	void aHandlerLearnsThatItsMessagesWereTaken() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Waiting waiting = new Waiting(connect(fixture, serve(fixture, 1, 20, true)), new Metadata());
			Await.latch(waiting.headers);
			Assertions.assertThat(this.completed.getCount()).isEqualTo(1);
			waiting.call.request(100);
			Assertions.assertThat(waiting.status()).isEqualTo(Status.OK);
			Await.latch(this.completed);
			Assertions.assertThat(this.cancelled.getCount()).isEqualTo(1);
		}
	}

	@Test
	void aHandlerLearnsThatItsMessagesAreNotWanted() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Waiting waiting = new Waiting(connect(fixture, serve(fixture, 1, 20, true)), new Metadata());
			Await.latch(waiting.headers);
			waiting.call.cancel("not wanted", null);
			Await.latch(this.cancelled);
			Assertions.assertThat(this.completed.getCount()).isEqualTo(1);
		}
	}

	@Test
	void aShutdownEndsACallWhoseMessagesNobodyTakes() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = serve(fixture, 2, 1, false);
			ManagedChannel channel = connect(fixture, server);
			Waiting waiting = new Waiting(channel, new Metadata());
			Await.latch(waiting.headers);
			Await.latch(this.sent);
			// what was sent before has arrived with it
			Assertions.assertThat(isServed(channel)).isTrue();
			channel.shutdownNow();
			Assertions.assertThat(waiting.status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
		}
	}

	/** Sends messages when asked, and perhaps ends the call. */
	private final class Sending extends ServerCall.Listener<byte[]> {

		private final ServerCall<byte[], byte[]> call;

		private final int messages;

		private final boolean closes;

		Sending(ServerCall<byte[], byte[]> call, int messages, boolean closes) {
			this.call = call;
			this.messages = messages;
			this.closes = closes;
			call.request(2);
		}

		@Override
		public void onHalfClose() {
			this.call.sendHeaders(new Metadata());
			for (int i = 0; i < this.messages; i++) {
				this.call.sendMessage(new byte[50_000]);
			}
			if (this.closes) {
				this.call.close(Status.OK, new Metadata());
			}
			GivenUpCallTests.this.sent.countDown();
		}

		@Override
		public void onCancel() {
			GivenUpCallTests.this.cancelled.countDown();
		}

		@Override
		public void onComplete() {
			GivenUpCallTests.this.completed.countDown();
		}

	}

	/** A call whose messages are not asked for. */
	private static final class Waiting extends ClientCall.Listener<byte[]> {

		private final CountDownLatch headers = new CountDownLatch(1);

		private final CompletableFuture<Status> end = new CompletableFuture<>();

		private final ClientCall<byte[], byte[]> call;

		Waiting(ManagedChannel channel, Metadata metadata) {
			this.call = channel.newCall(Bytes.SERVER, CallOptions.DEFAULT);
			this.call.start(this, metadata);
			this.call.sendMessage(new byte[1]);
			this.call.halfClose();
		}

		Status status() throws Exception {
			return this.end.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
		}

		@Override
		public void onHeaders(Metadata received) {
			this.headers.countDown();
		}

		@Override
		public void onClose(Status status, Metadata trailers) {
			this.end.complete(status);
		}

	}

}
