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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.PrincipalLimits;
import dev.rdmarpc.transport.RdmaAuthenticator;

/** What one address and one principal may use of a server of gRPC. */
class PeerLimitsTests {

	private static final RdmaAuthenticator TOKENS = RdmaAuthenticator
		.ofTokens(Map.of("reports", bytes("first token"), "batch", bytes("second token")));

	private static final int MESSAGE_BYTES = 1 << 20;

	/** Of one stream, which have more bytes than the limit. */
	private static final int MESSAGES = 8;

	/** Of one that never comes near it, however slowly it is read. */
	private static final int SOME = 2;

	private static final int LIMIT = 4 * MESSAGE_BYTES;

	private final ConcurrentLinkedQueue<StreamObserver<byte[]>> held = new ConcurrentLinkedQueue<>();

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private Server serve(GrpcFixture fixture, PeerLimits limits, ChannelSecurity security) throws Exception {
		return fixture.serve((builder) -> builder.peerLimits(limits)
			.channelOptions(ChannelOptions.DEFAULTS.withSecurity(security))
			.addService(Bytes.unary((request, observer) -> {
				if (request[0] == 'h') {
					this.held.add(observer);
				}
				else {
					answer(observer);
				}
			})));
	}

	private static void answer(StreamObserver<byte[]> observer) {
		observer.onNext(bytes("answer"));
		observer.onCompleted();
	}

	private static ManagedChannel connect(GrpcFixture fixture, Server server, String token) {
		return fixture.connect(server, (builder) -> builder
			.channelOptions(ChannelOptions.DEFAULTS.withSecurity(ChannelSecurity.NONE.withToken(() -> bytes(token)))));
	}

	private static ListenableFuture<byte[]> begin(ManagedChannel channel, String request) {
		return ClientCalls.futureUnaryCall(channel.newCall(Bytes.UNARY, CallOptions.DEFAULT), bytes(request));
	}

	private static Status call(ManagedChannel channel, String request) {
		try {
			ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT, bytes(request));
			return Status.OK;
		}
		catch (StatusRuntimeException ex) {
			return ex.getStatus();
		}
	}

	@Test
	void connectionsOfOneAddressAreLimited() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = serve(fixture, new PeerLimits(1, 1000), ChannelSecurity.NONE);
			Assertions.assertThat(call(connect(fixture, server, "any"), "x").isOk()).isTrue();
			Status rejected = call(connect(fixture, server, "any"), "x");
			Assertions.assertThat(rejected.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
			Assertions.assertThat(rejected.getDescription())
				.contains("too many connections from one address (limit 1)");
		}
	}

	@Test
	void callsOfOnePrincipalAreCountedOverItsConnections() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = serve(fixture, PeerLimits.DEFAULTS.withPrincipal(new PrincipalLimits(2, 1, 1 << 20)),
					ChannelSecurity.NONE.withAuthenticator(TOKENS));
			ManagedChannel first = connect(fixture, server, "first token");
			ManagedChannel second = connect(fixture, server, "first token");
			ListenableFuture<byte[]> waiting = begin(first, "hold");
			GrpcFixture.await(() -> !this.held.isEmpty(), "a call is held");
			Status limited = call(second, "x");
			Assertions.assertThat(limited.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
			Assertions.assertThat(limited.getDescription()).contains("too many calls of 'reports' (limit 1)");
			Assertions.assertThat(call(connect(fixture, server, "second token"), "x").isOk()).isTrue();
			Status rejected = call(connect(fixture, server, "first token"), "x");
			Assertions.assertThat(rejected.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
			Assertions.assertThat(rejected.getDescription()).contains("too many connections of 'reports' (limit 2)");
			answer(this.held.remove());
			Assertions.assertThat(waiting.get()).isEqualTo(bytes("answer"));
			GrpcFixture.await(() -> call(second, "x").isOk(), "the place of a call that has ended");
			ListenableFuture<byte[]> canceled = begin(first, "hold");
			GrpcFixture.await(() -> !this.held.isEmpty(), "another call is held");
			canceled.cancel(true);
			GrpcFixture.await(() -> call(second, "x").isOk(), "the place of a call that was canceled");
		}
	}

	@Test
	void whatOnePrincipalHasNotReadIsCountedOverItsConnections() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.peerLimits(PeerLimits.DEFAULTS.withMaxReplyBytes(LIMIT))
				.channelOptions(ChannelOptions.DEFAULTS.withSecurity(ChannelSecurity.NONE.withAuthenticator(TOKENS)))
				.addService(Bytes.of(Bytes.SERVER, ServerCalls.asyncServerStreamingCall(PeerLimitsTests::give))));
			ManagedChannel first = connect(fixture, server, "first token");
			ManagedChannel second = connect(fixture, server, "first token");
			ManagedChannel other = connect(fixture, server, "second token");
			Assertions.assertThat(take(second, "little")).isEqualTo(Status.OK);
			List<Deaf> deaf = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				deaf.add(new Deaf(first));
			}
			AtomicReference<Status> refused = new AtomicReference<>(Status.OK);
			// those that exceed it end, and leave room for what is little
			GrpcFixture.await(() -> {
				deaf.add(new Deaf(first));
				refused.set(take(second, "little"));
				return !refused.get().isOk();
			}, "the principal has left as much as it may");
			assertLimited(refused.get());
			for (int i = 0; i < 4; i++) {
				Assertions.assertThat(take(other, "some")).isEqualTo(Status.OK);
			}
			deaf.forEach((each) -> each.call.request(2 * MESSAGES));
			for (Deaf each : deaf) {
				each.status.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			}
			Assertions.assertThat(deaf).as("streams that would have exceeded it").anyMatch((each) -> each.isCutShort());
			for (Deaf each : deaf) {
				if (each.isCutShort()) {
					assertLimited(each.status.join());
				}
				else {
					Assertions.assertThat(each.status.join()).isEqualTo(Status.OK);
				}
			}
			GrpcFixture.await(() -> take(second, "little").isOk(), "what was read counts no more");
		}
	}

	private static void assertLimited(Status status) {
		Assertions.assertThat(status.getCode()).as("%s", status).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
		Assertions.assertThat(status.getDescription())
			.contains("too many bytes in replies to 'reports' that have not been read (limit " + LIMIT + ")");
	}

	private static void give(byte[] request, StreamObserver<byte[]> observer) {
		ServerCallStreamObserver<byte[]> caller = (ServerCallStreamObserver<byte[]>) observer;
		// without one, messages to who has gone would fail here
		caller.setOnCancelHandler(() -> {
		});
		int messages = switch (request[0]) {
			case 'm' -> MESSAGES;
			case 's' -> SOME;
			default -> 1;
		};
		for (int i = 0; i < messages && !caller.isCancelled(); i++) {
			observer.onNext(message((messages > 1) ? MESSAGE_BYTES : 1));
		}
		observer.onCompleted();
	}

	/** Of bytes that would be no head of a message where one is missing. */
	private static byte[] message(int bytes) {
		byte[] message = new byte[bytes];
		Arrays.fill(message, (byte) 1);
		return message;
	}

	private static Status take(ManagedChannel channel, String request) {
		try {
			ClientCalls.blockingServerStreamingCall(channel, Bytes.SERVER, CallOptions.DEFAULT, bytes(request))
				.forEachRemaining((message) -> Assertions.assertThat(message).hasSizeGreaterThan(0));
			return Status.OK;
		}
		catch (StatusRuntimeException ex) {
			return ex.getStatus();
		}
	}

	/** Asks for much and reads nothing until it is told to. */
	private static final class Deaf extends ClientCall.Listener<byte[]> {

		private final ClientCall<byte[], byte[]> call;

		private final CompletableFuture<Status> status = new CompletableFuture<>();

		private final AtomicInteger messages = new AtomicInteger();

		Deaf(ManagedChannel channel) {
			this.call = channel.newCall(Bytes.SERVER, CallOptions.DEFAULT);
			this.call.start(this, new Metadata());
			this.call.sendMessage(bytes("much"));
			this.call.halfClose();
		}

		/** Whether it has got less than there was. */
		boolean isCutShort() {
			return this.messages.get() < MESSAGES;
		}

		@Override
		public void onMessage(byte[] message) {
			this.messages.incrementAndGet();
		}

		@Override
		public void onClose(Status reason, Metadata trailers) {
			this.status.complete(reason);
		}

	}

}
