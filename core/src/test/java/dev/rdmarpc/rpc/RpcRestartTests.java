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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.iwarp.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls that a restarted server or a new connection can answer are answered, with the
 * queue pairs that a client has by default.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcRestartTests {

	private static final int ROUNDS = 20;

	private static final CallOptions PATIENT = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(20)));

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void theFirstCallAfterAnOrderlyRestartSucceeds(boolean blocking) {
		try (RpcFixture fixture = new RpcFixture()) {
			int port = fixture.server.port();
			InetSocketAddress address = fixture.server.address();
			try (RpcClient client = fixture.newClient(() -> address, RpcClientOptions.DEFAULTS)) {
				Echo echo = PATIENT.on(client.proxy(Echo.class));
				assertThat(echo.echo("before")).isEqualTo("before");
				int answered = 0;
				for (int i = 0; i < ROUNDS; i++) {
					fixture.server.close();
					restart(fixture, port);
					answered += succeeds(() -> blocking ? echo.echoOnExecutor("x") : echo.echoAsync("x").join());
				}
				assertThat(answered).as("first calls that succeeded of %d", ROUNDS).isEqualTo(ROUNDS);
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void theFirstCallAfterALongAbsenceSucceeds(boolean blocking) {
		Duration hours = Duration.ofHours(3);
		try (RpcFixture fixture = new RpcFixture()) {
			int port = fixture.server.port();
			InetSocketAddress address = fixture.server.address();
			try (RpcClient client = fixture.newClient(() -> address,
					RpcClientOptions.DEFAULTS.withBackoff(Duration.ofMillis(1), hours))) {
				Echo echo = PATIENT.on(client.proxy(Echo.class));
				assertThat(echo.echo("before")).isEqualTo("before");
				for (int i = 0; i < 3; i++) {
					fixture.server.close();
					for (int failed = 0; failed < 12; failed++) {
						assertThat(RpcFixture.failureOf(() -> echo.echo("nobody")).status())
							.isEqualTo(RpcStatus.UNAVAILABLE);
					}
					assertThat(client.state()).isEqualTo(ConnectionState.BACKOFF);
					restart(fixture, port);
					assertThat(succeeds(() -> blocking ? echo.echo("x") : echo.echoAsync("x").join())).isOne();
				}
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void idempotentCallsAreRepeatedWhenTheirConnectionGoes(boolean blocking) throws Exception {
		Holding service = new Holding();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Repeatable.class, service);
				TcpProxy proxy = new TcpProxy(server.address());
				RpcClient client = fixture.newClient(proxy::address, RpcClientOptions.DEFAULTS)) {
			Repeatable repeatable = PATIENT.on(client.proxy(Repeatable.class));
			int answered = 0;
			for (int i = 0; i < ROUNDS; i++) {
				int before = service.begun.get();
				service.answer = new CompletableFuture<>();
				CompletableFuture<Integer> call = blocking
						? RpcFixture.inThread(() -> succeeds(() -> repeatable.idempotent("x")))
						: repeatable.promised("x").handle((text, failure) -> (failure != null) ? 0 : 1);
				RpcFixture.awaitTrue(() -> service.begun.get() == before + 1);
				proxy.cut(true);
				RpcFixture.awaitTrue(() -> service.begun.get() == before + 2 || call.isDone());
				service.answer.complete("x");
				answered += call.get(20, TimeUnit.SECONDS);
			}
			assertThat(answered).as("calls answered of %d", ROUNDS).isEqualTo(ROUNDS);
			assertThat(client.metrics().repetitions()).isEqualTo(ROUNDS);
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void idempotentCallsOutliveARestartInPlace(boolean blocking) throws Exception {
		Holding service = new Holding();
		service.answer = CompletableFuture.completedFuture("x");
		try (RpcFixture fixture = new RpcFixture()) {
			RpcServerOptions options = RpcFixture.serverOptions(0);
			RpcServer server = fixture.startServer(options, Repeatable.class, service);
			InetSocketAddress address = server.address();
			AtomicBoolean over = new AtomicBoolean();
			Set<String> failures = ConcurrentHashMap.newKeySet();
			AtomicInteger answered = new AtomicInteger();
			try (RpcClient client = fixture.newClient(() -> address, RpcClientOptions.DEFAULTS)) {
				Repeatable repeatable = PATIENT.on(client.proxy(Repeatable.class));
				List<CompletableFuture<Object>> callers = new ArrayList<>();
				for (int i = 0; i < 6; i++) {
					callers.add(RpcFixture.inThread(() -> {
						while (!over.get()) {
							try {
								assertThat(blocking ? repeatable.idempotent("x") : repeatable.promised("x").join())
									.isEqualTo("x");
								answered.incrementAndGet();
							}
							catch (RuntimeException ex) {
								failures.add(String.valueOf(ex.getMessage()));
							}
						}
						return "";
					}));
				}
				for (int i = 0; i < 5; i++) {
					int before = answered.get();
					RpcFixture.awaitTrue(() -> answered.get() >= before + 20);
					server.close();
					RpcFixture.awaitTrue(() -> client.state() == ConnectionState.BACKOFF);
					server = restarted(fixture, RpcFixture.serverOptions(address.getPort()), service);
				}
				over.set(true);
				for (CompletableFuture<Object> caller : callers) {
					caller.get(30, TimeUnit.SECONDS);
				}
				assertThat(failures).isEmpty();
			}
			server.close();
		}
	}

	@Test
	void aLossThatTheConnectionHasNotHeardOfIsARestart() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			InetSocketAddress address = fixture.server.address();
			RpcClientOptions options = RpcClientOptions.DEFAULTS;
			PoolFactory pools = new PoolFactory(fixture.clientTransport,
					new ClientLoops(fixture.clientTransport, options), "flatbuffers", options, new ClientMethods());
			ChannelSource pool = pools.one("target", () -> address);
			try {
				RpcChannel channel = pool.channel(true).get(20, TimeUnit.SECONDS);
				ClientConnection connection = pool.connections().get(0);
				assertThat(pool.restartingNanos()).isNegative();
				CompletableFuture<String> closing;
				synchronized (connection) {
					closing = RpcFixture.inThread(() -> {
						fixture.server.close();
						return "";
					});
					RpcFixture.awaitTrue(() -> !channel.isOpen());
					assertThat(connection.state()).isEqualTo(ConnectionState.READY);
					assertThat(pool.restartingNanos()).isPositive();
					pool.connect();
					assertThat(pool.lastFailure()).isEqualTo("the peer is shutting down");
				}
				closing.get(20, TimeUnit.SECONDS);
				assertThat(pool.restartingNanos()).isPositive();
			}
			finally {
				pool.close();
			}
		}
	}

	/** Calls wait meanwhile, as if there were no connection. */
	@Test
	void aLossWhileThePeerIsAskedAboutMoreMethodsIsARestart() throws Exception {
		try (RpcFixture fixture = new RpcFixture(); TcpProxy proxy = new TcpProxy(fixture.server.address())) {
			RpcClientOptions options = RpcClientOptions.DEFAULTS;
			ClientMethods methods = new ClientMethods();
			ChannelSource pool = new PoolFactory(fixture.clientTransport,
					new ClientLoops(fixture.clientTransport, options), "flatbuffers", options, methods)
				.one("target", proxy::address);
			try {
				pool.channel(true).get(20, TimeUnit.SECONDS);
				proxy.mute();
				methods.add(ServiceDescriptor.of("more", Repeatable.class, new FlatBuffersCodec()));
				pool.agree();
				assertThat(pool.state()).isEqualTo(ConnectionState.CONNECTING);
				assertThat(pool.restartingNanos()).isNegative();
				CompletableFuture<RpcChannel> waiting = pool.channel(true);
				proxy.cut(true);
				RpcFixture.awaitTrue(() -> pool.restartingNanos() > 0);
				assertThat(waiting.get(20, TimeUnit.SECONDS).isOpen()).isTrue();
			}
			finally {
				pool.close();
			}
		}
	}

	@Test
	void callsWaitForAServerIfTheClientSaysSo() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			int port = fixture.server.port();
			InetSocketAddress address = fixture.server.address();
			fixture.server.close();
			RpcClientOptions waiting = RpcClientOptions.DEFAULTS.withWaitForReady(true);
			try (RpcClient client = fixture.newClient(() -> address, waiting)) {
				Echo echo = PATIENT.on(client.proxy(Echo.class));
				CompletableFuture<String> blocking = RpcFixture.inThread(() -> echo.echo("x"));
				CompletableFuture<String> promised = echo.echoAsync("x");
				RpcFixture.awaitTrue(() -> client.state() == ConnectionState.BACKOFF);
				assertThat(blocking).isNotDone();
				assertThat(promised).isNotDone();
				restart(fixture, port);
				assertThat(blocking.get(30, TimeUnit.SECONDS)).isEqualTo("x");
				assertThat(promised.get(30, TimeUnit.SECONDS)).isEqualTo("x");
			}
		}
	}

	@Test
	void callsThatWaitedForCreditsWereNeverSentAndAreRepeatedWhateverTheirMethod() throws Exception {
		CountDownLatch blocked = new CountDownLatch(1);
		CountDownLatch over = new CountDownLatch(1);
		AtomicInteger served = new AtomicInteger();
		EchoService service = new EchoService() {
			@Override
			public String echo(String text) {
				blocked.countDown();
				try {
					assertThat(over.await(40, TimeUnit.SECONDS)).isTrue();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				return text;
			}

			@Override
			public CompletableFuture<String> echoAsync(String text) {
				served.incrementAndGet();
				return super.echoAsync(text);
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, service);
				TcpProxy proxy = new TcpProxy(server.address());
				RpcClient client = fixture.newClient(proxy::address, RpcClientOptions.DEFAULTS)) {
			Echo echo = PATIENT.on(client.proxy(Echo.class));
			assertThat(echo.echoAsync("before").join()).isEqualTo("before");
			CompletableFuture<?> blocking = RpcFixture.inThread(() -> echo.echo("blocks the loop of the server"));
			assertThat(blocked.await(10, TimeUnit.SECONDS)).isTrue();
			proxy.mute();
			String tooLongToShareASend = "x".repeat(2000);
			List<CompletableFuture<String>> calls = new ArrayList<>();
			for (int i = 0; i < 4 * ROUNDS; i++) {
				calls.add(echo.echoAsync(tooLongToShareASend));
			}
			proxy.cut(true);
			blocking.handle((text, failure) -> failure).get(20, TimeUnit.SECONDS);
			over.countDown();
			int answered = 0;
			for (CompletableFuture<String> call : calls) {
				answered += succeeds(call::join);
			}
			assertThat(answered).as("calls answered of %d, most of which waited for credits", calls.size())
				.isGreaterThanOrEqualTo(calls.size() - RpcClientOptions.DEFAULTS.channel().minCredits());
			assertThat(client.metrics().repetitions()).isPositive();
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
			assertThat(served.get()).as("executions").isLessThanOrEqualTo(1 + calls.size());
		}
	}

	/** Starts the server again; the port may be taken for a moment, also by others. */
	private static void restart(RpcFixture fixture, int port) {
		RpcFixture.awaitTrue(() -> {
			try {
				fixture.server = fixture.startServer(RpcFixture.serverOptions(port));
				return true;
			}
			catch (VerbsException ex) {
				assertThat(ex.error()).isEqualTo(VerbsError.ADDRESS_IN_USE);
				return false;
			}
		});
	}

	private static RpcServer restarted(RpcFixture fixture, RpcServerOptions options, Repeatable service) {
		AtomicReference<RpcServer> started = new AtomicReference<>();
		RpcFixture.awaitTrue(() -> {
			try {
				started.set(fixture.startServer(options, Repeatable.class, service));
				return true;
			}
			catch (VerbsException ex) {
				assertThat(ex.error()).isEqualTo(VerbsError.ADDRESS_IN_USE);
				return false;
			}
		});
		return started.get();
	}

	private static int succeeds(Supplier<String> call) {
		try {
			return call.get().isEmpty() ? 0 : 1;
		}
		catch (RuntimeException ex) {
			return 0;
		}
	}

	/** Calls of which some may be repeated. */
	interface Repeatable {

		@RdmaMethod(idempotent = true)
		String idempotent(String text);

		@RdmaMethod(idempotent = true)
		CompletableFuture<String> promised(String text);

	}

	private static final class Holding implements Repeatable {

		final AtomicInteger begun = new AtomicInteger();

		volatile CompletableFuture<String> answer = new CompletableFuture<>();

		@Override
		public String idempotent(String text) {
			return promised(text).orTimeout(20, TimeUnit.SECONDS).join();
		}

		@Override
		public CompletableFuture<String> promised(String text) {
			CompletableFuture<String> current = this.answer.copy();
			this.begun.incrementAndGet();
			return current;
		}

	}

}
