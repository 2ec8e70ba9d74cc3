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

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.iwarp.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Connections that are not there yet, not there any more, or about to go. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcConnectionTests {

	private static final Duration LONG = Duration.ofSeconds(50);

	@Test
	void pausesGrowFromFailureToFailure() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			List<Long> attempts = new ArrayList<>();
			CountDownLatch enough = new CountDownLatch(7);
			InetSocketAddress nobody = Nobody.address();
			Supplier<InetSocketAddress> addresses = () -> {
				attempts.add(System.nanoTime());
				enough.countDown();
				return nobody;
			};
			RpcClientOptions options = RpcClientOptions.DEFAULTS.withBackoff(Duration.ofMillis(8),
					Duration.ofMillis(100));
			try (RpcClient client = fixture.newClient(addresses, options)) {
				client.connect();
				assertThat(enough.await(20, TimeUnit.SECONDS)).isTrue();
				assertThat(client.lastFailure()).isNotEmpty();
			}
			for (int i = 1; i < 7; i++) {
				long pause = Math.min(100, 8L << (i - 1));
				assertThat(attempts.get(i) - attempts.get(i - 1)).as("pause %d", i)
					.isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(pause) / 2);
			}
		}
	}

	/** Every quarter of a second, however long the pauses would be. */
	@Test
	void theTargetIsTriedSoonAsLongAsACallWaitsForIt() throws Exception {
		AtomicInteger attempts = new AtomicInteger();
		InetSocketAddress nobody = Nobody.address();
		Supplier<InetSocketAddress> addresses = () -> {
			attempts.incrementAndGet();
			return nobody;
		};
		RpcClientOptions waiting = RpcClientOptions.DEFAULTS.withBackoff(Duration.ofHours(1), Duration.ofHours(9))
			.withWaitForReady(true);
		try (RpcFixture fixture = new RpcFixture(); RpcClient client = fixture.newClient(addresses, waiting)) {
			CompletableFuture<String> call = CallOptions.deadline(Duration.ofHours(1))
				.on(client.proxy(Echo.class))
				.echoAsync("x");
			RpcFixture.awaitTrue(() -> attempts.get() >= 4);
			assertThat(call.cancel(false)).isTrue();
		}
	}

	@Test
	void aCallWithoutConnectionSaysWhatIsTriedAndWhen() throws Exception {
		InetSocketAddress nobody = Nobody.address();
		RpcClientOptions patient = RpcClientOptions.DEFAULTS.withBackoff(Duration.ofSeconds(10),
				Duration.ofSeconds(10));
		RpcClientOptions hasty = patient.withConnectTimeout(Duration.ofMillis(20));
		try (RpcFixture fixture = new RpcFixture();
				RpcClient first = fixture.newClient(() -> nobody, patient);
				RpcClient second = fixture.newClient(() -> nobody, hasty)) {
			assertThat(RpcFixture.failureOf(first.proxy(Echo.class)::touch).getMessage())
				.matches(".*no connection to .* \\(next attempt in \\d+ ms\\)");
			Echo echo = second.proxy(Echo.class);
			RpcFixture.awaitTrue(() -> String.valueOf(RpcFixture.failureOf(echo::touch).getMessage())
				.matches(".*in time, after: .* \\(no attempt meanwhile, the next in \\d+ ms\\)"));
		}
	}

	@Test
	void addressThatIsNotKnownIsUnavailableWithTheReason() {
		String nowhere = RpcFixture.UNKNOWN_HOST;
		try (RpcFixture fixture = new RpcFixture();
				RpcClient unresolved = fixture.newClient(() -> InetSocketAddress.createUnresolved(nowhere, 1),
						RpcClientOptions.DEFAULTS);
				RpcClient throwing = fixture.newClient(() -> {
					throw new IllegalStateException("registry is down");
				}, RpcClientOptions.DEFAULTS)) {
			assertThat(RpcFixture.failureOf(() -> unresolved.proxy(Echo.class).touch()))
				.hasMessageContaining("UNAVAILABLE")
				.hasMessageContaining("unknown host " + nowhere);
			assertThat(RpcFixture.failureOf(() -> throwing.proxy(Echo.class).touch()))
				.hasMessageContaining("UNAVAILABLE")
				.hasMessageContaining("registry is down");
		}
	}

	@Test
	void clientOfAnotherCodecIsRefusedWithBothNames() {
		MessageCodec other = codec("smoke-signals");
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, fixture.service);
				RpcClient client = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target(TestEnvironment.host(), server.port())
					.codec(other)
					.build()) {
			assertThat(RpcFixture.failureOf(() -> client.proxy(Echo.class).echo("x")))
				.hasMessageContaining("UNAVAILABLE")
				.hasMessageContaining("codec 'smoke-signals' offered, 'flatbuffers' spoken here");
		}
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", "caf\u00E9", "two\nlines", "\u001B[2K",
			"a name of more than a hundred characters, which is more than the other side cares to read and remember" })
	void codecWhoseNameIsNotOneIsRefusedAtOnce(@Nullable String name) {
		MessageCodec codec = codec(name);
		String expected = "name '" + name + "' of the codec " + codec.getClass().getName()
				+ " (expected: 1 to 100 printable ASCII characters)";
		try (RpcFixture fixture = new RpcFixture()) {
			RpcClient.Builder client = RpcClient.builder()
				.transport(fixture.clientTransport)
				.target(TestEnvironment.host(), 1)
				.codec(codec);
			RpcServer.Builder server = RpcServer.builder()
				.transport(fixture.serverTransport)
				.service(Echo.class, fixture.service)
				.codec(codec);
			assertThatIllegalArgumentException().isThrownBy(client::build).withMessage(expected);
			assertThatIllegalArgumentException().isThrownBy(server::build).withMessage(expected);
		}
	}

	@SuppressWarnings("NullAway") // names that are none
	private static MessageCodec codec(@Nullable String name) {
		MessageCodec flatbuffers = new FlatBuffersCodec();
		return new MessageCodec() {
			@Override
			public String name() {
				return name;
			}

			@Override
			public MessageFormat arguments(MethodSignature method) {
				return flatbuffers.arguments(method);
			}

			@Override
			public MessageFormat result(MethodSignature method) {
				return flatbuffers.result(method);
			}
		};
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void deadlineHoldsWhileThereIsNoConnection(boolean waitForReady) throws Exception {
		TestEnvironment.assumeTcp();
		try (RpcFixture fixture = new RpcFixture();
				ServerSocket mute = new ServerSocket(0, 16, TestEnvironment.address());
				RpcClient client = fixture.newClient(() -> (InetSocketAddress) mute.getLocalSocketAddress(),
						RpcClientOptions.DEFAULTS)) {
			CallOptions options = CallOptions.deadline(Duration.ofMillis(100));
			Echo echo = (waitForReady ? options.withWaitForReady() : options).on(client.proxy(Echo.class));
			CompletableFuture<String> future = echo.echoAsync("anybody?");
			assertThat(RpcFixture.failureOf(() -> echo.echo("anybody?")).status())
				.isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			assertThat(failureOf(future).status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
		}
	}

	@Test
	void resolvingANameBlocksNeitherCallersNorOtherClients() throws Exception {
		CountDownLatch resolvable = new CountDownLatch(1);
		AtomicInteger asked = new AtomicInteger();
		try (RpcFixture fixture = new RpcFixture(); RpcClient slow = fixture.newClient(() -> {
			asked.incrementAndGet();
			Await.latch(resolvable);
			return fixture.server.address();
		}, RpcClientOptions.DEFAULTS)) {
			CompletableFuture<String> first = slow.proxy(Echo.class).echoAsync("late");
			assertThat(first).as("returned before the name was resolved").isNotDone();
			RpcFixture.awaitTrue(() -> asked.get() == 1);
			assertThat(fixture.echo.echo("meanwhile")).isEqualTo("meanwhile");
			resolvable.countDown();
			assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo("late");
		}
	}

	@Test
	void attemptThatIsSlowIsWaitedForByEveryCall() throws Exception {
		AtomicInteger asked = new AtomicInteger();
		Duration patience = Duration.ofSeconds(30);
		try (RpcFixture fixture = new RpcFixture(
				(options) -> options
					.withChannel(options.channel().withTimeouts(patience, patience, patience.multipliedBy(3))),
				UnaryOperator.identity());
				TcpProxy slow = new TcpProxy(fixture.server.address(), 200);
				RpcClient client = fixture.newClient(() -> {
					asked.incrementAndGet();
					return slow.address();
				}, impatient(patience))) {
			Echo hasty = CallOptions.deadline(Duration.ofMillis(50)).on(client.proxy(Echo.class));
			RpcFixture.awaitTrue(() -> {
				assertThat(RpcFixture.failureOf(hasty::touch).status()).isIn(RpcStatus.UNAVAILABLE,
						RpcStatus.DEADLINE_EXCEEDED);
				return client.state() == ConnectionState.READY;
			});
			assertThat(asked).as("attempts").hasValue(1);
			assertThat(CallOptions.deadline(LONG).on(client.proxy(Echo.class)).add(1, 2)).isEqualTo(3);
		}
	}

	@Test
	void addressThatIsSlowIsWaitedForByEveryCall() throws Exception {
		CountDownLatch resolvable = new CountDownLatch(1);
		AtomicInteger asked = new AtomicInteger();
		try (RpcFixture fixture = new RpcFixture(); RpcClient client = fixture.newClient(() -> {
			asked.incrementAndGet();
			Await.latch(resolvable);
			return fixture.server.address();
		}, impatient(Duration.ofMillis(200)))) {
			Echo hasty = CallOptions.deadline(Duration.ofMillis(50)).on(client.proxy(Echo.class));
			for (int i = 0; i < 20; i++) {
				assertThat(RpcFixture.failureOf(hasty::touch).status()).isIn(RpcStatus.UNAVAILABLE,
						RpcStatus.DEADLINE_EXCEEDED);
			}
			assertThat(asked).as("threads that ask for the address").hasValue(1);
			resolvable.countDown();
			Echo patient = CallOptions.deadline(LONG).withWaitForReady().on(client.proxy(Echo.class));
			assertThat(patient.add(1, 2)).isEqualTo(3);
		}
		finally {
			resolvable.countDown();
		}
	}

	/** Options whose calls wait for a connection for much less time than it may take. */
	private static RpcClientOptions impatient(Duration handshake) {
		RpcClientOptions defaults = RpcClientOptions.DEFAULTS;
		return defaults
			.withChannel(defaults.channel().withTimeouts(handshake, Duration.ofSeconds(30), Duration.ofSeconds(60)))
			.withConnectTimeout(Duration.ofMillis(100));
	}

	@Test
	void resolvingANameAgainDoesNotKeepOthersFromReconnecting() throws Exception {
		CountDownLatch resolvable = new CountDownLatch(1);
		AtomicInteger asked = new AtomicInteger();
		InetSocketAddress nobody = Nobody.address();
		RpcClientOptions options = RpcClientOptions.DEFAULTS.withBackoff(Duration.ofMillis(1), Duration.ofMillis(2));
		try (RpcFixture fixture = new RpcFixture();
				TcpProxy proxy = new TcpProxy(fixture.server.address());
				RpcClient stuck = fixture.newClient(() -> {
					if (asked.incrementAndGet() > 1) {
						Await.latch(resolvable);
					}
					return nobody;
				}, options);
				RpcClient other = fixture.newClient(proxy::address, options)) {
			Echo patient = CallOptions.deadline(Duration.ofSeconds(20)).withWaitForReady().on(other.proxy(Echo.class));
			assertThat(patient.echo("before")).isEqualTo("before");
			stuck.connect();
			RpcFixture.awaitTrue(() -> asked.get() == 2);
			proxy.cut(true);
			RpcFixture.awaitTrue(() -> {
				try {
					return patient.echo("after").equals("after");
				}
				catch (RpcException ex) {
					assertThat(ex.status()).isEqualTo(RpcStatus.UNAVAILABLE);
					return false;
				}
			});
			resolvable.countDown();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void deathOfTheConnectionReleasesEverybodyAtOnce(boolean reset) throws Exception {
		try (RpcFixture fixture = new RpcFixture();
				TcpProxy proxy = new TcpProxy(fixture.server.address());
				RpcClient client = fixture.newClient(proxy::address, RpcClientOptions.DEFAULTS)) {
			Echo echo = CallOptions.deadline(LONG).on(client.proxy(Echo.class));
			List<CompletableFuture<?>> calls = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				calls.add(RpcFixture.inThread(() -> echo.slow(40_000)));
				calls.add(echo.never());
			}
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 8);
			proxy.cut(reset);
			for (CompletableFuture<?> call : calls) {
				assertThat(failureOf(call).status()).isEqualTo(RpcStatus.UNAVAILABLE);
			}
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 0);
		}
	}

	@Test
	void closedClientFinishesWhatItHasBegunAndTakesNothingNew() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Echo echo = CallOptions.deadline(LONG).on(fixture.echo);
			CompletableFuture<String> running = RpcFixture.inThread(() -> echo.slow(40_000));
			CompletableFuture<byte[]> large = RpcFixture.inThread(() -> echo.bytes(new byte[8 << 20]));
			RpcFixture.awaitTrue(() -> fixture.service.running.get() == 1);
			RpcFixture
				.awaitTrue(() -> large.isDone() || fixture.clientTransport.loops().get(0).outstandingCalls() == 2);
			fixture.client.close();
			assertThat(fixture.client.state()).isEqualTo(ConnectionState.CLOSED);
			assertThat(RpcFixture.failureOf(echo::touch)).hasMessageContaining("the client is closed");
			fixture.service.release.countDown();
			assertThat(running.get(20, TimeUnit.SECONDS)).isEqualTo("released");
			assertThat(large.get(20, TimeUnit.SECONDS)).hasSize(8 << 20);
			RpcFixture.awaitTrue(() -> fixture.server.channels().isEmpty());
		}
	}

	@Test
	void serverAnswersQuestionsWhileItDrains() throws Exception {
		try (RpcFixture fixture = new RpcFixture((options) -> options.withDrainTimeout(Duration.ofSeconds(40)),
				UnaryOperator.identity())) {
			Echo echo = CallOptions.deadline(LONG).on(fixture.echo);
			CompletableFuture<String> running = RpcFixture.inThread(() -> echo.slow(40_000));
			RpcFixture.awaitTrue(() -> fixture.service.running.get() == 1);
			InetSocketAddress address = fixture.server.address();
			CompletableFuture<Void> stopped = RpcFixture.inThread(() -> {
				fixture.server.stop();
				return null;
			});
			RpcFixture.awaitTrue(() -> fixture.client.state() != ConnectionState.READY);
			CompletableFuture<Boolean> answers = RpcFixture.inThread(() -> !fixture.server.isRunning()
					&& fixture.server.address().equals(address) && fixture.server.channels().size() == 1
					&& fixture.server.loops().size() == 1 && fixture.server.activeCalls() == 1);
			assertThat(answers.get(10, TimeUnit.SECONDS)).isTrue();
			assertThat(stopped).isNotDone();
			fixture.service.release.countDown();
			assertThat(running.get(10, TimeUnit.SECONDS)).isEqualTo("released");
			stopped.get(20, TimeUnit.SECONDS);
		}
	}

	@Test
	void serverThatWasStoppedServesAgain() {
		try (RpcFixture fixture = new RpcFixture()) {
			int port = fixture.server.port();
			assertThatIllegalStateException().isThrownBy(fixture.server::start)
				.withMessageContaining("running already");
			RpcServer again = RpcServer.builder()
				.transport(fixture.serverTransport)
				.options(RpcFixture.serverOptions(port))
				.service(Echo.class, fixture.service)
				.build();
			assertThatExceptionOfType(VerbsException.class).isThrownBy(again::start);
			assertThat(again.isRunning()).isFalse();
			fixture.server.stop();
			assertThatIllegalStateException().isThrownBy(fixture.server::port).withMessageContaining("not running");
			Echo patient = CallOptions.deadline(LONG).withWaitForReady().on(fixture.echo);
			for (int i = 0; i < 3; i++) {
				again.start();
				assertThat(again.port()).isEqualTo(port);
				assertThat(patient.echo("once more")).isEqualTo("once more");
				assertThat(patient.add(i, 1)).isEqualTo(i + 1);
				again.stop();
				again.stop();
				assertThat(again.isRunning()).isFalse();
				assertThat(again.activeCalls()).isZero();
				assertThat(again.channels()).isEmpty();
			}
		}
	}

	@Test
	void callsGoOnAcrossRestartsOnTheSamePort() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Echo patient = CallOptions.deadline(Duration.ofSeconds(20)).withWaitForReady().on(fixture.echo);
			AtomicBoolean over = new AtomicBoolean();
			AtomicInteger served = new AtomicInteger();
			CompletableFuture<Void> load = RpcFixture.inThread(() -> {
				while (!over.get()) {
					try {
						assertThat(patient.add(served.get(), 1)).isEqualTo(served.get() + 1);
						served.incrementAndGet();
					}
					catch (RpcException ex) {
						assertThat(ex.status()).as("%s", ex).isEqualTo(RpcStatus.UNAVAILABLE);
					}
				}
				return null;
			});
			int port = fixture.server.port();
			for (int restart = 0; restart < 3; restart++) {
				int before = served.get();
				RpcFixture.awaitTrue(() -> served.get() > before + 10 || load.isDone());
				fixture.server.close();
				fixture.server = fixture.startServer(RpcFixture.serverOptions(port));
			}
			int before = served.get();
			RpcFixture.awaitTrue(() -> served.get() > before + 10 || load.isDone());
			over.set(true);
			load.get(20, TimeUnit.SECONDS);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void inlineHandlerMayWaitForItsOwnServer(boolean connected) throws Exception {
		EchoService selfish = new EchoService() {
			private Echo self = this;

			@Override
			public String echo(String text) {
				return this.self.echoOnExecutor(text);
			}

			@Override
			public CompletableFuture<String> echoAsync(String text) {
				return CompletableFuture.supplyAsync(() -> this.self.echoOnExecutor(text));
			}

			@Override
			Echo next(Echo echo) {
				this.self = echo;
				return echo;
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, selfish);
				RpcClient inner = fixture.newClient(server::address, RpcClientOptions.DEFAULTS);
				RpcClient outer = fixture.newClient(server::address, RpcClientOptions.DEFAULTS)) {
			Echo self = selfish.next(CallOptions.deadline(LONG).on(inner.proxy(Echo.class)));
			if (connected) {
				assertThat(self.echoOnExecutor("warm")).isEqualTo("warm");
			}
			Echo echo = CallOptions.deadline(LONG).on(outer.proxy(Echo.class));
			for (int i = 0; i < 20; i++) {
				assertThat(echo.echo("to itself")).isEqualTo("to itself");
			}
			assertThat(echo.add(1, 2)).as("it serves on").isEqualTo(3);
			assertThat(echo.echoAsync("promised").get(10, TimeUnit.SECONDS)).isEqualTo("promised");
		}
	}

	@Test
	void inlineHandlerMayWaitForAnotherServer() throws Exception {
		EchoService front = new EchoService() {
			private Echo next = this;

			@Override
			public String echo(String text) {
				return this.next.echo(text) + "!";
			}

			@Override
			Echo next(Echo echo) {
				this.next = echo;
				return echo;
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, front);
				RpcClient outer = fixture.newClient(server::address, RpcClientOptions.DEFAULTS)) {
			front.next(fixture.echo);
			Echo echo = CallOptions.deadline(LONG).on(outer.proxy(Echo.class));
			assertThat(echo.echo("hello")).isEqualTo("hello!");
			assertThat(echo.echo("again")).isEqualTo("again!");
		}
	}

	private static RpcException failureOf(CompletableFuture<?> call) {
		ExecutionException failure = catchThrowableOfType(ExecutionException.class,
				() -> call.get(10, TimeUnit.SECONDS));
		assertThat(failure).as("a failure in time").isNotNull();
		assertThat(failure).hasCauseInstanceOf(RpcException.class);
		return (RpcException) failure.getCause();
	}

}
