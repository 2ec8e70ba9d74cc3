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

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;

/** A peer that speaks the protocol of channels and not that of gRPC calls. */
class HostileCallerTests {

	/** Calls whose messages follow the request. */
	private static final int FOLLOWED = 200;

	private static final int MOST_CALLS = 8;

	private static final int CANCELED_CALLS = 10_000;

	private static final int LATE_CALLS = 300;

	@Test
	void malformedRequestsAreAnsweredAndHarmNobody() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			AtomicInteger served = new AtomicInteger();
			Server server = fixture
				.serve((builder) -> builder.directExecutor().addService(Bytes.unary((request, observer) -> {
					served.incrementAndGet();
					observer.onNext(request);
					observer.onCompleted();
				})));
			ManagedChannel other = fixture.connect(server, (builder) -> {
			});
			RpcChannel channel = RawCaller.connect(fixture, server);
			Assertions.assertThat(RawCaller.call(channel, GrpcProtocol.CALL, new byte[0]).status())
				.isEqualTo(Status.Code.INTERNAL);
			Assertions.assertThat(RawCaller.call(channel, GrpcProtocol.CALL, new byte[7]).status())
				.isEqualTo(Status.Code.INTERNAL);
			Assertions.assertThat(RawCaller.call(channel, GrpcProtocol.CALL, RawCaller.head(-1, -1, 0, "x")).status())
				.isEqualTo(Status.Code.INTERNAL);
			Assertions.assertThat(RawCaller.call(channel, GrpcProtocol.CALL, RawCaller.head(1, 0, -1, "x")).status())
				.isEqualTo(Status.Code.INTERNAL);
			Assertions
				.assertThat(RawCaller.call(channel, GrpcProtocol.CALL, RawCaller.head(1, 0, Integer.MAX_VALUE, "x"))
					.status())
				.isEqualTo(Status.Code.INTERNAL);
			Assertions
				.assertThat(
						RawCaller.call(channel, GrpcProtocol.CALL, RawCaller.head(12, 0, 0, "no/no/nowhere")).status())
				.isEqualTo(Status.Code.UNIMPLEMENTED);
			Assertions.assertThat(RawCaller.call(channel, new RequestTemplate(42, 1, 1), new byte[3]).status())
				.isEqualTo(Status.Code.UNIMPLEMENTED);
			Assertions.assertThat(RawCaller.call(channel, GrpcProtocol.PING, new byte[0]).status())
				.isEqualTo(Status.Code.OK);
			// a message that ends in the middle, and one whose length is a lie
			Assertions
				.assertThat(RawCaller
					.call(channel, GrpcProtocol.CALL, RawCaller.head(16, 0, 0, "test.Bytes/Unary\0\0\0\0\7ab"))
					.status())
				.isEqualTo(Status.Code.INTERNAL);
			Assertions
				.assertThat(RawCaller
					.call(channel, GrpcProtocol.CALL, RawCaller.head(16, 0, 0, "test.Bytes/Unary\0\177\177\177\177"))
					.status())
				.isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
			Assertions
				.assertThat(RawCaller
					.call(channel, GrpcProtocol.CALL, RawCaller.head(16, 0, 0, "test.Bytes/Unary\0\0\0\0\2ab"))
					.status())
				.isEqualTo(Status.Code.OK);
			Assertions.assertThat(served).hasValue(1);
			Assertions.assertThat(ClientCalls.blockingUnaryCall(other, Bytes.UNARY, CallOptions.DEFAULT, new byte[5]))
				.hasSize(5);
			channel.close("done");
		}
	}

	@Test
	void randomRequestsAreAnswered() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.addService(Bytes.unary((request, observer) -> {
				observer.onNext(request);
				observer.onCompleted();
			})));
			RpcChannel channel = RawCaller.connect(fixture, server);
			long seed = Long.getLong("rdmarpc.test.seed", System.nanoTime());
			Random random = new Random(seed);
			byte[] valid = RawCaller.head(16, 4, 14, "test.Bytes/Unaryhost" + "\4\0text\4\0\0\0abcd" + "\0\0\0\0\2ab");
			for (int i = 0; i < 3000; i++) {
				byte[] bytes = valid.clone();
				for (int change = random.nextInt(3); change >= 0; change--) {
					bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
				}
				Assertions.assertThat(RawCaller.call(channel, GrpcProtocol.CALL, bytes).failure())
					.as("seed %d", seed)
					.isNull();
			}
			channel.close("done");
		}
	}

	@Test
	void beginningsOfMessagesKeepLittleMemory() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			AtomicInteger begun = new AtomicInteger();
			AtomicInteger received = new AtomicInteger();
			Server server = fixture.serve((builder) -> builder.channelOptions(RawCaller.STEADY)
				.addService(Bytes.of(Bytes.CLIENT, ServerCalls.asyncClientStreamingCall((observer) -> {
					begun.incrementAndGet();
					return new Receiver(observer, received);
				}))));
			RpcChannel channel = RawCaller.connect(fixture, server);
			Assertions.assertThat(RawCaller.call(channel, GrpcProtocol.PING, new byte[0]).status())
				.isEqualTo(Status.Code.OK);
			long before = fixture.memory().metrics().allocatedBytes();
			List<RawCaller.Call> calls = new ArrayList<>();
			for (int i = 0; i < FOLLOWED; i++) {
				RawCaller.Call call = new RawCaller.Call(channel);
				RawCaller.submit(call, channel, GrpcProtocol.CALL,
						RawCaller.head(17, 0, 0, "test.Bytes/Client\0\0\0\0\12ab"));
				calls.add(call);
			}
			GrpcFixture.await(() -> begun.get() == FOLLOWED, "all calls have begun");
			GrpcFixture.await(
					() -> fixture.memory().metrics().allocatedBytes() - before < FOLLOWED
							* RawCaller.STEADY.frameBytes() / 4,
					"the beginnings of messages keep little registered memory");
			MessageSegments rest = new MessageSegments();
			for (RawCaller.Call call : calls) {
				rest.addBytes(ByteBuffer.wrap("cdefghij".getBytes(StandardCharsets.US_ASCII)));
				call.sender.prepare(rest).submit();
				rest.clear();
				call.sender.prepareEnd().submit();
			}
			for (RawCaller.Call call : calls) {
				Assertions.assertThat(call.reply.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS).status())
					.isEqualTo(Status.Code.OK);
			}
			Assertions.assertThat(received).hasValue(FOLLOWED);
			channel.close("done");
		}
	}

	/** Its messages would wait for the end, however many there are. */
	@Test
	void whoTakesNoStreamIsGivenOneMessage() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			CompletableFuture<Long> kept = new CompletableFuture<>();
			Server server = fixture.serve((builder) -> builder.channelOptions(RawCaller.STEADY)
				.addService(Bytes.of(Bytes.SERVER, ServerCalls.asyncServerStreamingCall((request, observer) -> {
					long before = fixture.memory().metrics().allocatedBytes();
					try {
						for (int i = 0; i < 1000; i++) {
							observer.onNext(new byte[1000]);
						}
					}
					catch (StatusRuntimeException ex) {
						// the call has been given up
					}
					kept.complete(fixture.memory().metrics().allocatedBytes() - before);
				}))));
			RpcChannel channel = RawCaller.connect(fixture, server);
			Assertions
				.assertThat(RawCaller
					.call(channel, GrpcProtocol.CALL, RawCaller.head(17, 0, 0, "test.Bytes/Server\0\0\0\0\2ab"))
					.status())
				.isEqualTo(Status.Code.INTERNAL);
			Assertions.assertThat(kept.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isLessThan(100_000);
			channel.close("done");
		}
	}

	/** A request that is given up at once leaves its handler running. */
	@Test
	void handlersOfCanceledCallsCount() throws Exception {
		assertFewHandlersRun(CANCELED_CALLS, "test.Bytes/Bidi", 0, (channel, call) -> {
			channel.abandon(call, CallFailure.CANCELLED, "enough");
			call.end();
		});
	}

	@Test
	void handlersOfCallsWhoseDeadlineHasPassedCount() throws Exception {
		String timeout = "\14\0grpc-timeout\2\0\0\0" + "1m";
		assertFewHandlersRun(LATE_CALLS, "test.Bytes/Unary" + timeout + "\0\0\0\0\2ab", timeout.length(),
				(channel, call) -> call.end());
	}

	private static void assertFewHandlersRun(int calls, String content, int block,
			BiConsumer<RpcChannel, RawCaller.Call> end) throws Exception {
		try (GrpcFixture fixture = new GrpcFixture(); Handlers handlers = new Handlers()) {
			Server server = fixture.serve((builder) -> builder.maxConcurrentCalls(MOST_CALLS)
				.channelOptions(RawCaller.STEADY)
				.executor(handlers.threads)
				.addService(ServerServiceDefinition.builder(Bytes.SERVICE)
					.addMethod(Bytes.BIDI, handlers::start)
					.addMethod(Bytes.UNARY, ServerCalls.asyncUnaryCall(handlers::answer))
					.build()));
			RpcChannel channel = RawCaller.connect(fixture, server);
			int method = content.startsWith("test.Bytes/Bidi") ? 15 : 16;
			// those given up at once may all be withdrawn before they are sent
			for (int i = 0; i < calls || (handlers.most.get() == 0 && i < 100 * calls); i++) {
				if (handlers.most.get() > MOST_CALLS) {
					break;
				}
				RawCaller.Call call = new RawCaller.Call(null);
				RawCaller.submit(call, channel, GrpcProtocol.CALL, RawCaller.head(method, 0, block, content));
				end.accept(channel, call);
			}
			Assertions.assertThat(handlers.most.get()).isBetween(1, MOST_CALLS);
			handlers.released.countDown();
			GrpcFixture.await(() -> isAnswered(channel), "the places of calls whose handlers have returned");
			channel.close("done");
		}
	}

	private static boolean isAnswered(RpcChannel channel) {
		try {
			return RawCaller.call(channel, GrpcProtocol.CALL, RawCaller.head(16, 0, 0, "test.Bytes/Unary\0\0\0\0\2ab"))
				.status() == Status.Code.OK;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Handlers that block until they are released. */
	private static final class Handlers implements AutoCloseable {

		private final ExecutorService threads = Executors.newFixedThreadPool(4 * MOST_CALLS);

		private final AtomicInteger running = new AtomicInteger();

		private final AtomicInteger most = new AtomicInteger();

		private final CountDownLatch released = new CountDownLatch(1);

		private void block() {
			this.most.accumulateAndGet(this.running.incrementAndGet(), Math::max);
			try {
				this.released.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			this.running.decrementAndGet();
		}

		private ServerCall.Listener<byte[]> start(ServerCall<byte[], byte[]> call, Metadata headers) {
			block();
			return new ServerCall.Listener<>() {
			};
		}

		private void answer(byte[] request, StreamObserver<byte[]> observer) {
			block();
			observer.onNext(request);
			observer.onCompleted();
		}

		@Override
		public void close() {
			this.released.countDown();
			this.threads.shutdown();
		}

	}

	/** Answers when the only message has come. */
	private record Receiver(StreamObserver<byte[]> observer, AtomicInteger received) implements StreamObserver<byte[]> {

		@Override
		public void onNext(byte[] message) {
			Assertions.assertThat(message).asString(StandardCharsets.US_ASCII).isEqualTo("abcdefghij");
			this.received.incrementAndGet();
		}

		@Override
		public void onError(Throwable failure) {
			// the caller has gone
		}

		@Override
		public void onCompleted() {
			this.observer.onNext(new byte[0]);
			this.observer.onCompleted();
		}

	}

}
