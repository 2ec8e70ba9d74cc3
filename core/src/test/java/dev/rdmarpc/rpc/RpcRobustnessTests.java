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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.PollingMode;
import dev.rdmarpc.transport.PollingOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Users, observers and neighbours that misbehave do not harm other calls. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcRobustnessTests {

	private static final CallOptions TEN_SECONDS = CallOptions.deadline(Duration.ofSeconds(10));

	@Test
	void closingOneConnectionLeavesTheCreditsOfOthers() {
		try (RpcFixture fixture = new RpcFixture()) {
			Echo echo = TEN_SECONDS.on(fixture.echo);
			assertThat(echo.echo("first")).isEqualTo("first");
			for (int i = 0; i < 3; i++) {
				RpcClient other = fixture.newClient();
				assertThat(TEN_SECONDS.on(other.proxy(Echo.class)).echo("other")).isEqualTo("other");
				other.close();
			}
			RpcFixture.awaitTrue(() -> fixture.server.channels().size() == 1);
			for (int i = 0; i < TestEnvironment.rounds(1500, 150); i++) {
				assertThat(echo.echo("call " + i)).isEqualTo("call " + i);
			}
		}
	}

	@Test
	void transportClosedBeforeItsClientGivesEverythingBack() {
		try (RpcFixture fixture = new RpcFixture()) {
			CompletableFuture<Void> never = fixture.echo.never();
			assertThat(fixture.echo.echo("there")).isEqualTo("there");
			fixture.clientTransport.close();
			RpcFixture.awaitTrue(never::isCompletedExceptionally);
			RpcFixture.awaitTrue(() -> fixture.clientMemory.metrics().allocatedBytes() == 0);
			assertThat(RpcFixture.failureOf(() -> fixture.echo.echo("gone")).status()).isEqualTo(RpcStatus.UNAVAILABLE);
		}
	}

	@Test
	void transportClosedUnderBlockedCallersReleasesThem() throws Exception {
		for (int round = 0; round < TestEnvironment.rounds(10, 3); round++) {
			try (RpcFixture fixture = new RpcFixture()) {
				List<CompletableFuture<RpcStatus>> outcomes = new ArrayList<>();
				Echo slow = CallOptions.deadline(Duration.ofSeconds(50)).on(fixture.echo);
				for (int i = 0; i < 4; i++) {
					outcomes.add(inThread(() -> RpcFixture.failureOf(() -> slow.slow(30_000)).status()));
				}
				RpcFixture.awaitTrue(() -> fixture.service.running.get() == 4);
				fixture.clientTransport.close();
				for (CompletableFuture<RpcStatus> outcome : outcomes) {
					assertThat(outcome.get(25, TimeUnit.SECONDS)).isEqualTo(RpcStatus.UNAVAILABLE);
				}
			}
		}
	}

	@Test
	void callbackThatClosesItsOwnTransportIsToldSo() throws Exception {
		try (RpcFixture fixture = new RpcFixture((options) -> options.withDrainTimeout(Duration.ZERO),
				UnaryOperator.identity())) {
			CompletableFuture<Void> never = fixture.echo.never();
			CompletableFuture<Boolean> right = new CompletableFuture<>();
			never.whenComplete((result, failure) -> {
				// where the loop is late, it has this done by another thread, which may
				// close
				boolean onLoop = fixture.clientTransport.loops().stream().anyMatch(ChannelLoop::isOwnThread);
				try {
					fixture.clientTransport.close();
					right.complete(!onLoop);
				}
				catch (IllegalStateException ex) {
					right.complete(onLoop);
				}
			});
			assertThat(fixture.echo.echo("there")).isEqualTo("there");
			fixture.server.close();
			assertThat(right.get(10, TimeUnit.SECONDS)).isTrue();
		}
	}

	@Test
	void connectingThatFailsAtOnceIsTriedAgainAndAgain() {
		try (RpcFixture fixture = new RpcFixture();
				RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport small = RdmaTransport
					.open(new TransportOptions(TransportOptions.AUTO, "", PollingOptions.DEFAULTS, 8, 64, 1), memory);
				RpcClient client = RpcClient.builder()
					.transport(small)
					.target(TestEnvironment.host(), fixture.server.port())
					.options(RpcClientOptions.DEFAULTS.withBackoff(Duration.ofMillis(1), Duration.ofMillis(2)))
					.build()) {
			Echo echo = client.proxy(Echo.class);
			long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100);
			while (System.nanoTime() - end < 0) {
				assertThat(RpcFixture.failureOf(() -> echo.echo("hello?"))).hasMessageContaining("no receive buffers");
			}
		}
	}

	@Test
	void callbackMayWaitForAConnectionWithoutBlockingTheLoop() throws Exception {
		try (RpcFixture fixture = new RpcFixture((options) -> options.withDrainTimeout(Duration.ZERO),
				UnaryOperator.identity())) {
			assertThat(fixture.echo.echo("before")).isEqualTo("before");
			int port = fixture.server.port();
			Echo patient = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(20)))
				.withWaitForReady()
				.on(fixture.echo);
			CompletableFuture<String> retried = fixture.echo.never()
				.handle((result, failure) -> patient.echo("after"))
				.thenApply((text) -> text + "!");
			assertThat(fixture.echo.echo("sent")).isEqualTo("sent");
			fixture.server.close();
			fixture.server = fixture.startServer(RpcFixture.serverOptions(port));
			assertThat(retried.get(TestEnvironment.scaled(Duration.ofSeconds(30)).toSeconds(), TimeUnit.SECONDS))
				.isEqualTo("after!");
		}
	}

	@Test
	void callbackMayCallBlocking() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			CompletableFuture<String> chain = fixture.echo.echoAsync("a")
				.thenApply((text) -> text + fixture.echo.echoOnExecutor("b"))
				.thenCompose((text) -> fixture.echo.echoAsync(text + "c"))
				.thenApply((text) -> text + fixture.echo.echo("d"));
			assertThat(chain.get(10, TimeUnit.SECONDS)).isEqualTo("abcd");
		}
	}

	@Test
	void handlerMayCallBackOverItsOwnTransport() {
		EchoService middle = new EchoService() {
			@Nullable Echo next;

			@Override
			public String echoOnExecutor(String text) {
				int depth = Integer.parseInt(text);
				return (depth == 0) ? "bottom" : depth + "," + this.next.echoOnExecutor(String.valueOf(depth - 1));
			}

			@Override
			public Echo next(Echo echo) {
				this.next = echo;
				return this;
			}
		};
		try (RpcFixture fixture = new RpcFixture()) {
			try (RpcServer nested = fixture.startServer(Echo.class, middle);
					RpcClient inner = RpcClient.builder()
						.transport(fixture.serverTransport)
						.target(TestEnvironment.host(), nested.port())
						.build()) {
				Echo echo = middle.next(inner.proxy(Echo.class));
				assertThat(echo.echoOnExecutor("5")).isEqualTo("5,4,3,2,1,bottom");
				assertThat(inner.proxy(Echo.class).echoOnExecutor("4")).isEqualTo("4,3,2,1,bottom");
			}
		}
	}

	@Test
	void nestedCallsInheritWhatRemainsOfTheDeadline() {
		EchoService middle = new EchoService() {
			@Nullable Echo next;

			@Override
			public String echoOnExecutor(String text) {
				return RpcFixture.failureOf(() -> this.next.never().join()).status().name();
			}

			@Override
			public String slow(long millis) {
				RpcContext context = RpcContext.current();
				assertThat(context).isNotNull();
				return CallOptions.deadline(Duration.ofSeconds(40)).on(this.next).slow(millis);
			}

			@Override
			public Echo next(Echo echo) {
				this.next = echo;
				return this;
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer front = fixture.startServer(Echo.class, middle);
				RpcClient inner = RpcClient.builder()
					.transport(fixture.serverTransport)
					.target(TestEnvironment.host(), fixture.server.port())
					.build();
				RpcClient outer = fixture.newClient(front)) {
			Echo next = inner.proxy(Echo.class);
			middle.next(next);
			Echo connected = outer.proxy(Echo.class);
			assertThat(next.add(1, 2)).isEqualTo(connected.add(1, 2));
			Echo echo = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(1))).on(connected);
			assertThat(RpcFixture.failureOf(() -> echo.slow(30_000)).status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 0 && front.activeCalls() == 0);
			assertThat(fixture.service.interrupted.getCount()).isZero();
		}
	}

	@Test
	void observersThatThrowDoNotHarmCalls() throws Exception {
		CallObserver hostile = (method, peer, metadata) -> {
			if (method.name().equals("add")) {
				throw new IllegalStateException("observer");
			}
			return new CallObservation() {
				@Override
				public Scope openScope() {
					return () -> {
						throw new IllegalStateException("scope");
					};
				}

				@Override
				public void callEnded(RpcStatus status, @Nullable Throwable error) {
					throw new IllegalStateException("ended");
				}
			};
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = RpcServer.builder()
					.transport(fixture.serverTransport)
					.options(RpcFixture.serverOptions(0).withLimits(4, 4))
					.service(Echo.class, fixture.service)
					.observer(hostile)
					.build()
					.start();
				RpcClient client = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target(TestEnvironment.host(), server.port())
					.observer(hostile)
					.build()) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			for (int i = 0; i < 10; i++) {
				assertThat(echo.echo("a")).isEqualTo("a");
				assertThat(echo.add(1, 2)).isEqualTo(3);
				assertThat(echo.echoOnExecutor("b")).isEqualTo("b");
				assertThat(echo.echoAsync("c").get(10, TimeUnit.SECONDS)).isEqualTo("c");
				assertThat(RpcFixture.failureOf(() -> echo.fail("rpc")).status()).isEqualTo(RpcStatus.NOT_FOUND);
			}
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
		}
	}

	@Test
	void observersSurroundACallInTheirOrder() {
		List<String> events = java.util.Collections.synchronizedList(new ArrayList<>());
		CallObserver failing = (method, peer, metadata) -> {
			throw new IllegalStateException("observer");
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcClient client = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target(TestEnvironment.host(), fixture.server.port())
					.observer(failing)
					.observer(recording("first", events))
					.observer(failing)
					.observer(recording("second", events))
					.build()) {
			assertThat(client.proxy(Echo.class).echo("there")).isEqualTo("there");
			assertThat(events).containsExactly("first starts", "second starts", "first opens", "second opens",
					"first ends", "second ends", "second closes", "first closes");
		}
		assertThat(RpcObservedCall.start(List.of(failing), null, "peer", CallMetadata.NONE)).isNull();
	}

	private static CallObserver recording(String name, List<String> events) {
		return (method, peer, metadata) -> {
			events.add(name + " starts");
			return new CallObservation() {
				@Override
				public Scope openScope() {
					events.add(name + " opens");
					return () -> events.add(name + " closes");
				}

				@Override
				public void callEnded(RpcStatus status, @Nullable Throwable error) {
					events.add(name + " ends");
				}
			};
		};
	}

	@Test
	void observationsOfCancelledCallsEndOnce() throws Exception {
		List<RpcStatus> ended = java.util.Collections.synchronizedList(new ArrayList<>());
		CallObserver watching = (method, peer, metadata) -> new CallObservation() {
			@Override
			public Scope openScope() {
				return () -> {
				};
			}

			@Override
			public void callEnded(RpcStatus status, @Nullable Throwable error) {
				ended.add(status);
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcClient client = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target(TestEnvironment.host(), fixture.server.port())
					.observer(watching)
					.build()) {
			CompletableFuture<Void> unsent = client.proxy(Echo.class).never();
			assertThat(unsent.cancel(true)).isTrue();
			assertThat(client.proxy(Echo.class).echo("there")).isEqualTo("there");
			CompletableFuture<Void> sent = client.proxy(Echo.class).never();
			assertThat(sent.cancel(true)).isTrue();
			RpcFixture.awaitTrue(() -> fixture.clientTransport.loops().get(0).outstandingCalls() == 0);
			assertThat(ended).containsExactlyInAnyOrder(RpcStatus.CANCELLED, RpcStatus.OK, RpcStatus.CANCELLED);
		}
	}

	@Test
	void errorOfAnInlineHandlerFailsItsCallOnly() {
		EchoService overflowing = new EchoService() {
			@Override
			public String echo(String text) {
				return text.equals("overflow") ? echo(text) + "." : text;
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, overflowing);
				RpcClient client = fixture.newClient(server)) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			for (int i = 0; i < 3; i++) {
				RpcException failure = RpcFixture.failureOf(() -> echo.echo("overflow"));
				assertThat(failure.status()).isEqualTo(RpcStatus.UNKNOWN);
				assertThat(failure).hasMessageContaining("the handler failed");
				assertThat(echo.echo("fine")).isEqualTo("fine");
			}
		}
	}

	@Test
	void callsThatNeverGotAThreadAreGivenBackWhenTheServerStops() throws Exception {
		CountDownLatch begun = new CountDownLatch(8);
		EchoService stubborn = new EchoService() {
			@Override
			public String slow(long millis) {
				begun.countDown();
				return super.slow(millis);
			}
		};
		try (RpcFixture fixture = new RpcFixture()) {
			RpcServer server = fixture.startServer(RpcFixture.serverOptions(0).withDrainTimeout(Duration.ZERO),
					Echo.class, stubborn);
			RpcClient client = fixture.newClient(server);
			Echo slow = CallOptions.deadline(Duration.ofSeconds(50)).on(client.proxy(Echo.class));
			List<CompletableFuture<RpcStatus>> outcomes = new ArrayList<>();
			for (int i = 0; i < 24; i++) {
				outcomes.add(inThread(() -> RpcFixture.failureOf(() -> slow.slow(40_000)).status()));
			}
			RpcFixture.awaitTrue(() -> server.activeCalls() == 24);
			assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
			server.close();
			for (CompletableFuture<RpcStatus> outcome : outcomes) {
				assertThat(outcome.get(10, TimeUnit.SECONDS)).isEqualTo(RpcStatus.UNAVAILABLE);
			}
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
			client.close();
		}
	}

	@Test
	void interruptEndsACallThatIsSpinning() throws Exception {
		PollingOptions busy = new PollingOptions(PollingMode.BUSY, 0);
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), UnaryOperator.identity(),
				TransportOptions.DEFAULTS, TransportOptions.DEFAULTS.withPolling(busy))) {
			Echo slow = CallOptions.deadline(Duration.ofSeconds(50)).on(fixture.echo);
			CompletableFuture<Thread> caller = new CompletableFuture<>();
			CompletableFuture<RpcStatus> status = inThread(() -> {
				caller.complete(Thread.currentThread());
				return RpcFixture.failureOf(() -> slow.slow(40_000)).status();
			});
			RpcFixture.awaitTrue(() -> fixture.service.running.get() == 1);
			caller.get().interrupt();
			assertThat(status.get(10, TimeUnit.SECONDS)).isEqualTo(RpcStatus.CANCELLED);
			assertThatExceptionOfType(RpcException.class)
				.isThrownBy(() -> CallOptions.deadline(Duration.ofMillis(20)).on(fixture.echo).slow(40_000))
				.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED));
		}
	}

	private static <T> CompletableFuture<T> inThread(java.util.concurrent.Callable<T> task) {
		CompletableFuture<T> outcome = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				outcome.complete(task.call());
			}
			catch (Throwable ex) {
				outcome.completeExceptionally(ex);
			}
		});
		thread.setDaemon(true);
		thread.start();
		return outcome;
	}

}
