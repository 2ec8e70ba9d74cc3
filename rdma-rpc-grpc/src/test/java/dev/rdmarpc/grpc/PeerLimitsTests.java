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
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
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

}
