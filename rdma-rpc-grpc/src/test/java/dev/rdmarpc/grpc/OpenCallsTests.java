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

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.transport.ChannelOptions;

/** The calls that are open at once on a server, of callers without a principal. */
class OpenCallsTests {

	private static final int LIMIT = 250;

	/** What a connection has of it if it is the only one. */
	private static final int SHARE = 200;

	/** Their memory does not follow the load. */
	private static final ChannelOptions STEADY = ChannelOptions.DEFAULTS.withCredits(16, 16);

	private static final Metadata.Key<String> TEXT = Metadata.Key.of("text", Metadata.ASCII_STRING_MARSHALLER);

	private static final int TEXT_BYTES = 6000;

	/** Calls that the server has been told of and that have not ended there. */
	private final AtomicInteger open = new AtomicInteger();

	private Server serve(GrpcFixture fixture, int limit) throws Exception {
		return fixture.serve((builder) -> builder.maxConcurrentCalls(limit)
			.channelOptions(STEADY)
			.loops(2)
			.addService(ServerServiceDefinition.builder(Bytes.SERVICE)
				.addMethod(Bytes.BIDI, new Endless())
				.addMethod(Bytes.UNARY, ServerCalls.asyncUnaryCall((request, observer) -> {
					observer.onNext(request);
					observer.onCompleted();
				}))
				.build()));
	}

	private static ManagedChannel connect(GrpcFixture fixture, Server server) {
		ManagedChannel channel = fixture.connect(server, (builder) -> builder.channelOptions(STEADY));
		GrpcFixture.await(() -> channel.getState(true) == ConnectivityState.READY, "there is a connection");
		return channel;
	}

	private static Status call(ManagedChannel channel) {
		try {
			ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT, new byte[100]);
			return Status.OK;
		}
		catch (StatusRuntimeException ex) {
			return ex.getStatus();
		}
	}

	private List<Opened> open(ManagedChannel channel, int count, int expected) {
		int before = this.open.get();
		List<Opened> calls = Stream.generate(() -> new Opened(channel)).limit(count).toList();
		GrpcFixture.await(
				() -> this.open.get() == before + expected
						&& calls.stream().filter(Opened::isClosed).count() == count - expected,
				"calls are open or refused");
		return calls;
	}

	@Test
	void oneConnectionLeavesOthersPlacesAndMemory() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = serve(fixture, LIMIT);
			ManagedChannel good = connect(fixture, server);
			ManagedChannel greedy = connect(fixture, server);
			Assertions.assertThat(call(good)).isEqualTo(Status.OK);
			Assertions.assertThat(call(greedy)).isEqualTo(Status.OK);
			long before = fixture.memory().metrics().allocatedBytes();
			List<Opened> calls = open(greedy, LIMIT, SHARE);
			for (Opened each : calls) {
				if (each.isClosed()) {
					Assertions.assertThat(each.status.join().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
					Assertions.assertThat(each.status.join().getDescription())
						.isEqualTo("too many calls of one connection: 200 of the 250 that the server has at once, "
								+ "which is its share");
				}
			}
			GrpcFixture.await(
					() -> fixture.memory().metrics().allocatedBytes() - before < SHARE * STEADY.frameBytes() / 4,
					"calls that are open keep little registered memory");
			List<Opened> own = open(good, 25, 25);
			for (int i = 0; i < 100; i++) {
				Assertions.assertThat(call(good)).isEqualTo(Status.OK);
			}
			greedy.shutdownNow();
			GrpcFixture.await(() -> this.open.get() == own.size(), "the calls of the lost connection have ended");
			own.forEach(Opened::cancel);
			GrpcFixture.await(() -> this.open.get() == 0, "the other calls have ended");
			ManagedChannel next = connect(fixture, server);
			open(next, LIMIT, SHARE);
			Assertions.assertThat(call(good)).isEqualTo(Status.OK);
			next.shutdownNow();
		}
	}

	@Test
	void allConnectionsTogetherAreLimited() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = serve(fixture, 1);
			ManagedChannel first = connect(fixture, server);
			ManagedChannel second = connect(fixture, server);
			List<Opened> calls = open(first, 1, 1);
			Status refused = call(second);
			Assertions.assertThat(refused.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
			Assertions.assertThat(refused.getDescription()).isEqualTo("too many calls of the server (limit 1)");
			calls.get(0).cancel();
			GrpcFixture.await(() -> call(second).isOk(), "the place of a call that was canceled");
			// each of these has the place of the one before
			for (int i = 0; i < 10; i++) {
				GrpcFixture.await(() -> call(second).isOk(), "the place of a call that was answered");
			}
			open(second, 1, 1);
			second.shutdownNow();
			GrpcFixture.await(() -> call(first).isOk(), "the place of a call whose connection has ended");
		}
	}

	@Test
	void theDefaultIsWhatAQuarterOfTheHeapHasRoomFor() {
		Assertions.assertThat(OpenCalls.mostIn(16L << 30, 8192)).isEqualTo(16384);
		Assertions.assertThat(OpenCalls.mostIn(1L << 30, 8192)).isEqualTo(16384);
		Assertions.assertThat(OpenCalls.mostIn(256L << 20, 8192)).isEqualTo(4096);
		Assertions.assertThat(OpenCalls.mostIn(32L << 20, 8192)).isEqualTo(1024);
		Assertions.assertThat(OpenCalls.mostIn(1L << 30, Integer.MAX_VALUE)).isEqualTo(1024);
		Assertions.assertThat(OpenCalls.mostIn(Long.MAX_VALUE, 0)).isEqualTo(16384);
	}

	@Test
	void thereIsAtLeastOneCall() {
		RdmaServerBuilder builder = RdmaServerBuilder.forPort(0);
		Assertions.assertThatIllegalArgumentException()
			.isThrownBy(() -> builder.maxConcurrentCalls(0))
			.withMessage("0 concurrent calls (expected: at least 1)");
	}

	/** Never answers. */
	private final class Endless implements ServerCallHandler<byte[], byte[]> {

		@Override
		public ServerCall.Listener<byte[]> startCall(ServerCall<byte[], byte[]> call, Metadata headers) {
			Assertions.assertThat(headers.get(TEXT)).hasSize(TEXT_BYTES);
			OpenCallsTests.this.open.incrementAndGet();
			return new ServerCall.Listener<>() {
				@Override
				public void onCancel() {
					OpenCallsTests.this.open.decrementAndGet();
				}
			};
		}

	}

	/** A call with much metadata and no messages. */
	private static final class Opened extends ClientCall.Listener<byte[]> {

		/** Of six digits, so that no two texts are the same. */
		private static final AtomicInteger numbers = new AtomicInteger(100_000);

		private final CompletableFuture<Status> status = new CompletableFuture<>();

		private final ClientCall<byte[], byte[]> call;

		Opened(ManagedChannel channel) {
			Metadata headers = new Metadata();
			headers.put(TEXT, numbers.getAndIncrement() + "x".repeat(TEXT_BYTES - 6));
			this.call = channel.newCall(Bytes.BIDI, CallOptions.DEFAULT);
			this.call.start(this, headers);
			this.call.request(1);
		}

		boolean isClosed() {
			return this.status.isDone();
		}

		void cancel() {
			this.call.cancel("enough", null);
		}

		@Override
		public void onClose(Status reason, Metadata trailers) {
			this.status.complete(reason);
		}

	}

}
