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
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.ChannelOptions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Calls that do not succeed: each has its own status and gives everything back. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcFailureTests {

	@Test
	void deadlineEndsABlockingCallAndInterruptsItsHandler() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			assertThat(fixture.echo.echo("before it")).isEqualTo("before it");
			Echo hurried = CallOptions.deadline(TestEnvironment.scaled(Duration.ofMillis(500))).on(fixture.echo);
			RpcException failure = RpcFixture.failureOf(() -> hurried.slow(30_000));
			assertThat(failure.status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			assertThat(fixture.service.interrupted.await(10, TimeUnit.SECONDS)).isTrue();
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 0);
		}
	}

	@Test
	void deadlineOfACallTakesPrecedence() {
		try (RpcFixture fixture = new RpcFixture()) {
			Echo patient = CallOptions.deadline(Duration.ofSeconds(20)).on(fixture.echo);
			assertThat(patient.slow(400)).isEqualTo("slept");
		}
	}

	@Test
	void deadlineEndsAnAsynchronousCall() {
		try (RpcFixture fixture = new RpcFixture()) {
			assertThat(fixture.echo.echo("before it")).isEqualTo("before it");
			CompletableFuture<Void> never = CallOptions.deadline(Duration.ofMillis(50)).on(fixture.echo).never();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> never.get(20, TimeUnit.SECONDS))
				.satisfies((ex) -> assertThat(((RpcException) ex.getCause()).status())
					.isEqualTo(RpcStatus.DEADLINE_EXCEEDED));
			RpcFixture.awaitTrue(() -> fixture.clientTransport.loops().get(0).outstandingCalls() == 0);
		}
	}

	@Test
	void cancellingAFutureCancelsTheWorkAtThePeer() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Echo slow = CallOptions.deadline(Duration.ofSeconds(50)).on(fixture.echo);
			CompletableFuture<Void> never = fixture.echo.never();
			assertThat(fixture.echo.echo("after it")).isEqualTo("after it");
			assertThat(never.cancel(true)).isTrue();
			RpcFixture.awaitTrue(() -> fixture.clientTransport.loops().get(0).outstandingCalls() == 0);
			assertThat(slow.echo("still there")).isEqualTo("still there");
		}
	}

	@Test
	void interruptingTheCallerCancelsTheCall() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			CompletableFuture<RpcStatus> status = new CompletableFuture<>();
			Echo slow = CallOptions.deadline(Duration.ofSeconds(50)).on(fixture.echo);
			Thread caller = new Thread(() -> {
				RpcException failure = RpcFixture.failureOf(() -> slow.slow(30_000));
				assertThat(Thread.currentThread().isInterrupted()).isTrue();
				status.complete(failure.status());
			});
			caller.start();
			RpcFixture.awaitTrue(() -> fixture.service.running.get() == 1);
			caller.interrupt();
			assertThat(status.get(10, TimeUnit.SECONDS)).isEqualTo(RpcStatus.CANCELLED);
			assertThat(fixture.service.interrupted.await(10, TimeUnit.SECONDS)).isTrue();
			caller.join();
		}
	}

	@Test
	void unknownServiceAndMethodAreUnimplemented() {
		try (RpcFixture fixture = new RpcFixture()) {
			Echo elsewhere = fixture.client.proxy("elsewhere", Echo.class);
			RpcException failure = RpcFixture.failureOf(() -> elsewhere.add(1, 2));
			assertThat(failure.status()).isEqualTo(RpcStatus.UNIMPLEMENTED);
			assertThat(failure).hasMessageStartingWith("elsewhere/add UNIMPLEMENTED");
			NewerEcho newer = fixture.client.proxy(Echo.class.getName(), NewerEcho.class);
			assertThat(RpcFixture.failureOf(newer::unheardOf).status()).isEqualTo(RpcStatus.UNIMPLEMENTED);
		}
	}

	@Test
	void undecodableArgumentsAreRefused() {
		try (RpcFixture fixture = new RpcFixture();
				RpcClient client = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target(TestEnvironment.host(), fixture.server.port())
					.codec(new UntoldSchemas())
					.build()) {
			NewerEcho newer = client.proxy(Echo.class.getName(), NewerEcho.class);
			RpcException failure = RpcFixture.failureOf(() -> newer.echo(0x7FFF_FFFF));
			assertThat(failure.status()).isEqualTo(RpcStatus.INVALID_ARGUMENT);
			assertThat(failure).hasMessageContaining("arguments cannot be decoded");
		}
	}

	@Test
	void messageOverTheLimitIsRefusedOnEitherSide() {
		UnaryOperator<RpcServerOptions> small = (options) -> options
			.withChannel(ChannelOptions.DEFAULTS.withLimits(100_000, 64));
		try (RpcFixture fixture = new RpcFixture(small, UnaryOperator.identity())) {
			RpcException failure = RpcFixture.failureOf(() -> fixture.echo.bytes(new byte[200_000]));
			assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(failure).hasMessageContaining("100000");
			assertThat(fixture.echo.bytes(new byte[50_000])).hasSize(50_000);
		}
		UnaryOperator<RpcClientOptions> smallClient = (options) -> options
			.withChannel(ChannelOptions.DEFAULTS.withLimits(100_000, 64));
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), smallClient)) {
			assertThat(RpcFixture.failureOf(() -> fixture.echo.bytes(new byte[200_000])).status())
				.isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
		}
	}

	@Test
	void replyOverTheLimitOfTheServerIsNotSentThoughItsCallerAcceptsIt() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = RpcServer.builder()
					.transport(fixture.serverTransport)
					.options(RpcFixture.serverOptions(0).withChannel(ChannelOptions.DEFAULTS.withLimits(100_000, 64)))
					.service(Zeros.class, byte[]::new)
					.build()
					.start();
				RpcClient client = fixture.newClient(server)) {
			Zeros zeros = client.proxy(Zeros.class);
			RpcException failure = RpcFixture.failureOf(() -> zeros.make(8 << 20));
			assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(failure).hasMessageContaining("100000");
			assertThat(zeros.make(50_000)).hasSize(50_000);
		}
	}

	@Test
	void overloadedServerSaysSo() throws Exception {
		UnaryOperator<RpcServerOptions> two = (options) -> options.withLimits(8, 2);
		try (RpcFixture fixture = new RpcFixture(two, UnaryOperator.identity())) {
			assertThat(fixture.echo.add(1, 2)).isEqualTo(3);
			CompletableFuture<Void> first = fixture.echo.never();
			CompletableFuture<Void> second = fixture.echo.never();
			RpcException failure = RpcFixture.failureOf(() -> fixture.echo.echo("one too many"));
			assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(failure).hasMessageContaining("executing 2 calls");
			first.cancel(true);
			second.cancel(true);
		}
	}

	@Test
	void noConnectionFailsAtOnceWithTheReason() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			int port = Nobody.address().getPort();
			try (RpcClient lonely = RpcClient.builder()
				.transport(fixture.clientTransport)
				.target(TestEnvironment.host(), port)
				.build()) {
				Echo echo = lonely.proxy(Echo.class);
				RpcException failure = RpcFixture.failureOf(() -> echo.echo("anybody?"));
				assertThat(failure.status()).isEqualTo(RpcStatus.UNAVAILABLE);
				assertThat(failure).hasMessageContaining(TestEnvironment.host() + ":" + port);
				CompletableFuture<String> future = echo.echoAsync("anybody?");
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> future.get(10, TimeUnit.SECONDS))
					.satisfies((ex) -> assertThat(((RpcException) ex.getCause()).status())
						.isEqualTo(RpcStatus.UNAVAILABLE));
			}
		}
	}

	@Test
	void strangersAreNotTalkedTo() throws Exception {
		TestEnvironment.assumeStrangersAreBorne();
		try (RpcFixture fixture = new RpcFixture();
				ServerSocket stranger = new ServerSocket(0, 10, TestEnvironment.address())) {
			Thread greeter = new Thread(() -> {
				try (java.net.Socket socket = stranger.accept()) {
					socket.getOutputStream()
						.write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
				}
				catch (IOException ex) {
					// the client has gone
				}
			});
			greeter.start();
			try (RpcClient client = RpcClient.builder()
				.transport(fixture.clientTransport)
				.target(TestEnvironment.host(), stranger.getLocalPort())
				.build()) {
				RpcException failure = RpcFixture.failureOf(() -> client.proxy(Echo.class).echo("hello?"));
				assertThat(failure.status()).isEqualTo(RpcStatus.UNAVAILABLE);
			}
			greeter.join();
		}
	}

	@Test
	void closingTheServerReleasesBlockedCallersAtOnce() throws Exception {
		try (RpcFixture fixture = new RpcFixture((options) -> options.withDrainTimeout(Duration.ZERO),
				UnaryOperator.identity())) {
			List<CompletableFuture<RpcStatus>> outcomes = new ArrayList<>();
			Echo slow = CallOptions.deadline(Duration.ofSeconds(50)).on(fixture.echo);
			for (int i = 0; i < 4; i++) {
				CompletableFuture<RpcStatus> outcome = new CompletableFuture<>();
				outcomes.add(outcome);
				new Thread(() -> outcome.complete(RpcFixture.failureOf(() -> slow.slow(30_000)).status())).start();
			}
			RpcFixture.awaitTrue(() -> fixture.service.running.get() == 4);
			fixture.server.close();
			for (CompletableFuture<RpcStatus> outcome : outcomes) {
				assertThat(outcome.get(25, TimeUnit.SECONDS)).isEqualTo(RpcStatus.UNAVAILABLE);
			}
		}
	}

	@Test
	void drainingServerFinishesWhatItHasBegun() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Echo slow = CallOptions.deadline(Duration.ofSeconds(50)).on(fixture.echo);
			CompletableFuture<String> outcome = new CompletableFuture<>();
			new Thread(() -> outcome.complete(slow.slow(30_000))).start();
			RpcFixture.awaitTrue(() -> fixture.service.running.get() == 1);
			CountDownLatch stopped = new CountDownLatch(1);
			new Thread(() -> {
				fixture.server.stop();
				stopped.countDown();
			}).start();
			RpcFixture.awaitTrue(() -> fixture.client.state() != ConnectionState.READY);
			fixture.service.release.countDown();
			assertThat(outcome.get(10, TimeUnit.SECONDS)).isEqualTo("released");
			assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void aServerThatAnInterruptedThreadStopsDrainsAllTheSame() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Echo slow = CallOptions.deadline(Duration.ofSeconds(50)).on(fixture.echo);
			CompletableFuture<String> outcome = RpcFixture.inThread(() -> slow.slow(30_000));
			RpcFixture.awaitTrue(() -> fixture.service.running.get() == 1);
			CompletableFuture<Boolean> interrupted = RpcFixture.inThread(() -> {
				Thread.currentThread().interrupt();
				fixture.server.stop();
				return Thread.currentThread().isInterrupted();
			});
			RpcFixture.awaitTrue(() -> fixture.client.state() != ConnectionState.READY);
			fixture.service.release.countDown();
			assertThat(outcome.get(10, TimeUnit.SECONDS)).isEqualTo("released");
			assertThat(interrupted.get(10, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void clientRecoversWhenTheServerComesBack() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			assertThat(fixture.echo.echo("before")).isEqualTo("before");
			int port = fixture.server.port();
			fixture.server.close();
			RpcFixture.awaitTrue(() -> fixture.client.state() == ConnectionState.BACKOFF);
			assertThat(RpcFixture.failureOf(() -> fixture.echo.echo("meanwhile")).status())
				.isEqualTo(RpcStatus.UNAVAILABLE);
			fixture.server = fixture.startServer(RpcFixture.serverOptions(port));
			Echo patient = CallOptions.deadline(Duration.ofSeconds(20)).withWaitForReady().on(fixture.echo);
			assertThat(patient.echo("after")).isEqualTo("after");
		}
	}

	@Test
	void exhaustedServerMemoryFailsTheCallAndNotTheServer() {
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), UnaryOperator.identity(), 8L << 20)) {
			RpcException failure = RpcFixture.failureOf(() -> fixture.echo.bytes(new byte[12 << 20]));
			assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(fixture.echo.echo("alive")).isEqualTo("alive");
		}
	}

	/** What a newer client may believe the service to be. */
	interface NewerEcho {

		void unheardOf();

		String echo(int number);

	}

	/** Makes as many zeros as it is asked for. */
	interface Zeros {

		byte[] make(int count);

	}

}
