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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What interceptors of a server see of calls, and what they can make of them. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcServerInterceptorTests {

	private final RpcFixture fixture = new RpcFixture();

	private final KitchenService service = new KitchenService();

	private final List<AutoCloseable> opened = new ArrayList<>();

	@AfterEach
	void nothingIsOutstanding() throws Exception {
		for (AutoCloseable each : this.opened) {
			each.close();
		}
		this.fixture.close();
	}

	private Kitchen kitchen(RpcServerInterceptor... interceptors) {
		return kitchen(Dispatch.ADAPTIVE, interceptors);
	}

	private Kitchen kitchen(Dispatch dispatch, RpcServerInterceptor... interceptors) {
		RpcServerOptions options = RpcFixture.serverOptions(0);
		RpcServer.Builder builder = RpcServer.builder()
			.transport(this.fixture.serverTransport)
			.options(options.withHandlers(options.handlers().withDispatch(dispatch)))
			.service(Kitchen.class, this.service);
		List.of(interceptors).forEach(builder::interceptor);
		RpcServer server = builder.build().start();
		RpcClient client = this.fixture.newClient(server);
		this.opened.add(client);
		this.opened.add(server);
		return client.proxy(Kitchen.class);
	}

	private static CompletionStage<?> future(RpcServerCall call) throws Throwable {
		return (CompletionStage<?>) Objects.requireNonNull(call.proceed());
	}

	@ParameterizedTest
	@EnumSource(Dispatch.class)
	void anInterceptorSeesTheCallOnTheThreadOfTheHandler(Dispatch dispatch) {
		List<Thread> threads = new CopyOnWriteArrayList<>();
		List<RpcServerCall> seen = new CopyOnWriteArrayList<>();
		Kitchen kitchen = kitchen(dispatch, (call) -> {
			threads.add(Thread.currentThread());
			seen.add(call);
			assertThat(call.context()).isSameAs(RpcContext.current());
			assertThat(call.context().requestMetadata().get("table")).isEqualTo("4");
			call.context().replyMetadata().put("seen", "yes");
			return call.proceed();
		});
		CallMetadata reply = new CallMetadata();
		CallOptions options = CallOptions.NONE.withMetadata("table", "4").withReplyMetadata(reply);
		for (int i = 0; i < 30; i++) {
			assertThat(options.on(kitchen).cook("soup", 2)).isEqualTo("soup2");
			assertThat(reply.get("seen")).isEqualTo("yes");
		}
		assertThat(threads).hasSize(30).isEqualTo(this.service.threads);
		assertThat(seen.get(0)).satisfies((call) -> {
			assertThat(call.method().fullName()).isEqualTo(Kitchen.class.getName() + "/cook");
			assertThat(call.arguments()).containsExactly("soup", 2);
			assertThat(call.context().peer()).isNotNull();
		});
	}

	@Test
	void theFirstOneIsOutermost() {
		Kitchen kitchen = kitchen((call) -> "<" + call.proceed() + ">", (call) -> "[" + call.proceed() + "]");
		assertThat(kitchen.cook("soup", 1)).isEqualTo("<[soup1]>");
		assertThat(kitchen.one("egg")).isEqualTo("<[egg]>");
	}

	@Test
	void argumentsCanBeReplaced() {
		Kitchen kitchen = kitchen((call) -> call
			.withArguments(
					call.arguments().stream().map((value) -> (value instanceof String) ? "salad" : value).toList())
			.proceed());
		assertThat(kitchen.cook("soup", 3)).isEqualTo("salad3");
		assertThat(kitchen.one("egg")).isEqualTo("salad");
	}

	@Test
	void aCallCanBeRefusedOrAnswered() {
		Kitchen kitchen = kitchen((call) -> {
			if (call.method().name().equals("one")) {
				return "none";
			}
			throw new RpcException(RpcStatus.PERMISSION_DENIED, "closed");
		});
		RpcException failure = RpcFixture.failureOf(() -> kitchen.cook("soup", 1));
		assertThat(failure.status()).isEqualTo(RpcStatus.PERMISSION_DENIED);
		assertThat(failure.detail()).isEqualTo("closed");
		assertThat(kitchen.one("egg")).isEqualTo("none");
		assertThat(this.service.threads).isEmpty();
	}

	@Test
	void itsExceptionsAreTreatedLikeThoseOfHandlers() {
		Kitchen kitchen = kitchen((call) -> {
			switch (call.method().name()) {
				case "burn" -> throw new IOException("declared");
				case "cook" -> throw new IOException("not declared");
				default -> throw new IllegalArgumentException("secret");
			}
		});
		assertThatExceptionOfType(IOException.class).isThrownBy(kitchen::burn).withMessage("declared");
		assertThat(RpcFixture.failureOf(() -> kitchen.cook("soup", 1)))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.UNKNOWN))
			.satisfies((ex) -> assertThat(ex.detail()).startsWith("the handler failed, reference "));
		assertThat(RpcFixture.failureOf(() -> kitchen.one("egg")).status()).isEqualTo(RpcStatus.INVALID_ARGUMENT);
	}

	@Test
	void itSeesTheExceptionsOfHandlers() {
		List<Throwable> seen = new CopyOnWriteArrayList<>();
		Kitchen kitchen = kitchen((call) -> {
			try {
				return call.proceed();
			}
			catch (IOException ex) {
				seen.add(ex);
				throw new RpcException(RpcStatus.DATA_LOSS, "burnt");
			}
		});
		assertThat(RpcFixture.failureOf(() -> {
			try {
				kitchen.burn();
			}
			catch (IOException ex) {
				throw new AssertionError(ex);
			}
		}).status()).isEqualTo(RpcStatus.DATA_LOSS);
		assertThat(seen).singleElement().isInstanceOf(IOException.class);
	}

	@Test
	void whatDoesNotFitFailsTheCall() {
		Kitchen kitchen = kitchen((call) -> switch (call.method().name()) {
			case "cook" -> 7;
			case "one" -> call.withArguments(List.of()).proceed();
			default -> null;
		});
		assertThat(RpcFixture.failureOf(() -> kitchen.cook("soup", 1)).status()).isEqualTo(RpcStatus.UNKNOWN);
		assertThat(RpcFixture.failureOf(() -> kitchen.one("egg")).status()).isEqualTo(RpcStatus.INVALID_ARGUMENT);
		assertThat(kitchen.cookLater("soup")).failsWithin(Duration.ofSeconds(30));
	}

	@Test
	void futuresCanBeReplaced() {
		Kitchen kitchen = kitchen((call) -> future(call).thenApply((result) -> result + "!"));
		assertThat(kitchen.cookLater("soup").join()).isEqualTo("soup!");
	}

	@Test
	void aCancellationReachesTheFutureOfTheHandler() {
		Kitchen kitchen = kitchen((call) -> future(call).thenApply((result) -> result),
				(call) -> future(call).thenApply((result) -> result));
		CompletableFuture<String> later = kitchen.never();
		RpcFixture.awaitTrue(() -> this.service.waiting.size() == 1);
		later.cancel(false);
		RpcFixture.awaitTrue(() -> this.service.waiting.get(0).isCancelled());
	}

	@ParameterizedTest
	@EnumSource(Dispatch.class)
	void streamsAreIntercepted(Dispatch dispatch) throws InterruptedException {
		Kitchen kitchen = kitchen(dispatch, (call) -> {
			if (call.method().consuming()) {
				Stream<?> numbers = (Stream<?>) Objects.requireNonNull(call.arguments().get(0));
				return call.withArguments(List.of(numbers.map((number) -> 2 * (Integer) number))).proceed();
			}
			Object result = call.withArguments(List.of(3)).proceed();
			return (result instanceof Stream<?> stream) ? stream.map((number) -> 10 * (Integer) number) : result;
		});
		assertThat(Collector.of(kitchen.publish(1), 10).complete()).containsExactly(0, 1, 2);
		try (Stream<Integer> stream = kitchen.stream(1)) {
			assertThat(stream).containsExactly(0, 10, 20);
		}
		assertThat(kitchen.sum(Stream.of(1, 2, 3))).isEqualTo(12);
	}

	@Test
	void anInterceptorAppliesToWhatItSays() {
		RpcServerInterceptor some = new RpcServerInterceptor() {

			@Override
			public @Nullable Object intercept(RpcServerCall call) throws Throwable {
				return "<" + call.proceed() + ">";
			}

			@Override
			public boolean appliesTo(MethodDescriptor method) {
				return method.service().equals(Kitchen.class.getName()) && method.name().equals("one");
			}

		};
		Kitchen kitchen = kitchen(some);
		assertThat(kitchen.one("egg")).isEqualTo("<egg>");
		assertThat(kitchen.cook("soup", 1)).isEqualTo("soup1");
	}

	@Test
	void exceptionHandlersSeeWhatComesOut() {
		Map<String, Class<?>> seen = new ConcurrentHashMap<>();
		RpcServer server = RpcServer.builder()
			.transport(this.fixture.serverTransport)
			.options(RpcFixture.serverOptions(0))
			.service(Kitchen.class, this.service)
			.interceptor((call) -> {
				try {
					return call.proceed();
				}
				catch (IllegalStateException ex) {
					throw new UnsupportedOperationException(ex);
				}
			})
			.exceptionHandler((method, failure) -> {
				seen.put(method.name(), failure.getClass());
				return new RpcException(RpcStatus.ABORTED, "handled");
			})
			.build()
			.start();
		RpcClient client = this.fixture.newClient(server);
		this.opened.add(client);
		this.opened.add(server);
		assertThat(RpcFixture.failureOf(() -> client.proxy(Kitchen.class).one("")).status())
			.isEqualTo(RpcStatus.ABORTED);
		assertThat(seen).containsExactly(Map.entry("one", UnsupportedOperationException.class));
	}

	/** The service. */
	interface Kitchen {

		String cook(String what, int many);

		String one(String what);

		void burn() throws IOException;

		CompletableFuture<String> cookLater(String what);

		CompletableFuture<String> never();

		Flow.Publisher<Integer> publish(int many);

		Stream<Integer> stream(int many);

		int sum(Stream<Integer> numbers);

	}

	private static final class KitchenService implements Kitchen {

		private final List<Thread> threads = new CopyOnWriteArrayList<>();

		private final List<CompletableFuture<String>> waiting = new CopyOnWriteArrayList<>();

		@Override
		public String cook(String what, int many) {
			this.threads.add(Thread.currentThread());
			return what + many;
		}

		@Override
		public String one(String what) {
			if (what.isEmpty()) {
				throw new IllegalStateException("nothing");
			}
			return what;
		}

		@Override
		public void burn() throws IOException {
			throw new IOException("too hot");
		}

		@Override
		public CompletableFuture<String> cookLater(String what) {
			return CompletableFuture.completedFuture(what);
		}

		@Override
		public CompletableFuture<String> never() {
			CompletableFuture<String> never = new CompletableFuture<>();
			this.waiting.add(never);
			return never;
		}

		@Override
		public Flow.Publisher<Integer> publish(int many) {
			return new FeedService.Numbers<>(many, (number) -> number, () -> {
			});
		}

		@Override
		public Stream<Integer> stream(int many) {
			return Stream.iterate(0, (number) -> number + 1).limit(many);
		}

		@Override
		public int sum(Stream<Integer> numbers) {
			return numbers.mapToInt(Integer::intValue).sum();
		}

	}

}
