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
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * However a call fails at the server, its caller is told, nothing is left of it and the
 * connection serves on.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcFailingCallsTests {

	private static final CallOptions TEN_SECONDS = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(10)));

	private static final int ROUNDS = 20;

	/** After how long what the executor has not begun with may be lost. */
	private static final Duration LOST = Duration.ofSeconds(1);

	/** What is told instead of the words of an exception. */
	private static final String REFERENCE = "the handler failed, reference ";

	@SuppressWarnings({ "unchecked", "TypeParameterUnusedInFormals" })
	private static <T extends Throwable> T sneaky(Throwable failure) throws T {
		throw (T) failure;
	}

	static Stream<Case> cases() {
		return Stream.of(
				new Case("null message of a status", new RpcException(RpcStatus.INTERNAL, null), RpcStatus.INTERNAL,
						""),
				new Case("null message", new IllegalStateException((String) null), RpcStatus.UNKNOWN, REFERENCE),
				new Case("message that throws", new Silent(), RpcStatus.UNKNOWN, REFERENCE),
				new Case("message in half a character", new RpcException(RpcStatus.ABORTED, "a\uD83D"),
						RpcStatus.ABORTED, "a?"),
				new Case("message of 8 MB", new RpcException(RpcStatus.ABORTED, "x".repeat(8 << 20)), RpcStatus.ABORTED,
						"x".repeat(1024)),
				new Case("long message of long characters", new RpcException(RpcStatus.ABORTED, "\u20AC".repeat(2000)),
						RpcStatus.ABORTED, "\u20AC".repeat(341)),
				new Case("error", new OutOfMemoryError("unable"), RpcStatus.UNKNOWN, REFERENCE),
				new Case("checked exception that is not declared", new java.io.IOException("disk"), RpcStatus.UNKNOWN,
						REFERENCE),
				new Case("argument", new IllegalArgumentException("secret"), RpcStatus.INVALID_ARGUMENT, REFERENCE),
				new Case("operation", new UnsupportedOperationException("secret"), RpcStatus.UNIMPLEMENTED, REFERENCE));
	}

	@ParameterizedTest
	@MethodSource("cases")
	void everyFailureReachesItsCaller(Case failing) {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Failing.class, new FailingService(failing.failure()));
				RpcClient client = fixture.newClient(server)) {
			Failing service = TEN_SECONDS.on(client.proxy(Failing.class));
			List<Function<String, Object>> calls = List.of(service::inline, service::pooled, service::promised,
					service::staged);
			for (int i = 0; i < ROUNDS; i++) {
				RpcException failure = failureOf(calls.get(i % calls.size()));
				assertThat(failure.status()).isEqualTo(failing.status());
				assertThat(failure.detail()).matches(failing.detail().equals(REFERENCE) ? REFERENCE + "[0-9a-f]{8}"
						: Pattern.quote(failing.detail()));
			}
			RpcFixture.assertServesOn(server, client);
		}
	}

	@Test
	void aStatusIsNeeded() {
		assertThatNullPointerException().isThrownBy(() -> new RpcException(nullOf(RpcStatus.class), "no status"));
	}

	@SuppressWarnings("NullAway") // what a user may pass all the same
	private static <T> T nullOf(Class<T> type) {
		return type.cast(null);
	}

	@SuppressWarnings({ "TypeParameterUnusedInFormals", "unchecked" })
	private static <T extends Throwable> T sneakily(Throwable failure) throws T {
		throw (T) failure;
	}

	@ParameterizedTest
	@EnumSource(Executing.class)
	void executorThatFailsFailsItsCallsOnly(Executing how) {
		Queue<Runnable> kept = new ArrayDeque<>();
		AtomicInteger runs = new AtomicInteger();
		EchoService counting = new EchoService() {
			@Override
			public String echoOnExecutor(String text) {
				runs.incrementAndGet();
				return text;
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(counting, (task) -> how.execute(task, kept));
				RpcClient client = fixture.newClient(server)) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			for (int i = 0; i < ROUNDS; i++) {
				RpcException failure = RpcFixture.failureOf(() -> echo.echoOnExecutor("x"));
				assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
				assertThat(failure.detail()).contains("executor");
				kept.forEach(Runnable::run);
				kept.clear();
				assertThat(echo.echo("inline")).isEqualTo("inline");
			}
			assertThat(runs).as("calls that failed do not run later").hasValue(0);
			RpcFixture.assertServesOn(server, client);
		}
	}

	@Test
	void executorThatRunsACallAndFailsThenChangesNothing() {
		try (RpcFixture fixture = new RpcFixture(); RpcServer server = fixture.startServer(fixture.service, (task) -> {
			task.run();
			throw new IllegalStateException("after the call");
		}); RpcClient client = fixture.newClient(server)) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			for (int i = 0; i < ROUNDS; i++) {
				assertThat(echo.echoOnExecutor("x" + i)).isEqualTo("x" + i);
			}
			RpcFixture.assertServesOn(server, client);
		}
	}

	@Test
	void callsThatTheExecutorDiscardsEndWithTheirCallers() {
		Queue<Runnable> discarded = new ArrayDeque<>();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(fixture.service, discarded::add);
				RpcClient client = fixture.newClient(server)) {
			assertThat(TEN_SECONDS.on(client.proxy(Echo.class)).echo("connected")).isEqualTo("connected");
			Echo echo = CallOptions.deadline(Duration.ofMillis(20)).on(client.proxy(Echo.class));
			for (int i = 0; i < ROUNDS; i++) {
				assertThat(RpcFixture.failureOf(() -> echo.echoOnExecutor("x")).status())
					.isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			}
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
			discarded.forEach(Runnable::run);
			RpcFixture.assertServesOn(server, client);
		}
	}

	@Test
	void stageThatCannotBeCancelledGoesOnAndItsConnectionToo() throws Exception {
		Queue<PlainStage> stages = new java.util.concurrent.ConcurrentLinkedQueue<>();
		FailingService plain = new FailingService(new IllegalStateException()) {
			@Override
			public CompletionStage<String> staged(String text) {
				PlainStage stage = new PlainStage();
				stages.add(stage);
				return stage.of(false);
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Failing.class, plain);
				RpcClient client = fixture.newClient(server)) {
			Failing service = client.proxy(Failing.class);
			for (int i = 0; i < ROUNDS; i++) {
				CompletableFuture<String> call = service.staged("x").toCompletableFuture();
				int begun = i + 1;
				RpcFixture.awaitTrue(() -> stages.size() == begun);
				assertThat(call.cancel(true)).isTrue();
			}
			CompletableFuture<String> kept = service.staged("x").toCompletableFuture();
			RpcFixture.awaitTrue(() -> stages.size() == ROUNDS + 1);
			stages.forEach((stage) -> stage.result.complete("done"));
			assertThat(kept.get(10, TimeUnit.SECONDS)).isEqualTo("done");
			RpcFixture.assertServesOn(server, client);
		}
	}

	@Test
	void stageThatCallsBackTwiceAndThrowsEndsItsCallOnce() throws Exception {
		FailingService plain = new FailingService(new IllegalStateException()) {
			@Override
			public CompletionStage<String> staged(String text) {
				PlainStage stage = new PlainStage();
				stage.result.complete(text);
				return stage.of(true);
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Failing.class, plain);
				RpcClient client = fixture.newClient(server)) {
			Failing service = TEN_SECONDS.on(client.proxy(Failing.class));
			for (int i = 0; i < ROUNDS; i++) {
				assertThat(service.staged("x" + i).toCompletableFuture().get(10, TimeUnit.SECONDS)).isEqualTo("x" + i);
			}
			RpcFixture.assertServesOn(server, client);
		}
	}

	@ParameterizedTest
	@EnumSource(Watching.class)
	@SuppressWarnings("NullAway") // observers that return null where they must not
	void observersThatFailChangeNothing(Watching how) throws Exception {
		AtomicInteger begun = new AtomicInteger();
		CallObserver observer = (method, peer, metadata) -> {
			if (begun.incrementAndGet() % 2 == 0) {
				return (CallObservation) how.happens();
			}
			return new CallObservation() {
				@Override
				public Scope openScope() {
					return (begun.get() % 3 == 0) ? (Scope) how.happens() : how::happens;
				}

				@Override
				public void callEnded(RpcStatus status, @Nullable Throwable error) {
					how.happens();
				}
			};
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = RpcServer.builder()
					.transport(fixture.serverTransport)
					.options(RpcFixture.serverOptions(0).withLimits(4, 8))
					.service(Echo.class, fixture.service)
					.observer(observer)
					.build()
					.start();
				RpcClient client = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target(TestEnvironment.host(), server.port())
					.observer(observer)
					.build()) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			for (int i = 0; i < ROUNDS; i++) {
				assertThat(echo.echo("a")).isEqualTo("a");
				assertThat(echo.echoOnExecutor("b")).isEqualTo("b");
				assertThat(echo.echoAsync("c").get(10, TimeUnit.SECONDS)).isEqualTo("c");
				assertThat(RpcFixture.failureOf(() -> echo.fail("rpc")).status()).isEqualTo(RpcStatus.NOT_FOUND);
			}
			RpcFixture.assertServesOn(server, client);
		}
	}

	@Test
	void callsRunAgainAfterTheExecutorHasDroppedSome() {
		AtomicBoolean dropping = new AtomicBoolean(true);
		AtomicLong droppedNanos = new AtomicLong();
		try (RpcFixture fixture = new RpcFixture(); RpcServer server = fixture.startServer(fixture.service, (task) -> {
			if (dropping.get()) {
				droppedNanos.set(System.nanoTime());
			}
			else {
				task.run();
			}
		}); RpcClient client = fixture.newClient(server)) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			assertThat(echo.echo("connected")).isEqualTo("connected");
			Echo hasty = CallOptions.deadline(Duration.ofMillis(1200)).on(client.proxy(Echo.class));
			assertThat(RpcFixture.failureOf(() -> hasty.echoOnExecutor("x")).status())
				.isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
			RpcFixture.awaitTrue(() -> System.nanoTime() - droppedNanos.get() > LOST.toNanos());
			dropping.set(false);
			for (int i = 0; i < ROUNDS; i++) {
				assertThat(echo.echoOnExecutor("x" + i)).isEqualTo("x" + i);
			}
			RpcFixture.assertServesOn(server, client);
		}
	}

	@Test
	void callbackThatBlocksHoldsUpNobody() throws InterruptedException {
		CountDownLatch held = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, fixture.service);
				RpcClient client = fixture.newClient(server)) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			Later later = TEN_SECONDS.on(client.proxy(Echo.class.getName(), Later.class));
			CompletableFuture<Void> blocked = later.slow(10_000).thenAccept((reply) -> {
				held.countDown();
				Await.latch(release);
			});
			fixture.service.release.countDown();
			held.await();
			assertThat(echo.echo("y")).isEqualTo("y");
			assertThat(echo.echoAsync("y").join()).isEqualTo("y");
			assertThat(blocked).as("the callback").isNotDone();
			release.countDown();
			blocked.join();
			assertThat(echo.echo("z")).isEqualTo("z");
			RpcFixture.assertServesOn(server, client);
		}
		finally {
			release.countDown();
		}
	}

	private static RpcException failureOf(Function<String, Object> call) {
		return RpcFixture.failureOf(() -> {
			try {
				if (call.apply("x") instanceof CompletionStage<?> stage) {
					stage.toCompletableFuture().join();
				}
			}
			catch (CompletionException ex) {
				throw (RpcException) ex.getCause();
			}
		});
	}

	/** Part of the other one, as a caller sees it who does not wait. */
	interface Later {

		CompletableFuture<String> slow(long millis);

	}

	/** A service that fails as it is told. */
	interface Failing {

		@RdmaMethod(inline = true)
		String inline(String text);

		String pooled(String text);

		CompletableFuture<String> promised(String text);

		CompletionStage<String> staged(String text);

	}

	private static class FailingService implements Failing {

		final Throwable failure;

		FailingService(Throwable failure) {
			this.failure = failure;
		}

		@Override
		public String inline(String text) {
			throw RpcFailingCallsTests.<RuntimeException>sneaky(this.failure);
		}

		@Override
		public String pooled(String text) {
			throw RpcFailingCallsTests.<RuntimeException>sneaky(this.failure);
		}

		@Override
		public CompletableFuture<String> promised(String text) {
			return CompletableFuture.failedFuture(this.failure);
		}

		@Override
		public CompletionStage<String> staged(String text) {
			CompletableFuture<String> later = new CompletableFuture<>();
			CompletableFuture.runAsync(() -> later.completeExceptionally(this.failure));
			return later;
		}

	}

	private static final class Silent extends RuntimeException {

		@Override
		public String getMessage() {
			throw new IllegalStateException("no message for you");
		}

		@Override
		public String toString() {
			throw new IllegalStateException("nor this");
		}

	}

	private record Case(String name, Throwable failure, RpcStatus status, String detail) {

		@Override
		public String toString() {
			return this.name;
		}

	}

	enum Executing {

		FAILS {
			@Override
			void execute(Runnable task, Queue<Runnable> kept) {
				throw new OutOfMemoryError("unable to create native thread");
			}
		},

		REFUSES {
			@Override
			void execute(Runnable task, Queue<Runnable> kept) {
				throw new RejectedExecutionException();
			}
		},

		IS_BROKEN {
			@Override
			void execute(Runnable task, Queue<Runnable> kept) {
				throw RpcFailingCallsTests.<RuntimeException>sneakily(new java.io.IOException("broken"));
			}
		},

		KEEPS_AND_FAILS {
			@Override
			void execute(Runnable task, Queue<Runnable> kept) {
				kept.add(task);
				throw new OutOfMemoryError("unable to create native thread");
			}
		};

		abstract void execute(Runnable task, Queue<Runnable> kept);

	}

	/** A stage that is no more than its contract asks for. */
	private static final class PlainStage {

		private final CompletableFuture<String> result = new CompletableFuture<>();

		private final AtomicInteger callbacks = new AtomicInteger();

		@SuppressWarnings("unchecked")
		CompletionStage<String> of(boolean twice) {
			return (CompletionStage<String>) java.lang.reflect.Proxy.newProxyInstance(
					CompletionStage.class.getClassLoader(), new Class<?>[] { CompletionStage.class },
					(proxy, method, arguments) -> switch (method.getName()) {
						case "whenComplete" -> {
							BiConsumer<@Nullable Object, @Nullable Throwable> callback = (BiConsumer<@Nullable Object, @Nullable Throwable>) arguments[0];
							this.callbacks.incrementAndGet();
							this.result.whenComplete(callback);
							if (twice) {
								this.result.whenComplete(callback);
								throw new IllegalStateException("and now?");
							}
							yield proxy;
						}
						case "toCompletableFuture" -> throw new UnsupportedOperationException();
						default -> throw new IllegalStateException(method.getName());
					});
		}

	}

	enum Watching {

		THROWS_AN_ERROR, THROWS_WHAT_IS_CHECKED, THROWS_WITHOUT_MESSAGE, KNOWS_NOTHING;

		@Nullable Object happens() {
			return switch (this) {
				case THROWS_AN_ERROR -> throw new StackOverflowError("of an observer");
				case THROWS_WHAT_IS_CHECKED ->
					throw RpcFailingCallsTests.<RuntimeException>sneakily(new java.io.IOException("of an observer"));
				case THROWS_WITHOUT_MESSAGE -> throw new Silent();
				case KNOWS_NOTHING -> null;
			};
		}

	}

}
