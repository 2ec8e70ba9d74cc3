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
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What belongs to a thread follows a call to others, and not beyond it. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcContextPropagationTests {

	private static final ThreadLocal<@Nullable String> USER = new ThreadLocal<>();

	private final RpcFixture fixture = new RpcFixture();

	private final LedgerService service = new LedgerService();

	private final List<AutoCloseable> opened = new ArrayList<>();

	@AfterEach
	void nothingIsOutstanding() throws Exception {
		USER.remove();
		for (AutoCloseable each : this.opened) {
			each.close();
		}
		this.fixture.close();
	}

	private static ContextPropagation.Captured capture() {
		String user = USER.get();
		return () -> {
			String before = USER.get();
			USER.set(user);
			return () -> USER.set(before);
		};
	}

	/** Whose handlers are called with a user that an interceptor sets. */
	private RpcServer server(Dispatch dispatch) {
		RpcServerOptions options = RpcFixture.serverOptions(0);
		RpcServer server = RpcServer.builder()
			.transport(this.fixture.serverTransport)
			.options(options.withHandlers(options.handlers().withDispatch(dispatch)))
			.service(Ledger.class, this.service)
			.interceptor((call) -> {
				USER.set(call.context().requestMetadata().get("user"));
				try {
					return call.proceed();
				}
				finally {
					USER.remove();
				}
			})
			.contextPropagation(RpcContextPropagationTests::capture)
			.build()
			.start();
		this.opened.add(0, server);
		return server;
	}

	private RpcClient.Builder builder() {
		return RpcClient.builder().transport(this.fixture.clientTransport);
	}

	private Ledger ledger(Dispatch dispatch, @Nullable ContextPropagation propagation) {
		RpcClient.Builder builder = builder().target(TestEnvironment.host(), server(dispatch).port());
		if (propagation != null) {
			builder.contextPropagation(propagation);
		}
		RpcClient client = builder.build();
		this.opened.add(0, client);
		return client.proxy(Ledger.class);
	}

	private Ledger ledger() {
		return ledger(Dispatch.ADAPTIVE, RpcContextPropagationTests::capture);
	}

	private static <T> T as(String user, Supplier<T> code) {
		USER.set(user);
		try {
			return code.get();
		}
		finally {
			USER.remove();
		}
	}

	@Test
	void whatDependsOnAFutureHasTheContextOfTheCall() {
		Ledger ledger = ledger();
		for (int i = 0; i < 20; i++) {
			String user = "user " + i;
			CompletableFuture<@Nullable String> seen = as(user,
					() -> ledger.held("x").thenApply((result) -> result + USER.get()));
			CompletableFuture<@Nullable String> failed = as(user,
					() -> ledger.held("").handle((result, failure) -> failure.getClass().getSimpleName() + USER.get()));
			this.service.letGo(2);
			assertThat(seen.join()).isEqualTo("x" + user);
			assertThat(failed.join()).isEqualTo("RpcException" + user);
		}
		assertThat(USER.get()).isNull();
		CompletableFuture<@Nullable String> none = ledger.held("x").thenApply((result) -> USER.get());
		this.service.letGo(1);
		assertThat(none.join()).isNull();
	}

	@Test
	void whatFailsWithoutAConnectionHasIt() {
		RpcClient client = builder().target("nobody", () -> new InetSocketAddress(TestEnvironment.address(), 1))
			.contextPropagation(RpcContextPropagationTests::capture)
			.build();
		this.opened.add(client);
		List<@Nullable String> seen = new CopyOnWriteArrayList<>();
		CompletableFuture<String> failing = as("user",
				() -> client.proxy(Ledger.class).held("x").whenComplete((result, failure) -> seen.add(USER.get())));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(failing::join);
		assertThat(seen).containsExactly("user");
	}

	@Test
	void withoutPropagationNothingFollows() {
		Ledger ledger = ledger(Dispatch.ADAPTIVE, null);
		CompletableFuture<@Nullable String> seen = as("user",
				() -> ledger.held("x").thenApply((result) -> String.valueOf(USER.get())));
		this.service.letGo(1);
		assertThat(seen.join()).isEqualTo("null");
	}

	@Test
	void aContextThatFailsHarmsNoCall() {
		for (ContextPropagation broken : List.<ContextPropagation>of(() -> {
			throw new IllegalStateException("on purpose: capture");
		}, () -> () -> {
			throw new IllegalStateException("on purpose: restore");
		}, () -> () -> () -> {
			throw new IllegalStateException("on purpose: close");
		})) {
			Ledger ledger = ledger(Dispatch.ADAPTIVE, broken);
			CompletableFuture<String> seen = ledger.held("x").thenApply((result) -> result + "!");
			this.service.letGo(1);
			assertThat(seen.join()).isEqualTo("x!");
		}
	}

	@ParameterizedTest
	@EnumSource(Dispatch.class)
	void subscribersOfRepliesHaveTheContext(Dispatch dispatch) throws InterruptedException {
		Ledger ledger = ledger(dispatch, RpcContextPropagationTests::capture);
		List<@Nullable String> seen = new CopyOnWriteArrayList<>();
		Collector<String> collector = new Collector<>(1) {

			@Override
			public void onNext(String item) {
				seen.add(USER.get());
				super.onNext(item);
				request(1);
			}

			@Override
			public void onComplete() {
				seen.add(USER.get());
				super.onComplete();
			}

		};
		Flow.Publisher<String> entries = CallOptions.NONE.withMetadata("user", "server").on(ledger).entries(3);
		as("client", () -> {
			entries.subscribe(collector);
			return "";
		});
		assertThat(collector.complete()).containsExactly("server0", "server1", "server2");
		assertThat(seen).containsExactly("client", "client", "client", "client");
	}

	@ParameterizedTest
	@EnumSource(Dispatch.class)
	void iteratedRepliesHaveTheContextOfTheHandler(Dispatch dispatch) {
		Ledger ledger = CallOptions.NONE.withMetadata("user", "server")
			.on(ledger(dispatch, RpcContextPropagationTests::capture));
		try (Stream<String> lines = ledger.lines(100)) {
			assertThat(lines).hasSize(100).containsOnly("server");
		}
		RpcFixture.awaitTrue(() -> this.service.closedBy.size() == 1);
		assertThat(this.service.closedBy).containsExactly("server");
		assertThat(ledger.iterated(3)).toIterable().containsExactly("server", "server", "server");
	}

	@ParameterizedTest
	@EnumSource(Dispatch.class)
	void whatTheCallerSendsIsAskedForWithTheContext(Dispatch dispatch) {
		Ledger ledger = ledger(dispatch, RpcContextPropagationTests::capture);
		Flow.Publisher<String> users = new FeedService.Numbers<>(100, (number) -> String.valueOf(USER.get()), () -> {
		});
		assertThat(as("client", () -> ledger.join(users))).isEqualTo("[client]");
		Iterator<String> iterated = Stream.generate(() -> String.valueOf(USER.get())).limit(100).iterator();
		assertThat(as("client", () -> ledger.joinIterated(iterated))).isEqualTo("[client]");
		List<@Nullable String> closedBy = new CopyOnWriteArrayList<>();
		Stream<String> stream = Stream.generate(() -> String.valueOf(USER.get()))
			.limit(100)
			.onClose(() -> closedBy.add(USER.get()));
		assertThat(as("client", () -> ledger.joinLater(stream)).join()).isEqualTo("[client]");
		RpcFixture.awaitTrue(() -> closedBy.size() == 1);
		assertThat(closedBy).containsExactly("client");
	}

	@ParameterizedTest
	@EnumSource(Dispatch.class)
	void subscribersOfRequestsHaveTheContextOfTheHandler(Dispatch dispatch) {
		Ledger ledger = ledger(dispatch, RpcContextPropagationTests::capture);
		Flow.Publisher<String> many = new FeedService.Numbers<>(100, (number) -> "x", () -> {
		});
		assertThat(CallOptions.NONE.withMetadata("user", "server").on(ledger).users(many).join()).isEqualTo("[server]");
	}

	/** The service. */
	interface Ledger {

		CompletableFuture<String> held(String text);

		Flow.Publisher<String> entries(int many);

		Stream<String> lines(int many);

		Iterator<String> iterated(int many);

		String join(Flow.Publisher<String> texts);

		String joinIterated(Iterator<String> texts);

		CompletableFuture<String> joinLater(Stream<String> texts);

		CompletableFuture<String> users(Flow.Publisher<String> texts);

	}

	private static final class LedgerService implements Ledger {

		private final List<Runnable> held = new CopyOnWriteArrayList<>();

		private final List<@Nullable String> closedBy = new CopyOnWriteArrayList<>();

		void letGo(int count) {
			RpcFixture.awaitTrue(() -> this.held.size() == count);
			this.held.forEach(Runnable::run);
			this.held.clear();
		}

		@Override
		public CompletableFuture<String> held(String text) {
			CompletableFuture<String> future = new CompletableFuture<>();
			this.held.add(text.isEmpty()
					? () -> future.completeExceptionally(new RpcException(RpcStatus.ABORTED, "on purpose"))
					: () -> future.complete(text));
			return future;
		}

		@Override
		public Flow.Publisher<String> entries(int many) {
			return new FeedService.Numbers<>(many, (number) -> USER.get() + number, () -> {
			});
		}

		@Override
		public Stream<String> lines(int many) {
			return Stream.generate(() -> String.valueOf(USER.get()))
				.limit(many)
				.onClose(() -> this.closedBy.add(USER.get()));
		}

		@Override
		public Iterator<String> iterated(int many) {
			return Stream.generate(() -> String.valueOf(USER.get())).limit(many).iterator();
		}

		@Override
		public String join(Flow.Publisher<String> texts) {
			try {
				return Collector.of(texts, Long.MAX_VALUE).complete().stream().distinct().toList().toString();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public String joinIterated(Iterator<String> texts) {
			List<String> all = new ArrayList<>();
			texts.forEachRemaining(all::add);
			return all.stream().distinct().toList().toString();
		}

		@Override
		public CompletableFuture<String> joinLater(Stream<String> texts) {
			return CompletableFuture.completedFuture(texts.distinct().toList().toString());
		}

		@Override
		public CompletableFuture<String> users(Flow.Publisher<String> texts) {
			List<String> users = new ArrayList<>();
			CompletableFuture<String> seen = new CompletableFuture<>();
			texts.subscribe(new Flow.Subscriber<>() {

				@Override
				public void onSubscribe(Flow.Subscription subscription) {
					subscription.request(Long.MAX_VALUE);
				}

				@Override
				public void onNext(String item) {
					users.add(String.valueOf(USER.get()));
				}

				@Override
				public void onError(Throwable failure) {
					seen.completeExceptionally(failure);
				}

				@Override
				public void onComplete() {
					users.add(String.valueOf(USER.get()));
					seen.complete(users.stream().distinct().toList().toString());
				}

			});
			return seen;
		}

	}

}
