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

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.KnownLength;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.Await;

/** Calls with many messages, in either direction. */
class StreamingCallTests {

	private static byte[] random(int length) {
		byte[] bytes = new byte[length];
		new Random(length).nextBytes(bytes);
		return bytes;
	}

	private static byte[] bytes(long number) {
		return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
	}

	@Test
	void aClientStreamsMessages() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder
				.addService(Bytes.of(Bytes.CLIENT, ServerCalls.asyncClientStreamingCall(Adder::new))));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			Collector replies = new Collector();
			StreamObserver<byte[]> requests = ClientCalls
				.asyncClientStreamingCall(channel.newCall(Bytes.CLIENT, CallOptions.DEFAULT), replies);
			long sum = 0;
			for (int i = 0; i < 500; i++) {
				requests.onNext(random(i * 61));
				sum += i * 61L;
			}
			requests.onCompleted();
			Assertions.assertThat(replies.await()).containsExactly(bytes(sum));
		}
	}

	/** What is written while the call starts follows the request. */
	@Test
	void aCallStartsWhileItsUserWrites() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder
				.addService(Bytes.of(Bytes.BIDI, ServerCalls.asyncBidiStreamingCall(Echo::new))));
			ManagedChannel channel = fixture.connect(server, RdmaChannelBuilder::disableRetry);
			GrpcFixture.await(() -> channel.getState(true) == ConnectivityState.READY, "there is a connection");
			CountDownLatch written = new CountDownLatch(1);
			CountDownLatch started = new CountDownLatch(1);
			Executor executor = (task) -> {
				new Thread(task).start();
				Await.latch(written);
			};
			ClientCall<byte[], byte[]> call = channel.newCall(halting(written, started),
					CallOptions.DEFAULT.withExecutor(executor));
			List<byte[]> replies = Collections.synchronizedList(new ArrayList<>());
			CompletableFuture<Status> end = new CompletableFuture<>();
			call.start(new ClientCall.Listener<>() {
				@Override
				public void onReady() {
					if (written.getCount() > 0) {
						call.sendMessage(random(10));
						call.sendMessage(random(2_000_000));
						call.halfClose();
					}
				}

				@Override
				public void onMessage(byte[] message) {
					replies.add(message);
				}

				@Override
				public void onClose(Status status, Metadata trailers) {
					end.complete(status);
				}
			}, new Metadata());
			started.countDown();
			call.request(10);
			Assertions.assertThat(end.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isEqualTo(Status.OK);
			Assertions.assertThat(replies).containsExactly(random(10), random(2_000_000));
		}
	}

	/** A large message is only read to its middle until the call has started. */
	private static MethodDescriptor<byte[], byte[]> halting(CountDownLatch written, CountDownLatch started) {
		return Bytes.BIDI.toBuilder(new MethodDescriptor.Marshaller<byte[]>() {
			@Override
			public InputStream stream(byte[] value) {
				return (value.length < 1_000_000) ? Bytes.BIDI.streamRequest(value)
						: new HaltingStream(value, written, started);
			}

			@Override
			public byte[] parse(InputStream stream) {
				return Bytes.BIDI.parseRequest(stream);
			}
		}, Bytes.BIDI.getResponseMarshaller()).build();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 10, 7_000, 60_000, 2_000_000 })
	void messagesAreEchoedInOrder(int length) throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder
				.addService(Bytes.of(Bytes.BIDI, ServerCalls.asyncBidiStreamingCall(Echo::new))));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			Collector replies = new Collector();
			StreamObserver<byte[]> requests = ClientCalls
				.asyncBidiStreamingCall(channel.newCall(Bytes.BIDI, CallOptions.DEFAULT), replies);
			for (int i = 0; i < 20; i++) {
				requests.onNext(random(length + i));
			}
			requests.onCompleted();
			List<byte[]> all = replies.await();
			Assertions.assertThat(all).hasSize(20);
			for (int i = 0; i < 20; i++) {
				Assertions.assertThat(all.get(i)).isEqualTo(random(length + i));
			}
		}
	}

	@Test
	void aMessageIsAnsweredBeforeTheNextIsSent() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.directExecutor()
				.addService(Bytes.of(Bytes.BIDI, ServerCalls.asyncBidiStreamingCall(Echo::new))));
			ManagedChannel channel = fixture.connect(server, RdmaChannelBuilder::directExecutor);
			AtomicReference<StreamObserver<byte[]>> requests = new AtomicReference<>();
			AtomicInteger count = new AtomicInteger();
			CompletableFuture<Integer> end = new CompletableFuture<>();
			requests.set(ClientCalls.asyncBidiStreamingCall(channel.newCall(Bytes.BIDI, CallOptions.DEFAULT),
					new StreamObserver<>() {
						@Override
						public void onNext(byte[] reply) {
							if (count.incrementAndGet() == 1000) {
								requests.get().onCompleted();
							}
							else {
								requests.get().onNext(reply);
							}
						}

						@Override
						public void onError(Throwable failure) {
							end.completeExceptionally(failure);
						}

						@Override
						public void onCompleted() {
							end.complete(count.get());
						}
					}));
			requests.get().onNext(new byte[10]);
			Assertions.assertThat(end.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isEqualTo(1000);
		}
	}

	@Test
	void aSlowServerStopsItsClient() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			CompletableFuture<ServerCallStreamObserver<byte[]>> serverSide = new CompletableFuture<>();
			Adder adder = new Adder(new Collector());
			Server server = fixture.serve((builder) -> builder
				.addService(Bytes.of(Bytes.BIDI, ServerCalls.asyncBidiStreamingCall((replies) -> {
					ServerCallStreamObserver<byte[]> call = (ServerCallStreamObserver<byte[]>) replies;
					call.disableAutoRequest();
					serverSide.complete(call);
					return adder;
				}))));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			Sender sender = new Sender();
			ClientCalls.asyncBidiStreamingCall(channel.newCall(Bytes.BIDI, CallOptions.DEFAULT), sender);
			serverSide.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			sender.awaitStall();
			int before = sender.sent.get();
			Assertions.assertThat(before * Sender.LENGTH).isLessThan(1024 * 1024);
			serverSide.get().request(10_000);
			GrpcFixture.await(() -> sender.sent.get() > 2 * before, "the client goes on");
			sender.call.cancel("enough", null);
		}
	}

	@Test
	void aSlowClientStopsItsServer() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			AtomicInteger sent = new AtomicInteger();
			CompletableFuture<Status> ended = new CompletableFuture<>();
			Server server = fixture.serve((builder) -> builder
				.addService(Bytes.of(Bytes.SERVER, ServerCalls.asyncServerStreamingCall((request, replies) -> {
					ServerCallStreamObserver<byte[]> call = (ServerCallStreamObserver<byte[]>) replies;
					call.setOnCancelHandler(() -> ended.complete(Status.CANCELLED));
					call.setOnReadyHandler(() -> {
						while (call.isReady()) {
							call.onNext(new byte[10_000]);
							sent.incrementAndGet();
						}
					});
				}))));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			ClientCall<byte[], byte[]> call = channel.newCall(Bytes.SERVER, CallOptions.DEFAULT);
			AtomicInteger received = new AtomicInteger();
			call.start(new ClientCall.Listener<>() {
				@Override
				public void onMessage(byte[] message) {
					received.incrementAndGet();
				}
			}, new Metadata());
			call.sendMessage(new byte[0]);
			call.halfClose();
			GrpcFixture.await(() -> sent.get() > 20, "the server fills the window");
			awaitStall(sent);
			Assertions.assertThat(sent.get() * 10_000).isLessThan(1024 * 1024);
			call.request(1000);
			GrpcFixture.await(() -> received.get() == 1000, "the server goes on");
			call.cancel("enough", null);
			Assertions.assertThat(ended.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isEqualTo(Status.CANCELLED);
		}
	}

	private static void awaitStall(AtomicInteger count) {
		AtomicInteger last = new AtomicInteger(-1);
		AtomicInteger same = new AtomicInteger();
		GrpcFixture.await(() -> {
			int now = count.get();
			same.set((last.getAndSet(now) == now) ? same.get() + 1 : 0);
			return same.get() > 200;
		}, "nothing more is sent");
	}

	@Test
	void callsAreCancelledInTheMiddle() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder
				.addService(Bytes.of(Bytes.BIDI, ServerCalls.asyncBidiStreamingCall(Echo::new))));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			long seed = System.nanoTime();
			Random random = new Random(seed);
			for (int i = 0; i < 100; i++) {
				ClientCall<byte[], byte[]> call = channel.newCall(Bytes.BIDI, CallOptions.DEFAULT);
				CompletableFuture<Status> end = new CompletableFuture<>();
				CountDownLatch some = new CountDownLatch(random.nextInt(5));
				call.start(new ClientCall.Listener<>() {
					@Override
					public void onMessage(byte[] message) {
						some.countDown();
					}

					@Override
					public void onClose(Status status, Metadata trailers) {
						end.complete(status);
					}
				}, new Metadata());
				call.request(1000);
				for (int message = 0; message < 10; message++) {
					call.sendMessage(new byte[random.nextInt(100_000)]);
				}
				some.await(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
				call.cancel("seed " + seed, null);
				Assertions.assertThat(end.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS).getCode())
					.as("seed %d", seed)
					.isEqualTo(Status.Code.CANCELLED);
			}
		}
	}

	@Test
	void aServerMayEndACallBeforeItsClientHasSentAll() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture
				.serve((builder) -> builder.addService(Bytes.of(Bytes.BIDI, (call, headers) -> new Refusing(call))));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			for (int i = 0; i < 50; i++) {
				Collector replies = new Collector();
				StreamObserver<byte[]> requests = ClientCalls
					.asyncBidiStreamingCall(channel.newCall(Bytes.BIDI, CallOptions.DEFAULT), replies);
				for (int message = 0; message < 20; message++) {
					requests.onNext(new byte[message * 5000]);
				}
				Assertions.assertThatThrownBy(replies::await).hasMessageContaining("ABORTED: not now");
			}
		}
	}

	/** Says when it is read to the middle, and waits there. */
	private static final class HaltingStream extends ByteArrayInputStream implements KnownLength {

		private final CountDownLatch read;

		private final CountDownLatch on;

		HaltingStream(byte[] value, CountDownLatch read, CountDownLatch on) {
			super(value);
			this.read = read;
			this.on = on;
		}

		@Override
		public synchronized int read(byte[] into, int offset, int length) {
			if (this.pos > (1 << 20) + length) {
				this.read.countDown();
				Await.latch(this.on);
			}
			return super.read(into, offset, length);
		}

	}

	/** Ends its call at once. */
	private static final class Refusing extends ServerCall.Listener<byte[]> {

		Refusing(ServerCall<byte[], byte[]> call) {
			call.request(1);
			call.close(Status.ABORTED.withDescription("not now"), new Metadata());
		}

	}

	/** Replies with the sum of the lengths. */
	private static final class Adder implements StreamObserver<byte[]> {

		private final StreamObserver<byte[]> replies;

		private long sum;

		Adder(StreamObserver<byte[]> replies) {
			this.replies = replies;
		}

		@Override
		public void onNext(byte[] message) {
			this.sum += message.length;
		}

		@Override
		public void onError(Throwable failure) {
			// the call was cancelled
		}

		@Override
		public void onCompleted() {
			this.replies.onNext(bytes(this.sum));
			this.replies.onCompleted();
		}

	}

	/** Replies to each message with the same. */
	private static final class Echo implements StreamObserver<byte[]> {

		private final StreamObserver<byte[]> replies;

		Echo(StreamObserver<byte[]> replies) {
			this.replies = replies;
		}

		@Override
		public void onNext(byte[] message) {
			this.replies.onNext(message);
		}

		@Override
		public void onError(Throwable failure) {
			// the call was cancelled
		}

		@Override
		public void onCompleted() {
			this.replies.onCompleted();
		}

	}

	/** Waits for all replies. */
	private static final class Collector implements StreamObserver<byte[]> {

		private final List<byte[]> all = Collections.synchronizedList(new ArrayList<>());

		private final CompletableFuture<List<byte[]>> end = new CompletableFuture<>();

		@Override
		public void onNext(byte[] message) {
			this.all.add(message);
		}

		@Override
		public void onError(Throwable failure) {
			this.end.completeExceptionally(failure);
		}

		@Override
		public void onCompleted() {
			this.end.complete(this.all);
		}

		List<byte[]> await() throws Exception {
			return this.end.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
		}

	}

	/** Sends as long as it may. */
	private static final class Sender implements ClientResponseObserver<byte[], byte[]> {

		static final int LENGTH = 10_000;

		private final AtomicInteger sent = new AtomicInteger();

		private volatile ClientCallStreamObserver<byte[]> call;

		@Override
		public void beforeStart(ClientCallStreamObserver<byte[]> requests) {
			this.call = requests;
			requests.setOnReadyHandler(() -> {
				while (requests.isReady()) {
					requests.onNext(new byte[LENGTH]);
					this.sent.incrementAndGet();
				}
			});
		}

		void awaitStall() {
			GrpcFixture.await(() -> this.sent.get() > 3, "the client fills the window");
			StreamingCallTests.awaitStall(this.sent);
		}

		@Override
		public void onNext(byte[] message) {
			// there are none
		}

		@Override
		public void onError(Throwable failure) {
			// the call was cancelled
		}

		@Override
		public void onCompleted() {
			// the call was cancelled
		}

	}

}
