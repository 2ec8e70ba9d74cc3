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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/**
 * Messages for which one side has no registered memory end their calls, and only them.
 */
class ExhaustedMemoryTests {

	private static final int LARGE = 16 << 20;

	private final GrpcFixture fixture = new GrpcFixture();

	private final RegisteredMemory small = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(32 << 20));

	private final RdmaTransport scarce = RdmaTransport.open(TransportOptions.DEFAULTS.withProvider("iwarp", ""),
			this.small);

	private final List<RegisteredBuffer> held = new ArrayList<>();

	private final List<ManagedChannel> channels = new ArrayList<>();

	@AfterEach
	void close() {
		this.held.forEach(RegisteredBuffer::release);
		this.channels.forEach(ManagedChannel::shutdownNow);
		this.fixture.close();
		this.scarce.close();
		GrpcFixture.await(() -> this.small.metrics().outstanding() == 0, "buffers are given back");
		this.small.close();
	}

	private void takeMost() {
		for (int i = 0; i < 24; i++) {
			this.held.add(this.small.allocate(1 << 20));
		}
	}

	/**
	 * Replies with as many MiB as the first byte of the request says, if not negative.
	 */
	private Server serve(RdmaTransport transport) throws Exception {
		return this.fixture.serve((builder) -> builder.transport(transport)
			.maxInboundMessageSize(2 * LARGE)
			.addService(Bytes.unary((request, replies) -> {
				if (request[0] >= 0) {
					replies.onNext(new byte[request[0] << 20]);
					replies.onCompleted();
				}
			})));
	}

	private ManagedChannel connect(Server server, RdmaTransport transport, Consumer<RdmaChannelBuilder> customizer) {
		RdmaChannelBuilder builder = RdmaChannelBuilder
			.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort()))
			.transport(transport)
			.maxInboundMessageSize(2 * LARGE);
		customizer.accept(builder);
		ManagedChannel channel = builder.build();
		this.channels.add(channel);
		return channel;
	}

	private static Status call(ManagedChannel channel, byte[] request, CallOptions options) throws Exception {
		return begin(channel, request, options, new Metadata()).get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
	}

	private static CompletableFuture<Status> begin(ManagedChannel channel, byte[] request, CallOptions options,
			Metadata headers) {
		CompletableFuture<Status> end = new CompletableFuture<>();
		ClientCall<byte[], byte[]> call = channel.newCall(Bytes.UNARY, options);
		call.start(new ClientCall.Listener<>() {
			@Override
			public void onClose(Status status, Metadata trailers) {
				end.complete(status);
			}
		}, headers);
		call.request(2);
		call.sendMessage(request);
		call.halfClose();
		return end;
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aRequestEndsItsCall(boolean retry) throws Exception {
		Server server = serve(this.fixture.transport());
		takeMost();
		ManagedChannel channel = connect(server, this.scarce, (builder) -> {
			if (!retry) {
				builder.disableRetry();
			}
		});
		// the first one waits for the connection
		for (int i = 0; i < 2; i++) {
			Status status = call(channel, new byte[LARGE], CallOptions.DEFAULT);
			Assertions.assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
			Assertions.assertThat(status.getDescription()).startsWith("no registered memory for ");
		}
		Assertions.assertThat(call(channel, new byte[1], CallOptions.DEFAULT)).isEqualTo(Status.OK);
		Assertions.assertThat(channel.shutdown().awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS))
			.isTrue();
	}

	@Test
	void aReplyEndsItsCall() throws Exception {
		Server server = serve(this.scarce);
		takeMost();
		ManagedChannel channel = connect(server, this.fixture.transport(), (builder) -> {
		});
		Status status = call(channel, new byte[] { LARGE >> 20 }, CallOptions.DEFAULT);
		Assertions.assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
		Assertions.assertThat(status.getDescription()).isEqualTo("no registered memory for the reply");
		Assertions.assertThat(call(channel, new byte[1], CallOptions.DEFAULT)).isEqualTo(Status.OK);
	}

	/** Nobody waits for memory to say so, least of all the thread of gRPC's deadlines. */
	@Test
	void deadlinesEndCallsOfTheirServer() throws Exception {
		Server server = serve(this.scarce);
		ManagedChannel channel = connect(server, this.fixture.transport(), (builder) -> {
		});
		Assertions.assertThat(call(channel, new byte[1], CallOptions.DEFAULT)).isEqualTo(Status.OK);
		List<CompletableFuture<Status>> ends = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			Metadata headers = new Metadata();
			headers.put(Metadata.Key.of("grpc-timeout", Metadata.ASCII_STRING_MARSHALLER), "2S");
			ends.add(begin(channel, new byte[] { -1 }, CallOptions.DEFAULT, headers));
		}
		for (int size = 1 << 20; size >= 64; size /= 2) {
			for (RegisteredBuffer next = this.small.tryAllocate(size); next != null; next = this.small
				.tryAllocate(size)) {
				this.held.add(next);
			}
		}
		for (CompletableFuture<Status> end : ends) {
			Status status = end.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			Assertions.assertThat(status.getCode()).isEqualTo(Status.Code.CANCELLED);
			Assertions.assertThat(status.getDescription()).isEqualTo("the server has given the call up");
		}
	}

	/**
	 * The user's thread, which waits for memory, is back when the call has no more time.
	 */
	@Test
	void aDeadlineEndsTheWait() throws Exception {
		Server server = serve(this.fixture.transport());
		ManagedChannel channel = connect(server, this.scarce, (builder) -> {
		});
		GrpcFixture.await(() -> channel.getState(true) == ConnectivityState.READY, "there is a connection");
		takeMost();
		long fastest = Long.MAX_VALUE;
		// others may be slow
		for (int i = 0; i < 5 && fastest >= 800_000_000; i++) {
			// who waits goes on waiting while something moves
			this.held.remove(0).release();
			this.held.add(this.small.allocate(1 << 20));
			long begin = System.nanoTime();
			Status status = call(channel, new byte[LARGE],
					CallOptions.DEFAULT.withDeadlineAfter(200, TimeUnit.MILLISECONDS));
			fastest = Math.min(fastest, System.nanoTime() - begin);
			Assertions.assertThat(status.getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
		}
		Assertions.assertThat(fastest).isLessThan(800_000_000);
	}

}
