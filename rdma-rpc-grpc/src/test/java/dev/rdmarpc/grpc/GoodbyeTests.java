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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.ChannelListener;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ChannelState;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;

/** What becomes of calls while a server ends their connection in an orderly way. */
class GoodbyeTests {

	private static final int PIPELINED = 32;

	private static final int HELD = 200;

	private static final int SMALL_REPLY = 3000;

	private static final int LARGE_REPLY = 300_000;

	private static final byte[] CALL = RawCaller.head(16, 0, 0, "test.Bytes/Unary\0\0\0\0\2ab");

	private static final byte[] HELD_CALL = RawCaller.head(16, 0, 0, "test.Bytes/Unary\0\0\0\0\1h");

	private static ServerServiceDefinition echo() {
		return ServerServiceDefinition.builder(Bytes.SERVICE)
			.addMethod(Bytes.UNARY, ServerCalls.asyncUnaryCall((byte[] request, StreamObserver<byte[]> observer) -> {
				observer.onNext(request);
				observer.onCompleted();
			}))
			.addMethod(Bytes.SERVER,
					ServerCalls.asyncServerStreamingCall((byte[] request, StreamObserver<byte[]> observer) -> {
						observer.onNext(request);
						observer.onNext(request);
						observer.onCompleted();
					}))
			.build();
	}

	/** Holds the calls with a message of one byte, and answers others at once. */
	private static ServerServiceDefinition holding(Queue<StreamObserver<byte[]>> held) {
		return Bytes.unary((request, observer) -> {
			if (request.length == 1) {
				held.add(observer);
				return;
			}
			observer.onNext(request);
			observer.onCompleted();
		});
	}

	@Test
	void aCallerThatGoesOnCallingDoesNotKeepTheServer() throws Exception {
		Queue<StreamObserver<byte[]>> held = new ConcurrentLinkedQueue<>();
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture
				.serve((builder) -> builder.farewell(50, TimeUnit.MILLISECONDS).addService(holding(held)));
			RawCaller caller = RawCaller.open(fixture, server);
			RawCaller.Call taken = new RawCaller.Call(null);
			RawCaller.submit(taken, caller.channel(), GrpcProtocol.CALL, HELD_CALL);
			Endless calls = new Endless(caller);
			calls.begin();
			GrpcFixture.await(() -> calls.answered.get() > PIPELINED && !held.isEmpty(), "calls are answered");
			server.shutdown();
			GrpcFixture.await(() -> calls.refused.get() > PIPELINED, "calls are refused");
			Assertions.assertThat(caller.isClosed()).as("closed while a call is open").isFalse();
			held.element().onNext(new byte[0]);
			held.element().onCompleted();
			Assertions.assertThat(taken.reply.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS).status())
				.isEqualTo(Status.Code.OK);
			Assertions.assertThat(server.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
			GrpcFixture.await(caller::isClosed, "the connection is closed");
			Assertions.assertThat(calls.wrong).isEmpty();
		}
	}

	@Test
	void aCallerThatGoesOnCallingDoesNotKeepAnOldConnection() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.farewell(50, TimeUnit.MILLISECONDS)
				.maxConnectionAge(10, TimeUnit.MILLISECONDS)
				.addService(echo()));
			RawCaller caller = RawCaller.open(fixture, server);
			new Endless(caller).begin();
			GrpcFixture.await(caller::isClosed, "the connection is closed");
		}
	}

	@Test
	void aCallerThatStaysAndIsSilentDoesNotKeepTheServer() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.farewell(50, TimeUnit.MILLISECONDS).addService(echo()));
			RawCaller caller = RawCaller.open(fixture, server);
			Assertions.assertThat(RawCaller.call(caller.channel(), GrpcProtocol.CALL, CALL).status())
				.isEqualTo(Status.Code.OK);
			server.shutdown();
			Assertions.assertThat(server.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	/** Of a caller that does not read for a while, and calls all the time. */
	@Test
	void repliesOfCallsThatWereTakenAreNotCutOff() throws Exception {
		Queue<StreamObserver<byte[]>> held = new ConcurrentLinkedQueue<>();
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = fixture.serve((builder) -> builder.farewell(20, TimeUnit.MILLISECONDS)
				.channelOptions(RawCaller.STEADY)
				.addService(holding(held)));
			RawCaller caller = RawCaller.open(fixture, server);
			RpcChannel channel = caller.channel();
			List<RawCaller.Call> taken = new ArrayList<>();
			for (int i = 0; i < HELD; i++) {
				RawCaller.Call call = new RawCaller.Call(null);
				RawCaller.submit(call, channel, GrpcProtocol.CALL, HELD_CALL);
				taken.add(call);
			}
			GrpcFixture.await(() -> held.size() == HELD, "all calls are held");
			RdmaServerTransport transport = transport(fixture);
			server.shutdown();
			GrpcFixture.await(() -> isRefused(channel), "calls are refused");
			new Endless(caller).begin();
			CountDownLatch blocked = new CountDownLatch(1);
			CountDownLatch released = new CountDownLatch(1);
			Thread driver = new Thread(() -> channel.loop().execute(() -> block(blocked, released)));
			driver.start();
			try {
				blocked.await();
				int count = 0;
				for (StreamObserver<byte[]> call : held) {
					call.onNext(new byte[(count++ % 20 == 0) ? LARGE_REPLY : SMALL_REPLY]);
					call.onCompleted();
				}
				GrpcFixture.await(() -> isSilent(transport), "nothing is left but the replies");
			}
			finally {
				released.countDown();
			}
			driver.join();
			for (RawCaller.Call call : taken) {
				RawCaller.Reply reply = call.reply.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
				Assertions.assertThat(reply.failure()).isNull();
				Assertions.assertThat(reply.status()).isEqualTo(Status.Code.OK);
				Assertions.assertThat(reply.message().length).isGreaterThan(SMALL_REPLY);
			}
			Assertions.assertThat(taken)
				.filteredOn((call) -> call.reply.join().message().length > LARGE_REPLY)
				.hasSize(HELD / 20);
			GrpcFixture.await(caller::isClosed, "the connection is closed");
			Assertions.assertThat(server.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
	}

	private static RdmaServerTransport transport(GrpcFixture fixture) {
		return (RdmaServerTransport) fixture.transport()
			.loops()
			.stream()
			.filter((loop) -> loop.name().startsWith("rdma-grpc-server"))
			.flatMap((loop) -> loop.channels().stream())
			.findFirst()
			.orElseThrow()
			.handler();
	}

	private static boolean isRefused(RpcChannel channel) {
		try {
			RawCaller.Reply reply = RawCaller.call(channel, GrpcProtocol.CALL, CALL);
			Assertions.assertThat(reply.status())
				.isEqualTo(reply.isRefused() ? Status.Code.UNAVAILABLE : Status.Code.OK);
			return reply.isRefused();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Whether it waits for the last replies to be sent, or has not done so. */
	private static boolean isSilent(RdmaServerTransport transport) {
		RpcChannel channel = transport.channel();
		CompletableFuture<Boolean> silent = new CompletableFuture<>();
		channel.loop()
			.execute(() -> silent.complete(!transport.farewell().answers() || channel.state() == ChannelState.CLOSED));
		return silent.orTimeout(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
	}

	private static void block(CountDownLatch begun, CountDownLatch released) {
		begun.countDown();
		try {
			released.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void aClientWithManyCallsLosesNoneWhenItsConnectionsGetOld() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			AtomicInteger ended = new AtomicInteger();
			Server server = fixture.serve((builder) -> builder.addService(echo())
				.maxConnectionAge(30, TimeUnit.MILLISECONDS)
				.addTransportFilter(new ServerTransportFilter() {
					@Override
					public void transportTerminated(Attributes attributes) {
						ended.incrementAndGet();
					}
				}));
			ManagedChannel channel = fixture.connect(server, (builder) -> {
			});
			Load load = new Load(channel);
			load.begin();
			GrpcFixture.await(() -> ended.get() >= 10 || !load.failures.isEmpty(), "connections have been replaced");
			load.over.set(true);
			GrpcFixture.await(() -> load.open.get() == 0, "the last calls have ended");
			Assertions.assertThat(load.failures).isEmpty();
			Assertions.assertThat(load.answered).hasPositiveValue();
		}
	}

	/** gRPC repeats it once by itself, whatever the method is. */
	@Test
	void aRefusedCallIsRepeated() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture(); Refusing server = new Refusing(fixture, 1)) {
			ManagedChannel channel = fixture.connect(server.port(), (builder) -> {
			});
			Assertions.assertThat(ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT, new byte[3]))
				.isEmpty();
			Assertions.assertThat(server.requests).hasValue(2);
		}
	}

	@Test
	void aServerThatRefusesAllCallsIsUnavailable() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture(); Refusing server = new Refusing(fixture, Integer.MAX_VALUE)) {
			ManagedChannel channel = fixture.connect(server.port(), (builder) -> {
			});
			Assertions.assertThatExceptionOfType(StatusRuntimeException.class)
				.isThrownBy(() -> ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT, new byte[3]))
				.withMessage("UNAVAILABLE: not here");
			Assertions.assertThat(server.requests).hasValue(2);
		}
	}

	/** Makes a call for each that ends, whatever it is told. */
	private static final class Endless {

		private final RawCaller caller;

		private final AtomicInteger answered = new AtomicInteger();

		private final AtomicInteger refused = new AtomicInteger();

		private final Queue<RawCaller.Reply> wrong = new ConcurrentLinkedQueue<>();

		Endless(RawCaller caller) {
			this.caller = caller;
		}

		void begin() {
			for (int i = 0; i < PIPELINED; i++) {
				next();
			}
		}

		private void next() {
			RawCaller.Call call = new RawCaller.Call(null);
			call.reply.thenAccept((reply) -> {
				if (reply.failure() != null) {
					return;
				}
				if (reply.status() == Status.Code.OK) {
					this.answered.incrementAndGet();
				}
				else if (reply.status() == Status.Code.UNAVAILABLE && reply.isRefused()) {
					this.refused.incrementAndGet();
				}
				else {
					this.wrong.add(reply);
				}
				next();
			});
			try {
				RawCaller.submit(call, this.caller.channel(), GrpcProtocol.CALL, CALL);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	/** Calls of two kinds, each of which is followed by another one. */
	private static final class Load {

		private final ManagedChannel channel;

		private final AtomicBoolean over = new AtomicBoolean();

		private final AtomicInteger open = new AtomicInteger();

		private final AtomicInteger answered = new AtomicInteger();

		private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

		Load(ManagedChannel channel) {
			this.channel = channel;
		}

		void begin() {
			for (int i = 0; i < HELD; i++) {
				this.open.incrementAndGet();
				next(i);
			}
		}

		private void next(int kind) {
			byte[] message = new byte[(kind % 50 == 0) ? LARGE_REPLY : kind];
			StreamObserver<byte[]> observer = new StreamObserver<>() {

				private int messages;

				@Override
				public void onNext(byte[] value) {
					this.messages++;
				}

				@Override
				public void onError(Throwable failure) {
					Load.this.failures.add(failure);
					Load.this.open.decrementAndGet();
				}

				@Override
				public void onCompleted() {
					if (this.messages != 1 + kind % 2) {
						Load.this.failures.add(new IllegalStateException(this.messages + " messages"));
					}
					Load.this.answered.incrementAndGet();
					if (Load.this.over.get()) {
						Load.this.open.decrementAndGet();
					}
					else {
						next(kind);
					}
				}

			};
			if (kind % 2 == 0) {
				ClientCalls.asyncUnaryCall(this.channel.newCall(Bytes.UNARY, CallOptions.DEFAULT), message, observer);
			}
			else {
				ClientCalls.asyncServerStreamingCall(this.channel.newCall(Bytes.SERVER, CallOptions.DEFAULT), message,
						observer);
			}
		}

	}

	/** A server that refuses the first calls and answers others with an empty message. */
	private static final class Refusing implements ChannelHandler, AutoCloseable {

		private final AtomicInteger requests = new AtomicInteger();

		private final int refusals;

		private final List<ChannelLoop> loops;

		private final ChannelListener listener;

		Refusing(GrpcFixture fixture, int refusals) {
			this.refusals = refusals;
			this.loops = fixture.transport().startLoops(fixture.transport().rail(), "refusing-", 1, 8192);
			this.listener = fixture.transport()
				.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), this.loops, 16,
						GrpcProtocol.options(ChannelOptions.DEFAULTS, 0, 0, ServerSettings.NEVER, 0), () -> this);
		}

		int port() {
			return this.listener.localAddress().getPort();
		}

		@Override
		public String codec() {
			return GrpcProtocol.CODEC;
		}

		@Override
		public void onOpen(RpcChannel channel) {
			// the peer calls
		}

		@Override
		public void onRequest(RpcChannel channel, IncomingMessage request) {
			MessageSegments message = new MessageSegments();
			Status.Code status = Status.Code.OK;
			if (this.requests.getAndIncrement() < this.refusals) {
				status = Status.Code.UNAVAILABLE;
				ReplyHead.addRefusal(message, "not here");
			}
			else {
				ReplyHead.add(message, HeaderBlock.NONE, HeaderBlock.NONE, null);
				message.addBytes(StandardCharsets.US_ASCII.encode("\0\0\0\0\0"));
			}
			channel.prepareReply(request.requestId(), status.value(), RequestTemplate.NO_METADATA, message).submit();
			message.clear();
		}

		@Override
		public void onUnreadableRequest(RpcChannel channel, int requestId, String detail) {
			channel.close("unexpected");
		}

		@Override
		public void onCancel(RpcChannel channel, int requestId) {
			// each is answered at once
		}

		@Override
		public void onGoodbye(RpcChannel channel) {
			// the caller closes
		}

		@Override
		public void onClosed(RpcChannel channel, String reason) {
			// the caller has gone
		}

		@Override
		public void close() {
			this.listener.close();
			this.loops.forEach(ChannelLoop::close);
		}

	}

}
