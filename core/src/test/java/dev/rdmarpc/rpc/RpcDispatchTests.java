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
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** On which threads handlers run, and what they can do there. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcDispatchTests {

	private static final String LOOP = "rdma-rpc-server-";

	private static final String HANDLER = "rdma-rpc-handler-";

	@Test
	void aMethodThatIsQuickMovesToTheLoop() {
		try (Served served = new Served(UnaryOperator.identity())) {
			assertThat(served.work.where()).startsWith(HANDLER);
			served.moveToLoop();
			RpcServerMetrics metrics = served.server.metrics();
			assertThat(metrics.movesToLoop()).isOne();
			assertThat(metrics.callsOnLoop()).isPositive();
			assertThat(metrics.callsOnExecutor()).isGreaterThan(100);
			assertThat(metrics.threads()).isPositive();
		}
	}

	@Test
	void aMethodThatBlocksOnTheLoopHoldsUpNobodyAndMovesBack() {
		try (Served served = new Served(UnaryOperator.identity())) {
			served.moveToLoop();
			CountDownLatch release = new CountDownLatch(1);
			served.handler.beforeOnLoop = release;
			List<CompletableFuture<String>> calls = new ArrayList<>();
			RpcFixture.awaitTrue(() -> {
				calls.add(served.async.where());
				return served.handler.blocked.getCount() == 0;
			});
			served.handler.beforeOnLoop = null;
			RpcFixture.awaitTrue(() -> served.work.inline().startsWith(LOOP));
			RpcFixture.awaitTrue(() -> served.where().startsWith(HANDLER));
			release.countDown();
			assertThat(calls).allSatisfy((call) -> assertThat(call).succeedsWithin(Duration.ofSeconds(60)));
			RpcFixture.awaitTrue(() -> served.server.metrics().movesToExecutor() > 0);
			assertThat(served.work.where()).startsWith(HANDLER);
		}
	}

	@Test
	void methodsStayOnTheExecutorIfTheServerSaysSo() {
		try (Served served = new Served((handlers) -> handlers.withDispatch(Dispatch.EXECUTOR))) {
			for (int i = 0; i < 3000; i++) {
				assertThat(served.work.where()).startsWith(HANDLER);
			}
			assertThat(served.server.metrics().callsOnLoop()).isZero();
			assertThat(served.server.metrics().callsOnExecutor()).isEqualTo(3000);
			RpcFixture.awaitTrue(() -> served.work.inline().startsWith(LOOP));
			assertThat(served.server.metrics().callsOnLoop()).isPositive();
		}
	}

	@Test
	void methodsRunOnTheLoopIfTheServerSaysSo() {
		try (Served served = new Served((handlers) -> handlers.withDispatch(Dispatch.INLINE))) {
			// on a loaded machine, a loop that is replaced leaves a call to the executor
			served.moveToLoop();
			assertThat(served.server.metrics().callsOnLoop()).isPositive();
			assertThat(served.server.metrics().movesToLoop()).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource(Dispatch.class)
	void callersOfAHandlerThatCallsItsOwnServiceAllReturn(Dispatch dispatch) throws Exception {
		nest((handlers) -> handlers.withDispatch(dispatch));
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void callersOfAHandlerOnAVirtualThreadAllReturn() throws Exception {
		nest((handlers) -> handlers.withThreads(HandlerThreads.VIRTUAL, 1));
	}

	private static void nest(UnaryOperator<HandlerOptions> options) throws Exception {
		try (Served served = new Served(options)) {
			served.handler.self = served.work;
			List<Thread> callers = new ArrayList<>();
			AtomicReference<Throwable> failure = new AtomicReference<>();
			for (int i = 0; i < 16; i++) {
				Thread caller = new Thread(() -> {
					try {
						for (int call = 0; call < 50; call++) {
							assertThat(served.work.nested(3)).isEqualTo(3);
						}
					}
					catch (Throwable ex) {
						failure.set(ex);
					}
				});
				caller.start();
				callers.add(caller);
			}
			for (Thread caller : callers) {
				caller.join();
			}
			assertThat(failure).hasNullValue();
		}
	}

	@ParameterizedTest
	@EnumSource(value = Dispatch.class, names = { "ADAPTIVE", "EXECUTOR" })
	void handlersThatBlockRunAtTheSameTime(Dispatch dispatch) {
		try (Served served = new Served((handlers) -> handlers.withDispatch(dispatch))) {
			served.handler.together = new CyclicBarrier(100);
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			for (int i = 0; i < 100; i++) {
				calls.add(served.async.meet());
			}
			assertThat(calls).allSatisfy((call) -> assertThat(call).succeedsWithin(Duration.ofSeconds(60)));
		}
	}

	@Test
	void handlersBeyondTheThreadsWaitAndCallsBeyondTheLimitAreRefused() {
		CountDownLatch release = new CountDownLatch(1);
		try (Served served = new Served((handlers) -> handlers.withThreads(HandlerThreads.PLATFORM, 2), 5)) {
			served.handler.before = release;
			List<CompletableFuture<String>> calls = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				calls.add(served.async.where());
			}
			RpcFixture.awaitTrue(() -> served.server.activeCalls() == 4);
			RpcFixture.awaitTrue(() -> served.server.metrics().waitingCalls() == 2);
			RpcServerMetrics metrics = served.server.metrics();
			assertThat(metrics.threads()).isEqualTo(2);
			assertThat(metrics.busyThreads()).isEqualTo(2);
			assertThat(metrics.maxThreads()).isEqualTo(2);
			RpcException refused = RpcFixture.failureOf(served.work::where);
			assertThat(refused.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			release.countDown();
			assertThat(calls).allSatisfy((call) -> assertThat(call).succeedsWithin(Duration.ofSeconds(60)));
		}
	}

	@Test
	void aServerWhoseHandlersAllBlockHasAProblem() {
		CountDownLatch release = new CountDownLatch(1);
		try (Served served = new Served((handlers) -> handlers.withThreads(HandlerThreads.PLATFORM, 1))) {
			served.handler.before = release;
			CompletableFuture<String> running = served.async.where();
			RpcFixture.awaitTrue(() -> served.handler.blocked.getCount() == 0);
			assertThat(served.server.problem(System.nanoTime() + 11_000_000_000L)).as("nothing waits").isNull();
			CompletableFuture<String> waiting = served.async.where();
			RpcFixture.awaitTrue(() -> served.server.metrics().waitingCalls() == 1);
			assertThat(served.server.problem(System.nanoTime() + 5_000_000_000L)).as("not for long").isNull();
			assertThat(served.server.problem(System.nanoTime() + 11_000_000_000L))
				.matches("no handler has begun on the executor for 1\\d s; waiting calls: 1, busy threads: 1, "
						+ "rdma-rpc-handler-1 at \\S*dev.rdmarpc\\S+");
			release.countDown();
			assertThat(running).succeedsWithin(Duration.ofSeconds(60));
			assertThat(waiting).succeedsWithin(Duration.ofSeconds(60));
			assertThat(served.server.problem(System.nanoTime() + 11_000_000_000L)).as("afterwards").isNull();
		}
	}

	@Test
	void theUsersExecutorIsUsed() {
		ExecutorService executor = Executors.newFixedThreadPool(2, (task) -> new Thread(task, "of-the-user"));
		try (Served served = new Served(UnaryOperator.identity(), 1024, executor)) {
			assertThat(served.work.where()).isEqualTo("of-the-user");
			assertThat(served.server.metrics().maxThreads()).isZero();
			served.moveToLoop();
		}
		finally {
			executor.shutdownNow();
		}
	}

	@ParameterizedTest
	@EnumSource(value = Dispatch.class, names = { "EXECUTOR", "INLINE" })
	void aHandlerIsInterruptedWhenItsCallerGivesUp(Dispatch dispatch) {
		try (Served served = new Served((handlers) -> handlers.withDispatch(dispatch))) {
			served.handler.before = new CountDownLatch(1);
			CompletableFuture<String> call = served.async.where();
			RpcFixture.awaitTrue(() -> served.handler.blocked.getCount() == 0);
			call.cancel(true);
			RpcFixture.awaitTrue(() -> served.handler.interrupted.getCount() == 0);
			served.handler.before = null;
			RpcFixture.awaitTrue(() -> served.server.activeCalls() == 0);
			assertThat(served.work.interruptedBefore()).isFalse();
		}
	}

	/** A server of its own kind beside that of the fixture, with two clients. */
	private static final class Served implements AutoCloseable {

		final RpcFixture fixture = new RpcFixture();

		final Handler handler = new Handler();

		final RpcServer server;

		final RpcClient client;

		final Work work;

		final AsyncWork async;

		Served(UnaryOperator<HandlerOptions> options) {
			this(options, 1024);
		}

		Served(UnaryOperator<HandlerOptions> options, int calls) {
			this(options, calls, null);
		}

		Served(UnaryOperator<HandlerOptions> options, int calls, @Nullable ExecutorService executor) {
			HandlerOptions platform = HandlerOptions.DEFAULTS.withThreads(HandlerThreads.PLATFORM, 256);
			RpcServer.Builder builder = RpcServer.builder()
				.transport(this.fixture.serverTransport)
				.options(RpcFixture.serverOptions(0).withLimits(16, calls).withHandlers(options.apply(platform)))
				.service(Work.class, this.handler);
			if (executor != null) {
				builder.executor(executor);
			}
			this.server = builder.build().start();
			this.client = this.fixture.newClient(this.server);
			this.work = this.client.proxy(Work.class);
			this.async = this.client.proxy(Work.class.getName(), AsyncWork.class);
		}

		String where() {
			return this.work.where();
		}

		/**
		 * Several calls at once: one at a time is slow on a busy machine, as it finds all
		 * caches cold.
		 */
		void moveToLoop() {
			RpcFixture.awaitTrue(() -> Stream.generate(this.async::where)
				.limit(8)
				.toList()
				.stream()
				.map(CompletableFuture::join)
				.anyMatch((where) -> where.startsWith(LOOP)));
		}

		@Override
		public void close() {
			this.handler.before = null;
			this.client.close();
			this.server.close();
			assertThat(this.server.activeCalls()).as("active calls").isZero();
			this.fixture.close();
		}

	}

	/** The service. */
	public interface Work {

		String where();

		@RdmaMethod(inline = true)
		String inline();

		int nested(int depth);

		void meet();

		boolean interruptedBefore();

	}

	/** The same with futures. */
	public interface AsyncWork {

		CompletableFuture<String> where();

		CompletableFuture<Void> meet();

	}

	/** Blocks where a test says so. */
	static final class Handler implements Work {

		final CountDownLatch blocked = new CountDownLatch(1);

		final CountDownLatch interrupted = new CountDownLatch(1);

		volatile @Nullable CountDownLatch before;

		volatile @Nullable CountDownLatch beforeOnLoop;

		volatile @Nullable CyclicBarrier together;

		volatile @Nullable Work self;

		@Override
		public String where() {
			String name = Thread.currentThread().getName();
			CountDownLatch latch = name.startsWith(LOOP) ? this.beforeOnLoop : null;
			latch = (latch != null) ? latch : this.before;
			if (latch != null) {
				this.blocked.countDown();
				try {
					latch.await(TestEnvironment.patience(Duration.ofSeconds(60)).toSeconds(), TimeUnit.SECONDS);
				}
				catch (InterruptedException ex) {
					this.interrupted.countDown();
				}
			}
			return name;
		}

		@Override
		public String inline() {
			return Thread.currentThread().getName();
		}

		@Override
		public int nested(int depth) {
			Work next = this.self;
			return (depth == 0 || next == null) ? 0 : 1 + next.nested(depth - 1);
		}

		@Override
		public void meet() {
			CyclicBarrier barrier = this.together;
			try {
				if (barrier != null) {
					barrier.await(60, TimeUnit.SECONDS);
				}
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public boolean interruptedBefore() {
			return Thread.currentThread().isInterrupted();
		}

	}

}
