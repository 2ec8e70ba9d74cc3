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

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
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
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.HeldBytes;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.PrincipalLimits;
import dev.rdmarpc.transport.RdmaAuthenticator;
import dev.rdmarpc.transport.RpcChannel;

/** What a caller may leave in the messages of its streams. */
class HeldMessagesTests {

	private static final RdmaAuthenticator TOKENS = RdmaAuthenticator
		.ofTokens(Map.of("reports", bytes("reports"), "batch", bytes("batch")));

	private static final int MESSAGE_BYTES = 1_000_000;

	private static final int MESSAGES = 4;

	private static final int STREAMS = 8;

	/** For five messages. */
	private static final int LIMIT = 5 * MESSAGE_BYTES + 50_000;

	/** How many streams have two messages within it. */
	private static final int MOST_HELD = 2;

	private final ConcurrentLinkedQueue<Paused> paused = new ConcurrentLinkedQueue<>();

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private Server serve(GrpcFixture fixture, int limit, boolean known) throws Exception {
		ChannelSecurity security = known ? ChannelSecurity.NONE.withAuthenticator(TOKENS) : ChannelSecurity.NONE;
		return fixture.serve(
				(builder) -> builder.peerLimits(PeerLimits.DEFAULTS.withPrincipal(new PrincipalLimits(9, 100, limit)))
					.channelOptions(ChannelOptions.DEFAULTS.withSecurity(security))
					.addService(ServerServiceDefinition.builder(Bytes.SERVICE)
						.addMethod(Bytes.UNARY, ServerCalls.asyncUnaryCall((request, observer) -> {
							observer.onNext(new byte[1]);
							observer.onCompleted();
						}))
						.addMethod(Bytes.CLIENT, (call, headers) -> {
							Paused handler = new Paused(call);
							this.paused.add(handler);
							return handler;
						})
						.build()));
	}

	private static ManagedChannel connect(GrpcFixture fixture, Server server, String token) {
		return fixture.connect(server, (builder) -> builder
			.channelOptions(ChannelOptions.DEFAULTS.withSecurity(ChannelSecurity.NONE.withToken(() -> bytes(token)))));
	}

	private static Status call(ManagedChannel channel, int bytes) {
		try {
			ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT, new byte[bytes]);
			return Status.OK;
		}
		catch (StatusRuntimeException ex) {
			return ex.getStatus();
		}
	}

	/** What is counted of the callers of the first call. */
	private long held() {
		return this.paused.isEmpty() ? 0 : HeldBytes.of(channel());
	}

	private RpcChannel channel() {
		RdmaServerTransport transport = this.paused.element().call.getAttributes().get(RdmaServerTransport.TRANSPORT);
		Assertions.assertThat(transport).isNotNull();
		return transport.channel();
	}

	private static long ended(List<Upload> uploads) {
		return uploads.stream().filter((upload) -> upload.status.isDone()).count();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void callerWhoseMessagesNobodyReadsIsStoppedAtTheLimitAndOthersGoOn(boolean known) throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = serve(fixture, LIMIT, known);
			ManagedChannel greedy = connect(fixture, server, "reports");
			ManagedChannel other = connect(fixture, server, "batch");
			List<Upload> uploads = new ArrayList<>();
			for (int i = 0; i < STREAMS; i++) {
				uploads.add(new Upload(greedy));
			}
			GrpcFixture.await(() -> ended(uploads) >= STREAMS - MOST_HELD, "streams beyond the limit end");
			Assertions.assertThat(call(other, 2 * MESSAGE_BYTES).isOk()).isTrue();
			this.paused.forEach(Paused::resume);
			int complete = 0;
			for (Upload upload : uploads) {
				Status status = upload.end();
				if (status.isOk()) {
					complete++;
					continue;
				}
				Assertions.assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
				Assertions.assertThat(status.getDescription())
					.contains("too many bytes in ", "of '" + (known ? "reports" : ""), "(limit " + LIMIT + ")");
			}
			Assertions.assertThat(complete).isLessThanOrEqualTo(MOST_HELD);
			Upload next = new Upload(greedy);
			GrpcFixture.await(() -> {
				this.paused.forEach(Paused::resume);
				return next.status.isDone();
			}, "another call on the same connection");
			Assertions.assertThat(next.end().isOk()).isTrue();
		}
	}

	@Test
	void pausedHandlersWithinTheLimitGoOnLater() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = serve(fixture, 9 * MESSAGE_BYTES, true);
			ManagedChannel channel = connect(fixture, server, "reports");
			List<Upload> uploads = List.of(new Upload(channel), new Upload(channel));
			GrpcFixture.await(() -> held() >= 4 * MESSAGE_BYTES, "two messages of each are there");
			Assertions.assertThat(ended(uploads)).isZero();
			this.paused.forEach(Paused::resume);
			for (Upload upload : uploads) {
				Assertions.assertThat(upload.end().isOk()).isTrue();
			}
			GrpcFixture.await(() -> held() == 0, "nothing counts any more");
		}
	}

	@ParameterizedTest
	@EnumSource
	void nothingCountsAfterTheEnd(Exit exit) throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = serve(fixture, 3 * MESSAGE_BYTES + 50_000, true);
			ManagedChannel channel = connect(fixture, server, "reports");
			Upload upload = new Upload(channel);
			GrpcFixture.await(() -> held() >= 2 * MESSAGE_BYTES, "two messages are there");
			Assertions.assertThat(upload.status).isNotDone();
			switch (exit) {
				case CONSUMED -> this.paused.forEach(Paused::resume);
				case CANCELLED -> upload.call.cancel("enough", null);
				case ANSWERED -> this.paused.forEach((handler) -> handler.call.close(Status.OK, new Metadata()));
				case REFUSED -> this.paused.forEach((handler) -> handler.call.close(Status.ABORTED, new Metadata()));
				case LOST -> channel().close("lost");
			}
			upload.end();
			GrpcFixture.await(() -> held() == 0, "nothing counts any more");
		}
	}

	/** How a call ends. */
	enum Exit {

		CONSUMED, CANCELLED, ANSWERED, REFUSED, LOST

	}

	/** Sends all it has, whatever is taken. */
	private static final class Upload extends ClientCall.Listener<byte[]> {

		private final ClientCall<byte[], byte[]> call;

		private final CompletableFuture<Status> status = new CompletableFuture<>();

		Upload(ManagedChannel channel) {
			this.call = channel.newCall(Bytes.CLIENT, CallOptions.DEFAULT);
			this.call.start(this, new Metadata());
			this.call.request(1);
			for (int i = 0; i < MESSAGES; i++) {
				this.call.sendMessage(new byte[MESSAGE_BYTES]);
			}
			this.call.halfClose();
		}

		Status end() throws Exception {
			return this.status.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
		}

		@Override
		public void onClose(Status reason, Metadata trailers) {
			this.status.complete(reason);
		}

	}

	/** Reads nothing until it is told to. */
	private static final class Paused extends ServerCall.Listener<byte[]> {

		private final ServerCall<byte[], byte[]> call;

		Paused(ServerCall<byte[], byte[]> call) {
			this.call = call;
		}

		void resume() {
			this.call.request(MESSAGES + 1);
		}

		@Override
		public void onHalfClose() {
			this.call.sendHeaders(new Metadata());
			this.call.sendMessage(new byte[1]);
			this.call.close(Status.OK, new Metadata());
		}

	}

}
