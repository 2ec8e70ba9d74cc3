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

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.transport.ChannelOptions;

/**
 * Many calls of all kinds, cancelled ones and late ones among them, while their server is
 * stopped and started again. The system property {@code rdma.grpc.stress.seconds} says
 * for how long.
 */
class StressTests {

	private static final int SECONDS = Integer.getInteger("rdma.grpc.stress.seconds", 5);

	private static final int THREADS = 4;

	private static final int CALLS_AT_ONCE = 8;

	/** Fewer than the threads make, so that some calls wait. */
	private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS
		.withLimits(ChannelOptions.DEFAULTS.maxMessageBytes(), THREADS * CALLS_AT_ONCE / 2);

	private static final List<MethodDescriptor<byte[], byte[]>> METHODS = List.of(Bytes.UNARY, Bytes.SERVER,
			Bytes.CLIENT, Bytes.BIDI);

	private static final Set<Status.Code> FAILURES = Set.of(Status.Code.UNAVAILABLE, Status.Code.CANCELLED,
			Status.Code.DEADLINE_EXCEEDED);

	private final Map<MethodType, LongAdder> succeeded = new EnumMap<>(MethodType.class);

	private final LongAdder failed = new LongAdder();

	@Test
	@Timeout(value = 20, unit = TimeUnit.MINUTES)
	void callsEndWhateverHappensToTheirServer() throws Exception {
		long seed = System.nanoTime();
		METHODS.forEach((method) -> this.succeeded.put(method.getType(), new LongAdder()));
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = serveOnPortOfItsOwn(fixture, new Random(seed - 2));
			int port = server.getPort();
			ManagedChannel channel = fixture.connect(port, (builder) -> {
			});
			long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
			List<CompletableFuture<Void>> callers = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				Random random = new Random(seed + i);
				CompletableFuture<Void> caller = new CompletableFuture<>();
				callers.add(caller);
				new Thread(() -> {
					try {
						while (System.nanoTime() - deadline < 0) {
							callSome(channel, random);
						}
						caller.complete(null);
					}
					catch (Throwable ex) {
						caller.completeExceptionally(ex);
					}
				}).start();
			}
			Random random = new Random(seed - 1);
			int restarts = 0;
			while (callers.stream().anyMatch((caller) -> !caller.isDone())) {
				long before = successes();
				GrpcFixture.await(
						() -> successes() > before + 200 || callers.stream().allMatch(CompletableFuture::isDone),
						"calls succeed, seed " + seed);
				boolean graceful = random.nextBoolean();
				Server stopped = graceful ? server.shutdown() : server.shutdownNow();
				Assertions.assertThat(stopped.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS))
					.as("the server terminates, graceful %s, seed %s", graceful, seed)
					.isTrue();
				server = serve(fixture, port);
				restarts++;
			}
			for (CompletableFuture<Void> caller : callers) {
				Assertions.assertThat(caller).as("seed %s", seed).isCompleted();
			}
			server.shutdownNow().awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			Assertions.assertThat(restarts).isPositive();
			Assertions.assertThat(this.succeeded.values())
				.allSatisfy((count) -> Assertions.assertThat(count.sum()).as("seed %s", seed).isPositive());
			Assertions.assertThat(this.failed.sum()).isPositive();
		}
	}

	private long successes() {
		return this.succeeded.values().stream().mapToLong(LongAdder::sum).sum();
	}

	/**
	 * On a port that nobody is given who asks for any: neither another process nor a
	 * client that connects to it takes it while the server is away.
	 */
	private static Server serveOnPortOfItsOwn(GrpcFixture fixture, Random random) throws Exception {
		for (int attempt = 0;; attempt++) {
			try {
				return serve(fixture, 16_384 + random.nextInt(16_384));
			}
			catch (IOException ex) {
				if (attempt == 100) {
					throw ex;
				}
			}
		}
	}

	private static Server serve(GrpcFixture fixture, int port) throws Exception {
		return RdmaServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
			.transport(fixture.transport())
			.channelOptions(OPTIONS)
			.addService(ServerServiceDefinition.builder(Bytes.SERVICE)
				.addMethod(Bytes.UNARY, ServerCalls.asyncUnaryCall((request, replies) -> {
					replies.onNext(request);
					replies.onCompleted();
				}))
				.addMethod(Bytes.SERVER, ServerCalls.asyncServerStreamingCall((request, replies) -> {
					for (int i = 0; i < 5; i++) {
						replies.onNext(request);
					}
					replies.onCompleted();
				}))
				.addMethod(Bytes.CLIENT,
						ServerCalls.asyncClientStreamingCall((replies) -> new Answering(replies, false)))
				.addMethod(Bytes.BIDI, ServerCalls.asyncBidiStreamingCall((replies) -> new Answering(replies, true)))
				.build())
			.build()
			.start();
	}

	private void callSome(ManagedChannel channel, Random random) throws Exception {
		List<Running> running = new ArrayList<>();
		for (int i = 0; i < CALLS_AT_ONCE; i++) {
			running.add(call(channel, random));
		}
		for (Running call : running) {
			try {
				int received = call.replies().ended.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
				Assertions.assertThat(received).as("bytes of %s", call.type()).isEqualTo(call.expectedBytes());
				this.succeeded.get(call.type()).increment();
			}
			catch (ExecutionException ex) {
				Status status = Status.fromThrowable(ex);
				Assertions.assertThat(FAILURES).as("%s: %s", call.type(), status).contains(status.getCode());
				this.failed.increment();
			}
		}
	}

	private static Running call(ManagedChannel channel, Random random) {
		MethodDescriptor<byte[], byte[]> method = METHODS.get(random.nextInt(METHODS.size()));
		CallOptions options = random.nextBoolean() ? CallOptions.DEFAULT.withWaitForReady() : CallOptions.DEFAULT;
		if (random.nextInt(10) == 0) {
			options = options.withDeadlineAfter(random.nextInt(20), TimeUnit.MILLISECONDS);
		}
		byte[] message = new byte[random.nextInt((random.nextInt(10) == 0) ? 300_000 : 1000)];
		ClientCall<byte[], byte[]> call = channel.newCall(method, options);
		Replies replies = new Replies();
		int messages = 1 + random.nextInt(5);
		int expected = switch (method.getType()) {
			case UNARY -> {
				ClientCalls.asyncUnaryCall(call, message, replies);
				yield message.length;
			}
			case SERVER_STREAMING -> {
				ClientCalls.asyncServerStreamingCall(call, message, replies);
				yield 5 * message.length;
			}
			case CLIENT_STREAMING -> {
				send(ClientCalls.asyncClientStreamingCall(call, replies), message, messages);
				yield messages;
			}
			default -> {
				send(ClientCalls.asyncBidiStreamingCall(call, replies), message, messages);
				yield messages * message.length;
			}
		};
		if (random.nextInt(10) == 0) {
			call.cancel("not wanted any more", null);
		}
		return new Running(method.getType(), replies, expected);
	}

	private static void send(StreamObserver<byte[]> requests, byte[] message, int messages) {
		for (int i = 0; i < messages; i++) {
			requests.onNext(message);
		}
		requests.onCompleted();
	}

	/** A call that was begun. */
	private record Running(MethodType type, Replies replies, int expectedBytes) {
	}

	/** Counts the bytes that come back. */
	private static final class Replies implements StreamObserver<byte[]> {

		private final AtomicInteger bytes = new AtomicInteger();

		private final CompletableFuture<Integer> ended = new CompletableFuture<>();

		@Override
		public void onNext(byte[] value) {
			this.bytes.addAndGet(value.length);
		}

		@Override
		public void onError(Throwable failure) {
			this.ended.completeExceptionally(failure);
		}

		@Override
		public void onCompleted() {
			this.ended.complete(this.bytes.get());
		}

	}

	/** Answers each message, or all of them with as many bytes as there were messages. */
	private static final class Answering implements StreamObserver<byte[]> {

		private final StreamObserver<byte[]> replies;

		private final boolean each;

		private int messages;

		Answering(StreamObserver<byte[]> replies, boolean each) {
			this.replies = replies;
			this.each = each;
		}

		@Override
		public void onNext(byte[] value) {
			this.messages++;
			if (this.each) {
				this.replies.onNext(value);
			}
		}

		@Override
		public void onError(Throwable failure) {
			// cancelled
		}

		@Override
		public void onCompleted() {
			if (!this.each) {
				this.replies.onNext(new byte[this.messages]);
			}
			this.replies.onCompleted();
		}

	}

}
