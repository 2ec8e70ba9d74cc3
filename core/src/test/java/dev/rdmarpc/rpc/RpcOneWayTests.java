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

package dev.rdmarpc.rpc;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.Frames;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Calls that end for the caller when their request was sent. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcOneWayTests {

	private static final int REQUEST = 3;

	private static final int REPLY = 4;

	private static final int PONG = 9;

	private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(Signals.class, new FlatBuffersCodec());

	private final SignalService service = new SignalService();

	private static long id(String method) {
		return MethodDescriptor.idOf(Signals.class.getName(), method);
	}

	@ParameterizedTest
	@EnumSource(Dispatch.class)
	void theCallerDoesNotWaitForTheHandler(Dispatch dispatch) {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(
						RpcFixture.serverOptions(0).withHandlers(HandlerOptions.DEFAULTS.withDispatch(dispatch)),
						Signals.class, this.service);
				RpcClient client = fixture.newClient(server)) {
			Signals signals = client.proxy(Signals.class);
			for (int i = 0; i < 5; i++) {
				signals.hold();
			}
			RpcFixture.awaitTrue(() -> server.activeCalls() == 5);
			this.service.release.countDown();
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
			assertThat(this.service.held).hasValue(5);
		}
	}

	/** Far more than there are request ids, credits and threads. */
	@Test
	void everyCallArrives() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(RpcFixture.serverOptions(0).withLimits(10, 100_000),
						Signals.class, this.service);
				RpcClient client = fixture.newClient(server,
						(options) -> options.withChannel(ChannelOptions.DEFAULTS.withLimits(1 << 20, 4)))) {
			Signals signals = client.proxy(Signals.class);
			for (int i = 0; i < 20_000; i++) {
				signals.count(1);
			}
			RpcFixture.awaitTrue(() -> this.service.counted.get() == 20_000);
			assertThat(signals.counted()).isEqualTo(20_000);
			RpcFixture.assertServesOn(server, client);
		}
	}

	/** In one frame, in several, and Read by the server. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 100, 8000, 30_000, 1 << 20 })
	void messagesOfAnySizeArrive(int bytes) {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Signals.class, this.service);
				RpcClient client = fixture.newClient(server)) {
			Signals signals = client.proxy(Signals.class);
			for (int i = 0; i < 20; i++) {
				signals.store(new byte[bytes]);
			}
			RpcFixture.awaitTrue(() -> this.service.counted.get() == 20L * bytes);
		}
	}

	/** What was lent to the call is not needed any more when it returns. */
	@ParameterizedTest
	@ValueSource(ints = { 1000, 1 << 20 })
	void registeredMemoryCanBeUsedAgain(int bytes) {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Signals.class, this.service);
				RpcClient client = fixture.newClient(server)) {
			Signals signals = client.proxy(Signals.class);
			RegisteredBuffer buffer = fixture.clientMemory.allocate(bytes);
			try {
				for (byte i = 0; i < 20; i++) {
					for (int at = 0; at < bytes; at++) {
						buffer.buffer().put(at, i);
					}
					signals.check(buffer, i);
				}
			}
			finally {
				buffer.release();
			}
			RpcFixture.awaitTrue(() -> this.service.counted.get() == 20);
			assertThat(this.service.wrong).hasValue(0);
		}
	}

	/** There is no memory to read it, and then no connection any more. */
	@Test
	void aRequestThatIsLostFails() {
		UnaryOperator<RpcServerOptions> large = (options) -> options
			.withChannel(ChannelOptions.DEFAULTS.withLimits(16 << 20, 64));
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), UnaryOperator.identity(), 4L << 20);
				RpcServer server = fixture.startServer(large.apply(RpcFixture.serverOptions(0)), Signals.class,
						this.service);
				RpcClient client = fixture.newClient(server)) {
			Signals signals = client.proxy(Signals.class);
			signals.count(1);
			CompletableFuture<Void> call = CompletableFuture.runAsync(() -> signals.store(new byte[8 << 20]));
			RpcFixture.awaitTrue(() -> client.metrics().outstandingCalls() == 1);
			RpcFixture.awaitTrue(() -> {
				server.channels().forEach((channel) -> channel.close("by the test"));
				return call.isDone();
			});
			assertThat(catchThrowable(call::join)).cause()
				.isInstanceOfSatisfying(RpcException.class,
						(lost) -> assertThat(lost.status()).isEqualTo(RpcStatus.UNAVAILABLE));
			assertThat(this.service.counted).hasValue(1);
		}
	}

	@Test
	void aHandlerGoesOnWhenItsCallerHasGone() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Signals.class, this.service)) {
			try (RpcClient client = fixture.newClient(server)) {
				client.proxy(Signals.class).hold();
				RpcFixture.awaitTrue(() -> server.activeCalls() == 1);
			}
			RpcFixture.awaitTrue(() -> server.channels().isEmpty());
			assertThat(server.activeCalls()).isEqualTo(1);
			this.service.release.countDown();
			RpcFixture.awaitTrue(() -> this.service.held.get() == 1);
		}
	}

	@Test
	void aHandlerIsInterruptedWhenTheServerStops() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(
						RpcFixture.serverOptions(0).withDrainTimeout(Duration.ofMillis(50)), Signals.class,
						this.service);
				RpcClient client = fixture.newClient(server)) {
			client.proxy(Signals.class).hold();
			RpcFixture.awaitTrue(() -> this.service.begun.get() == 1);
			server.stop();
			RpcFixture.awaitTrue(() -> this.service.interrupted.get() == 1);
		}
	}

	@Test
	void aFailureIsLoggedAndObservedAtTheServerOnly() {
		Logger logger = (Logger) LoggerFactory.getLogger(HandlerFailures.class);
		ListAppender<ILoggingEvent> lines = new ListAppender<>();
		lines.start();
		logger.addAppender(lines);
		List<RpcStatus> ends = new CopyOnWriteArrayList<>();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = RpcServer.builder()
					.transport(fixture.serverTransport)
					.options(RpcFixture.serverOptions(0))
					.service(Signals.class, this.service)
					.observer((method, peer, metadata) -> observation(ends))
					.build()
					.start();
				RpcClient client = fixture.newClient(server)) {
			Signals signals = client.proxy(Signals.class);
			for (int i = 0; i < 100; i++) {
				signals.fail("refused");
			}
			signals.fail("broken");
			signals.count(1);
			RpcFixture.awaitTrue(() -> ends.size() == 102);
			assertThat(ends.stream().filter((status) -> status == RpcStatus.NOT_FOUND)).hasSize(100);
			assertThat(ends.stream().filter((status) -> status == RpcStatus.UNKNOWN)).hasSize(1);
			assertThat(List.copyOf(lines.list).stream().filter((line) -> line.getLevel() == Level.WARN))
				.hasSizeBetween(2, 50);
			RpcFixture.assertServesOn(server, client);
		}
		finally {
			logger.detachAppender(lines);
		}
	}

	private static CallObservation observation(List<RpcStatus> ends) {
		return new CallObservation() {

			@Override
			public Scope openScope() {
				return Scope.NONE;
			}

			@Override
			public void callEnded(RpcStatus status, @Nullable Throwable error) {
				ends.add(status);
			}

		};
	}

	@Test
	void withoutConnectionItFails() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Signals.class, this.service)) {
			try (RpcClient client = fixture.newClient(server)) {
				Signals signals = client.proxy(Signals.class);
				signals.count(1);
				RpcFixture.awaitTrue(() -> this.service.counted.get() == 1);
				server.stop();
				RpcFixture.awaitTrue(() -> client.state() != ConnectionState.READY);
				assertThat(RpcFixture.failureOf(() -> signals.count(1)).status()).isEqualTo(RpcStatus.UNAVAILABLE);
			}
		}
	}

	/** Which is what bounds those who do not wait for replies. */
	@Test
	void aCallWaitsForCredits() throws InterruptedException {
		try (RpcFixture fixture = new RpcFixture(); RawPeer server = RawPeer.listen()) {
			try (RpcClient client = fixture.newClient(server::address, RpcClientOptions.DEFAULTS)) {
				Signals signals = CallOptions.deadline(Duration.ofSeconds(8)).on(client.proxy(Signals.class));
				CompletableFuture<Integer> sent = RpcFixture.inThread(() -> {
					int calls = 0;
					while (true) {
						try {
							signals.count(1);
							calls++;
						}
						catch (RpcException ex) {
							assertThat(ex.status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
							return calls;
						}
					}
				});
				server.accept();
				server.send(Frames.withOneWay(Frames.hello(2, 8)));
				for (int i = 0; i < 4; i++) {
					assertThat(server.receive(REQUEST)[1] & 0x10).isEqualTo(0x10);
				}
				server.pollUntil(sent::isDone);
				assertThat(sent.join()).isBetween(4, 8);
			}
		}
	}

	/** Which sends a reply that is waited for. */
	@Test
	void aServerThatDoesNotKnowSuchCallsReplies() throws InterruptedException {
		try (RpcFixture fixture = new RpcFixture(); RawPeer server = RawPeer.listen()) {
			try (RpcClient client = fixture.newClient(server::address, RpcClientOptions.DEFAULTS)) {
				CompletableFuture<String> call = RpcFixture.inThread(() -> {
					client.proxy(Signals.class).count(1);
					return "";
				});
				server.accept();
				server.send(Frames.hello(2, 32));
				byte[] request = server.receive(REQUEST);
				assertThat(request[1]).isZero();
				assertThat(call).isNotDone();
				server.sendFairly(Frames.reply(0, RawPeer.view(request).getInt(4), 0, 0, new byte[0]));
				server.pollUntil(call::isDone);
				call.join();
			}
		}
	}

	@Test
	void lateRepliesOfAServerAreIgnored() throws InterruptedException {
		try (RpcFixture fixture = new RpcFixture(); RawPeer server = RawPeer.listen()) {
			try (RpcClient client = fixture.newClient(server::address, RpcClientOptions.DEFAULTS)) {
				Signals signals = client.proxy(Signals.class);
				CompletableFuture<String> call = RpcFixture.inThread(() -> {
					signals.count(1);
					return "";
				});
				server.accept();
				server.send(Frames.withOneWay(Frames.hello(2, 32)));
				byte[] request = server.receive(REQUEST);
				server.pollUntil(call::isDone);
				int id = RawPeer.view(request).getInt(4);
				CompletableFuture<Long> next = RpcFixture.inThread(signals::counted);
				byte[] second = server.receive(REQUEST);
				assertThat(second[1]).isZero();
				server.sendFairly(Frames.reply(0, id, 13, 0, new byte[0]));
				server.sendFairly(Frames.reply(0, id, 0, 4, new byte[2]));
				assertThat(next).isNotDone();
				server.sendFairly(Frames.reply(0, RawPeer.view(second).getInt(4), 5, 0, new byte[0]));
				server.pollUntil(next::isDone);
				assertThat(next).isCompletedExceptionally();
				assertThat(client.state()).isEqualTo(ConnectionState.READY);
			}
		}
	}

	@Test
	void onlyRefusalsAreRepliedTo() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Signals.class, this.service);
				RawPeer peer = RawPeer.open(server.port(), 32)) {
			byte[] request = Frames.oneWay(Frames.request(0, 1, id("fail"), 0, 0, new byte[0]));
			peer.sendFairly(request);
			peer.sendFairly(Frames.oneWay(Frames.request(0, 0x10001, id("release"), 0, 0, new byte[0])));
			RpcFixture.awaitTrue(() -> this.service.release.getCount() == 0 && server.activeCalls() == 0);
			peer.sendFairly(Frames.control(8, 0, 0));
			byte[] next = peer.receive();
			while (next[0] == 7) {
				next = peer.receive();
			}
			assertThat(next[0]).as("nothing but credits before the PONG").isEqualTo((byte) PONG);
			peer.sendFairly(Frames.oneWay(Frames.request(0, 2, id("none"), 0, 0, new byte[0])));
			byte[] refusal = peer.receive(REPLY);
			assertThat(RawPeer.view(refusal).getInt(4)).isEqualTo(2);
			assertThat(refusal[16]).isEqualTo((byte) RpcStatus.UNIMPLEMENTED.code());
		}
	}

	/** Nothing would stop its handler. */
	@Test
	void aMethodWithAReplyIsNotCalledWithoutOne() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Signals.class, this.service);
				RawPeer peer = RawPeer.open(server.port(), 32)) {
			peer.sendFairly(Frames.oneWay(Frames.request(0, 3, id("counted"), 0, 0, new byte[0])));
			byte[] refusal = peer.receive(REPLY);
			assertThat(RawPeer.view(refusal).getInt(4)).isEqualTo(3);
			assertThat(refusal[16]).isEqualTo((byte) RpcStatus.UNIMPLEMENTED.code());
			assertThat(server.activeCalls()).isZero();
		}
	}

	/** The server keeps nothing by that id, so that there is nothing to cancel. */
	@Test
	void idsOfRunningCallsCanBeUsedAgain() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Signals.class, this.service)) {
			try (RawPeer peer = RawPeer.open(server.port(), 32)) {
				for (int i = 0; i < 20; i++) {
					peer.sendFairly(Frames.oneWay(Frames.request(0, 1, id("hold"), 0, 0, new byte[0])));
				}
				RpcFixture.awaitTrue(() -> server.activeCalls() == 20);
				peer.sendFairly(Frames.control(6, 0, 1));
				peer.sendFairly(Frames.request(0, 1, id("counted"), 0, 0, new byte[0]));
				assertThat(peer.receive(REPLY)[16]).isZero();
				assertThat(server.activeCalls()).isEqualTo(20);
			}
			this.service.release.countDown();
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
			assertThat(this.service.held).hasValue(20);
		}
	}

	@Test
	void aPeerThatCallsWithoutEndIsRefused() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(RpcFixture.serverOptions(0).withLimits(10, 10), Signals.class,
						this.service)) {
			try (RawPeer peer = RawPeer.open(server.port(), 32)) {
				for (int i = 0; i < 100; i++) {
					peer.sendFairly(Frames.oneWay(Frames.request(0, i, id("hold"), 0, 0, new byte[0])));
				}
				byte[] refusal = peer.receive(REPLY);
				assertThat(refusal[16]).isEqualTo((byte) RpcStatus.RESOURCE_EXHAUSTED.code());
				assertThat(server.activeCalls()).isLessThanOrEqualTo(10);
			}
			this.service.release.countDown();
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
		}
	}

	@Test
	void aMethodThatHasSomethingToSayCannotBeOneWay() {
		List<Class<?>> wrong = List.of(Returning.class, Declaring.class, Consuming.class, Later.class);
		List<String> problems = List.of("returns int", "declares IOException", "takes a stream",
				"returns CompletableFuture");
		for (int i = 0; i < wrong.size(); i++) {
			Class<?> type = wrong.get(i);
			String problem = problems.get(i);
			assertThatExceptionOfType(InvalidInterfaceException.class)
				.isThrownBy(() -> ServiceDescriptor.of(type, new FlatBuffersCodec()))
				.withMessageContaining("@RdmaMethod(oneWay = true) on " + type.getName() + "/call, which " + problem);
		}
		assertThat(SERVICE.methods()).filteredOn(MethodDescriptor::oneWay).hasSizeGreaterThan(3);
	}

	/** The service. */
	interface Signals {

		@RdmaMethod(oneWay = true)
		void hold();

		@RdmaMethod(oneWay = true)
		void release();

		@RdmaMethod(oneWay = true)
		void count(int more);

		@RdmaMethod(oneWay = true)
		void store(byte[] bytes);

		@RdmaMethod(oneWay = true)
		void check(RegisteredBuffer bytes, byte value);

		@RdmaMethod(oneWay = true)
		void fail(String how);

		long counted();

	}

	/** A mistake. */
	interface Returning {

		@RdmaMethod(oneWay = true)
		int call();

	}

	/** A mistake. */
	interface Declaring {

		@RdmaMethod(oneWay = true)
		void call() throws IOException;

	}

	/** A mistake. */
	interface Consuming {

		@RdmaMethod(oneWay = true)
		void call(Stream<String> texts);

	}

	/** A mistake. */
	interface Later {

		@RdmaMethod(oneWay = true)
		CompletableFuture<Void> call();

	}

	private static final class SignalService implements Signals {

		private final CountDownLatch release = new CountDownLatch(1);

		private final AtomicInteger begun = new AtomicInteger();

		private final AtomicInteger held = new AtomicInteger();

		private final AtomicInteger interrupted = new AtomicInteger();

		private final AtomicInteger counted = new AtomicInteger();

		private final AtomicInteger wrong = new AtomicInteger();

		@Override
		public void hold() {
			this.begun.incrementAndGet();
			try {
				if (this.release.await(50, TimeUnit.SECONDS)) {
					this.held.incrementAndGet();
				}
			}
			catch (InterruptedException ex) {
				this.interrupted.incrementAndGet();
			}
		}

		@Override
		public void release() {
			this.release.countDown();
		}

		@Override
		public void count(int more) {
			this.counted.addAndGet(more);
		}

		@Override
		public void store(byte[] bytes) {
			count(bytes.length);
		}

		@Override
		public void check(RegisteredBuffer bytes, byte value) {
			for (int at = 0; at < bytes.length(); at++) {
				if (bytes.buffer().get(at) != value) {
					this.wrong.incrementAndGet();
				}
			}
			count(1);
		}

		@Override
		public void fail(String how) {
			if (how != null && how.equals("broken")) {
				throw new IllegalStateException("broken");
			}
			throw new RpcException(RpcStatus.NOT_FOUND, "on purpose");
		}

		@Override
		public long counted() {
			return this.counted.get();
		}

	}

}
