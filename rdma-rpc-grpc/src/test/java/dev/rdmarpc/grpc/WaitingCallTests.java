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
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.transport.ChannelOptions;

/** Calls above the limit of a connection wait for others to end. */
class WaitingCallTests {

	private static final int LIMIT = 3;

	private static final ChannelOptions FEW = ChannelOptions.DEFAULTS
		.withLimits(ChannelOptions.DEFAULTS.maxMessageBytes(), LIMIT);

	/** The calls that arrived, by the first byte of their requests. */
	private final Queue<Held> arrived = new ConcurrentLinkedQueue<>();

	private final AtomicInteger arrivals = new AtomicInteger();

	private Server serve(GrpcFixture fixture) throws Exception {
		return fixture.serve((
				builder) -> builder.channelOptions(FEW).directExecutor().addService(Bytes.unary((request, observer) -> {
					this.arrived.add(new Held(request, observer));
					this.arrivals.incrementAndGet();
				})));
	}

	/** Calls made before there is a connection would not be in order. */
	private static ManagedChannel connect(GrpcFixture fixture, Server server) {
		ManagedChannel channel = fixture.connect(server, (builder) -> {
		});
		GrpcFixture.await(() -> channel.getState(true) == ConnectivityState.READY, "there is a connection");
		return channel;
	}

	private static ListenableFuture<byte[]> call(ManagedChannel channel, int number) {
		return call(channel, number, CallOptions.DEFAULT);
	}

	private static ListenableFuture<byte[]> call(ManagedChannel channel, int number, CallOptions options) {
		return ClientCalls.futureUnaryCall(channel.newCall(Bytes.UNARY, options), new byte[] { (byte) number });
	}

	/** Answers the next call that arrives, and tells which it was. */
	private int answer() {
		GrpcFixture.await(() -> !this.arrived.isEmpty(), "a call arrives");
		Held held = this.arrived.remove();
		held.observer().onNext(held.request());
		held.observer().onCompleted();
		return held.request()[0];
	}

	private static Status failure(ListenableFuture<byte[]> reply) throws Exception {
		try {
			reply.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			return Status.fromThrowable(ex);
		}
		throw new AssertionError("a reply (expected: a failure)");
	}

	@Test
	void theyBeginInTheirOrder() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			ManagedChannel channel = connect(fixture, serve(fixture));
			List<ListenableFuture<byte[]>> replies = new ArrayList<>();
			for (int i = 0; i < 20; i++) {
				replies.add(call(channel, i));
			}
			GrpcFixture.await(() -> this.arrivals.get() == LIMIT, "as many calls as allowed arrive");
			replies.get(5).cancel(true);
			Assertions
				.assertThat(failure(call(channel, 20, CallOptions.DEFAULT.withDeadlineAfter(10, TimeUnit.MILLISECONDS)))
					.getCode())
				.isEqualTo(Status.Code.DEADLINE_EXCEEDED);
			List<Integer> served = new ArrayList<>();
			for (int i = 0; i < 19; i++) {
				Assertions.assertThat(this.arrivals.get()).isLessThanOrEqualTo(LIMIT + i);
				served.add(answer());
			}
			List<Integer> expected = new ArrayList<>();
			for (int i = 0; i < 20; i++) {
				if (i != 5) {
					expected.add(i);
					Assertions.assertThat(replies.get(i).get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS))
						.containsExactly(i);
				}
			}
			Assertions.assertThat(served).isEqualTo(expected);
			Assertions.assertThat(this.arrivals.get()).isEqualTo(19);
		}
	}

	@Test
	void aShutdownWaitsForThem() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			ManagedChannel channel = connect(fixture, serve(fixture));
			List<ListenableFuture<byte[]>> replies = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				replies.add(call(channel, i));
			}
			GrpcFixture.await(() -> this.arrivals.get() == LIMIT, "as many calls as allowed arrive");
			channel.shutdown();
			for (int i = 0; i < 10; i++) {
				answer();
			}
			for (ListenableFuture<byte[]> reply : replies) {
				Assertions.assertThat(reply.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).hasSize(1);
			}
			Assertions.assertThat(channel.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void theyEndWithTheirChannel() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			ManagedChannel channel = connect(fixture, serve(fixture));
			List<ListenableFuture<byte[]>> replies = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				replies.add(call(channel, i));
			}
			GrpcFixture.await(() -> this.arrivals.get() == LIMIT, "as many calls as allowed arrive");
			channel.shutdownNow();
			for (ListenableFuture<byte[]> reply : replies) {
				Assertions.assertThat(failure(reply).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
			}
			Assertions.assertThat(channel.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	/** They have not been sent, so that gRPC makes them on the next connection. */
	@Test
	void theyGoElsewhereWhenTheirConnectionEnds() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server first = serve(fixture);
			ManagedChannel channel = connect(fixture, first);
			List<ListenableFuture<byte[]>> replies = new ArrayList<>();
			for (int i = 0; i < 2 * LIMIT; i++) {
				replies.add(call(channel, i, CallOptions.DEFAULT.withWaitForReady()));
			}
			GrpcFixture.await(() -> this.arrivals.get() == LIMIT, "as many calls as allowed arrive");
			int port = first.getPort();
			first.shutdownNow().awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			this.arrived.clear();
			Server second = RdmaServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
				.transport(fixture.transport())
				.addService(Bytes.unary((request, observer) -> this.arrived.add(new Held(request, observer))))
				.build()
				.start();
			try {
				for (int i = 0; i < LIMIT; i++) {
					Assertions.assertThat(failure(replies.get(i)).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
				}
				for (int i = LIMIT; i < 2 * LIMIT; i++) {
					answer();
				}
				for (int i = LIMIT; i < 2 * LIMIT; i++) {
					Assertions.assertThat(replies.get(i).get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS))
						.containsExactly(i);
				}
			}
			finally {
				second.shutdownNow().awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			}
		}
	}

	/** What is written while a stream waits is sent when it begins. */
	@Test
	void streamsKeepTheirMessages() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.channelOptions(FEW)
				.addService(Bytes.of(Bytes.BIDI, ServerCalls.asyncBidiStreamingCall(Echo::new))));
			ManagedChannel channel = connect(fixture, server);
			List<Stream> streams = new ArrayList<>();
			for (int i = 0; i < 5 * LIMIT; i++) {
				streams.add(new Stream(channel));
			}
			for (int i = 0; i < streams.size(); i++) {
				Stream stream = streams.get(i);
				stream.call.sendMessage(new byte[i]);
				stream.call.sendMessage(new byte[100_000]);
			}
			GrpcFixture.await(() -> streams.stream().filter((stream) -> stream.received.get() == 2).count() == LIMIT,
					"as many streams as allowed are echoed");
			for (int i = LIMIT; i < streams.size(); i++) {
				Assertions.assertThat(streams.get(i).call.isReady()).isFalse();
				Assertions.assertThat(streams.get(i).received.get()).isZero();
			}
			streams.get(streams.size() - 1).call.cancel("not wanted any more", null);
			streams.subList(0, streams.size() - 1).forEach((stream) -> stream.call.halfClose());
			for (int i = 0; i < streams.size() - 1; i++) {
				Stream stream = streams.get(i);
				GrpcFixture.await(() -> stream.ended != null, "the stream ends");
				Assertions.assertThat(stream.ended.isOk()).isTrue();
				Assertions.assertThat(stream.bytes.get()).isEqualTo(100_000 + i);
			}
			Assertions.assertThat(streams.get(streams.size() - 1).received.get()).isZero();
		}
	}

	@Test
	void blockingCallsWait() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture
				.serve((builder) -> builder.channelOptions(FEW).addService(Bytes.unary((request, observer) -> {
					observer.onNext(request);
					observer.onCompleted();
				})));
			ManagedChannel channel = connect(fixture, server);
			List<Thread> threads = new ArrayList<>();
			AtomicInteger answered = new AtomicInteger();
			for (int i = 0; i < 4 * LIMIT; i++) {
				Thread thread = new Thread(() -> {
					for (int j = 0; j < 100; j++) {
						ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT, new byte[j]);
						answered.incrementAndGet();
					}
				});
				threads.add(thread);
				thread.start();
			}
			for (Thread thread : threads) {
				thread.join(TimeUnit.SECONDS.toMillis(GrpcFixture.TIMEOUT_SECONDS));
			}
			Assertions.assertThat(answered.get()).isEqualTo(400 * LIMIT);
		}
	}

	@Test
	void thereIsALimitToThem() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.channelOptions(FEW)
				.addService(Bytes.of(Bytes.BIDI, ServerCalls.asyncBidiStreamingCall(Echo::new))));
			ManagedChannel channel = connect(fixture, server);
			int most = LIMIT + ChannelOptions.MAX_CALLS;
			for (int i = 0; i < most; i++) {
				new Stream(channel);
			}
			Assertions.assertThat(failure(call(channel, 1)).getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
			channel.shutdownNow();
			Assertions.assertThat(channel.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	private record Held(byte[] request, StreamObserver<byte[]> observer) {
	}

	/** Sends back what comes. */
	private record Echo(StreamObserver<byte[]> replies) implements StreamObserver<byte[]> {

		@Override
		public void onNext(byte[] value) {
			this.replies.onNext(value);
		}

		@Override
		public void onError(Throwable failure) {
			// cancelled
		}

		@Override
		public void onCompleted() {
			this.replies.onCompleted();
		}

	}

	/** A bidirectional call. */
	private static final class Stream extends ClientCall.Listener<byte[]> {

		private final ClientCall<byte[], byte[]> call;

		private final AtomicInteger received = new AtomicInteger();

		private final AtomicInteger bytes = new AtomicInteger();

		private volatile Status ended;

		Stream(ManagedChannel channel) {
			this.call = channel.newCall(Bytes.BIDI, CallOptions.DEFAULT);
			this.call.start(this, new Metadata());
			this.call.request(Integer.MAX_VALUE);
		}

		@Override
		public void onMessage(byte[] message) {
			this.bytes.addAndGet(message.length);
			this.received.incrementAndGet();
		}

		@Override
		public void onClose(Status status, Metadata trailers) {
			this.ended = status;
		}

	}

}
