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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What interceptors see of calls, and what they can make of them. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcClientInterceptorTests {

	private final RpcFixture fixture = new RpcFixture();

	private final ShelfService service = new ShelfService();

	private final RpcServer server = this.fixture.startServer(Shelf.class, this.service);

	private final List<RpcClient> clients = new ArrayList<>();

	@AfterEach
	void nothingIsOutstanding() {
		this.clients.forEach(RpcClient::close);
		this.server.close();
		this.fixture.close();
	}

	private Shelf shelf(RpcClientInterceptor... interceptors) {
		RpcClient.Builder builder = RpcClient.builder()
			.transport(this.fixture.clientTransport)
			.target(TestEnvironment.host(), this.server.port());
		List.of(interceptors).forEach(builder::interceptor);
		RpcClient client = builder.build();
		this.clients.add(client);
		return client.proxy(Shelf.class);
	}

	private static RpcClientInterceptor repeating(int times) {
		return (call) -> {
			for (int i = 1;; i++) {
				try {
					return call.proceed();
				}
				catch (RpcException ex) {
					if (i == times) {
						throw ex;
					}
				}
			}
		};
	}

	private static CompletionStage<?> future(RpcClientCall call) {
		return (CompletionStage<?>) Objects.requireNonNull(call.proceed());
	}

	@Test
	void anInterceptorSeesTheCall() {
		List<RpcClientCall> seen = new ArrayList<>();
		Shelf shelf = shelf((call) -> {
			seen.add(call);
			return call.proceed();
		});
		assertThat(CallOptions.NONE.withMetadata("k", "v").on(shelf).take("a", 1)).isEqualTo("a1");
		assertThat(seen).singleElement().satisfies((call) -> {
			assertThat(call.target()).isEqualTo(TestEnvironment.host() + ":" + this.server.port());
			assertThat(call.method().service()).isEqualTo(Shelf.class.getName());
			assertThat(call.method().name()).isEqualTo("take");
			assertThat(call.method().idempotent()).isTrue();
			assertThat(call.arguments()).containsExactly("a", 1);
			assertThat(call.options().metadata()).isEqualTo(Map.of("k", "v"));
			assertThat(call.deadlineNanos() - System.nanoTime()).isBetween(1L, Duration.ofSeconds(30).toNanos());
			assertThat(call).hasToString("call of " + Shelf.class.getName() + "/take at " + call.target());
		});
	}

	@Test
	void theFirstOneIsOutermost() {
		List<String> order = new ArrayList<>();
		Function<String, RpcClientInterceptor> named = (name) -> (call) -> {
			order.add(name);
			Object result = call.withOptions(call.options().withMetadata(name, "")).proceed();
			order.add(name);
			return result;
		};
		assertThat(shelf(named.apply("x"), named.apply("y")).metadata()).isEqualTo("[x, y]");
		assertThat(order).containsExactly("x", "y", "y", "x");
	}

	@Test
	void blocksAndClientsGiveTheirOptionsFirst() {
		Shelf shelf = shelf((call) -> call.withOptions(call.options().withMetadata("z", "")).proceed());
		CallOptions.NONE.withMetadata("x", "")
			.run(() -> assertThat(CallOptions.NONE.withMetadata("y", "").on(shelf).metadata()).isEqualTo("[x, y, z]"));
	}

	@Test
	void argumentsAndResultsCanBeReplaced() {
		Shelf shelf = shelf((call) -> "<" + call.withArguments(List.of("b", 2)).proceed() + ">");
		assertThat(shelf.take("a", 1)).isEqualTo("<b2>");
	}

	@Test
	void aCallNeedNotBeMade() {
		Shelf shelf = shelf((call) -> "none");
		assertThat(shelf.take("a", 1)).isEqualTo("none");
		assertThat(this.service.calls).hasValue(0);
		assertThat(this.server.channels()).isEmpty();
	}

	@Test
	void whatDoesNotFitIsNamed() {
		Shelf fewer = shelf((call) -> call.withArguments(List.of("a")).proceed());
		assertThatIllegalArgumentException().isThrownBy(() -> fewer.take("a", 1))
			.withMessageContaining("1 arguments for " + Shelf.class.getName() + "/take (expected: 2)");
		Shelf other = shelf((call) -> call.withArguments(List.of("a", "b")).proceed());
		assertThatIllegalArgumentException().isThrownBy(() -> other.take("a", 1))
			.withMessageContaining(
					"argument 2 of " + Shelf.class.getName() + "/take is of type java.lang.String (expected: int)");
		Shelf wrong = shelf((call) -> 7);
		assertThatIllegalStateException().isThrownBy(() -> wrong.take("a", 1))
			.withMessageContaining("returned of type java.lang.Integer for")
			.withMessageContaining("(expected: java.lang.String)");
		Shelf none = shelf((call) -> null);
		assertThatIllegalStateException().isThrownBy(() -> none.takeLater("a"))
			.withMessageContaining("returned null for");
		assertThatIllegalStateException().isThrownBy(none::count).withMessageContaining("(expected: int)");
		assertThat(none.take("a", 1)).isNull();
		none.put("a");
	}

	@Test
	void aFailedCallCanBeMadeAgain() {
		this.service.failures.set(2);
		Shelf shelf = shelf(repeating(3));
		assertThat(shelf.take("a", 1)).isEqualTo("a1");
		assertThat(this.service.calls).hasValue(3);
		this.service.failures.set(3);
		RpcException failure = RpcFixture.failureOf(() -> shelf.take("a", 1));
		assertThat(failure.status()).isEqualTo(RpcStatus.UNAVAILABLE);
	}

	@Test
	void aFutureCanBeMadeAgain() {
		this.service.failures.set(1);
		Shelf shelf = shelf((call) -> future(call).handle((result, failure) -> {
			if (failure == null) {
				return CompletableFuture.completedFuture(result);
			}
			assertThat(RpcException.in(failure)).isNotNull()
				.extracting(RpcException::status)
				.isEqualTo(RpcStatus.UNAVAILABLE);
			return future(call);
		}).thenCompose((stage) -> stage).toCompletableFuture());
		assertThat(shelf.takeLater("a").join()).isEqualTo("a");
		assertThat(this.service.calls).hasValue(2);
	}

	@Test
	void cancellingAFutureEndsTheCallsBehindIt() {
		List<CompletionStage<?>> made = new ArrayList<>();
		Shelf shelf = shelf((call) -> future(call).thenApply((result) -> result), (call) -> {
			CompletionStage<?> first = future(call);
			CompletionStage<?> second = future(call);
			made.addAll(List.of(first, second));
			return first.thenCombine(second, (one, other) -> one);
		});
		CompletableFuture<String> later = shelf.neverLater();
		RpcFixture.awaitTrue(() -> this.service.waiting.size() == 2);
		later.cancel(false);
		assertThat(made).allSatisfy((stage) -> assertThat(stage.toCompletableFuture()).isCancelled());
		RpcFixture.awaitTrue(() -> this.service.waiting.stream().allMatch(CompletableFuture::isCancelled));
	}

	@Test
	void aFutureThatIsMadeTooLateIsCancelled() {
		List<RpcClientCall> seen = new ArrayList<>();
		CompletableFuture<String> own = new CompletableFuture<>();
		Shelf shelf = shelf((call) -> {
			seen.add(call);
			return own;
		});
		shelf.neverLater().cancel(false);
		assertThat(future(seen.get(0)).toCompletableFuture()).isCancelled();
	}

	/** However late it is made again, and on whatever thread. */
	@Test
	void theDeadlineIsThatOfTheCall() {
		AtomicInteger attempts = new AtomicInteger();
		RpcClientInterceptor endless = (call) -> {
			while (call.method().name().equals("never")) {
				attempts.incrementAndGet();
				try {
					return call.withOptions(call.options().withDeadline(Duration.ofMillis(20))).proceed();
				}
				catch (RpcException ex) {
					assertThat(ex.status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
					if (call.deadlineNanos() - System.nanoTime() <= 0) {
						return call.withOptions(CallOptions.deadline(Duration.ofHours(1))).proceed();
					}
				}
			}
			return call.proceed();
		};
		Shelf shelf = shelf(endless);
		assertThat(shelf.count()).isZero();
		RpcException failure = RpcFixture
			.failureOf(() -> CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(1))).on(shelf).never());
		assertThat(failure.status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
		assertThat(attempts).hasValueGreaterThan(1);
	}

	@Test
	void anInterceptorSeesTheStatusAndTheCallerWhatIsDeclared() {
		List<Object> seen = new ArrayList<>();
		Shelf shelf = shelf((call) -> {
			try {
				return call.proceed();
			}
			catch (RpcException ex) {
				seen.add(ex);
				throw ex;
			}
		});
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> shelf.load("a"))
			.withMessage("no a")
			.withCause((Throwable) seen.get(0));
	}

	@Test
	void theStatusIsFoundBehindWhatFuturesFailWith() {
		List<@Nullable RpcException> seen = new ArrayList<>();
		Shelf shelf = shelf((call) -> future(call).whenComplete((result, failure) -> {
			seen.add(RpcException.in(failure));
			seen.add(RpcException.in(new CompletionException(failure)));
		}));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> shelf.loadLater("a").join())
			.withCauseInstanceOf(IOException.class);
		assertThat(seen).hasSize(2).doesNotContainNull();
		assertThat(RpcException.in(new IOException(new RuntimeException()))).isNull();
	}

	@Test
	void whatAnInterceptorThrowsReachesTheCaller() {
		Shelf refused = shelf((call) -> {
			throw new RpcException(RpcStatus.PERMISSION_DENIED, "not you");
		});
		assertThat(RpcFixture.failureOf(() -> refused.take("a", 1)).status()).isEqualTo(RpcStatus.PERMISSION_DENIED);
		Shelf broken = shelf((call) -> {
			throw new IllegalStateException("open");
		});
		assertThatIllegalStateException().isThrownBy(() -> broken.take("a", 1)).withMessage("open");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void streamsAreIntercepted(boolean publisher) throws InterruptedException {
		Shelf shelf = shelf((call) -> {
			assertThat(call.method().streaming()).isTrue();
			assertThat(call.deadlineNanos()).isEqualTo(Long.MAX_VALUE);
			return call.withArguments(List.of(3)).withOptions(call.options().withMetadata("first", "7")).proceed();
		});
		if (publisher) {
			assertThat(Collector.of(shelf.publish(1), 10).complete()).containsExactly(7, 8, 9);
		}
		else {
			try (Stream<Integer> stream = shelf.stream(1)) {
				assertThat(stream).containsExactly(7, 8, 9);
			}
		}
	}

	@Test
	void whatTheCallerSendsIsAnArgument() {
		Shelf shelf = shelf((call) -> {
			Stream<?> numbers = (Stream<?>) Objects.requireNonNull(call.arguments().get(0));
			return call.withArguments(List.of(numbers.map((number) -> 2 * (Integer) number))).proceed();
		});
		assertThat(shelf.sum(Stream.of(1, 2, 3))).isEqualTo(12);
	}

	@Test
	void anInterceptorAppliesToWhatItSays() {
		AtomicInteger asked = new AtomicInteger();
		List<String> seen = new ArrayList<>();
		RpcClientInterceptor some = new RpcClientInterceptor() {

			@Override
			public @Nullable Object intercept(RpcClientCall call) {
				seen.add(call.method().name());
				return call.proceed();
			}

			@Override
			public boolean appliesTo(String target, MethodDescriptor method) {
				asked.incrementAndGet();
				return method.idempotent();
			}

		};
		Shelf shelf = shelf(some);
		int before = asked.get();
		shelf.put("a");
		shelf.take("a", 1);
		CallOptions.NONE.withMetadata("k", "").on(shelf).count();
		shelf.take("a", 1);
		assertThat(seen).containsExactly("take", "take");
		assertThat(asked).hasValue(before);
	}

	/** Each attempt is one call for observers. */
	@Test
	void observersSeeEachAttempt() {
		AtomicInteger observed = new AtomicInteger();
		this.service.failures.set(1);
		try (RpcClient client = RpcClient.builder()
			.transport(this.fixture.clientTransport)
			.target(TestEnvironment.host(), this.server.port())
			.interceptor(repeating(2))
			.observer((method, peer, metadata) -> {
				observed.incrementAndGet();
				throw new IllegalStateException("only counts");
			})
			.build()) {
			assertThat(client.proxy(Shelf.class).take("a", 1)).isEqualTo("a1");
		}
		assertThat(observed).hasValue(2);
	}

	/** The service. */
	interface Shelf {

		@RdmaMethod(idempotent = true)
		@Nullable String take(String what, int number);

		CompletableFuture<String> takeLater(String what);

		int count();

		void put(String what);

		String metadata();

		String load(String what) throws IOException;

		CompletableFuture<String> loadLater(String what) throws IOException;

		void never();

		CompletableFuture<String> neverLater();

		Flow.Publisher<Integer> publish(int many);

		Stream<Integer> stream(int many);

		int sum(Stream<Integer> numbers);

	}

	private static final class ShelfService implements Shelf {

		private final AtomicInteger calls = new AtomicInteger();

		private final AtomicInteger failures = new AtomicInteger();

		private final List<CompletableFuture<String>> waiting = new CopyOnWriteArrayList<>();

		private void called() {
			this.calls.incrementAndGet();
			if (this.failures.getAndUpdate((left) -> Math.max(0, left - 1)) > 0) {
				throw new RpcException(RpcStatus.UNAVAILABLE, "not yet");
			}
		}

		@Override
		public String take(String what, int number) {
			called();
			return what + number;
		}

		@Override
		public CompletableFuture<String> takeLater(String what) {
			called();
			return CompletableFuture.completedFuture(what);
		}

		@Override
		public int count() {
			return this.calls.get();
		}

		@Override
		public void put(String what) {
			called();
		}

		@Override
		public String metadata() {
			return Objects.requireNonNull(RpcContext.current()).requestMetadata().asMap().keySet().toString();
		}

		@Override
		public String load(String what) throws IOException {
			throw new IOException("no " + what);
		}

		@Override
		public CompletableFuture<String> loadLater(String what) {
			return CompletableFuture.failedFuture(new IOException("no " + what));
		}

		@Override
		public CompletableFuture<String> neverLater() {
			CompletableFuture<String> never = new CompletableFuture<>();
			this.waiting.add(never);
			return never;
		}

		@Override
		public void never() {
			try {
				Thread.currentThread().join();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

		@Override
		public Flow.Publisher<Integer> publish(int many) {
			int first = first();
			return new FeedService.Numbers<>(many, (number) -> first + number, () -> {
			});
		}

		@Override
		public Stream<Integer> stream(int many) {
			return Stream.iterate(first(), (number) -> number + 1).limit(many);
		}

		private static int first() {
			CallMetadata metadata = Objects.requireNonNull(RpcContext.current()).requestMetadata();
			return Integer.parseInt(Objects.requireNonNull(metadata.get("first")));
		}

		@Override
		public int sum(Stream<Integer> numbers) {
			return numbers.mapToInt(Integer::intValue).sum();
		}

	}

}
