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

package dev.rdmarpc.transport;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.Await;

import static org.assertj.core.api.Assertions.assertThat;

/** Which thread drives: never two at once, never nobody for long. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LoopDriverTests {

	private static final long FAR = TimeUnit.HOURS.toNanos(1);

	private final LoopWatcher watcher = new LoopWatcher();

	private final FakeCompletionQueue completions = new FakeCompletionQueue();

	private final Work work = new Work();

	private LoopDriver driver = newDriver(PollingMode.EVENT);

	private LoopDriver newDriver(PollingMode mode) {
		return new LoopDriver("driver-of-the-test", this.work, this.completions, new LoopMetrics(),
				new PollingOptions(mode, 20_000), this.watcher);
	}

	@AfterEach
	void close() {
		if (!this.work.closed.get()) {
			this.driver.close(() -> this.work.closed.set(true));
		}
		assertThat(this.work.violations).as("turns or tasks at the same time").hasValue(0);
		this.watcher.close();
		assertThat(this.completions.awaiting).hasValue(0);
	}

	@ParameterizedTest
	@EnumSource
	void tasksOfManyThreadsRunOneAtATimeAndAllOfThem(PollingMode mode) throws Exception {
		this.driver = newDriver(mode);
		this.driver.start();
		int[] plainCounter = new int[1];
		CountDownLatch ran = new CountDownLatch(4 * 20_000);
		for (int i = 0; i < 4; i++) {
			boolean later = i % 2 == 1;
			start(() -> {
				for (int task = 0; task < 20_000; task++) {
					Runnable increment = () -> this.work.exclusively(() -> {
						plainCounter[0]++;
						ran.countDown();
						return true;
					});
					if (later) {
						this.driver.executeLater(increment);
					}
					else {
						this.driver.execute(increment);
					}
				}
			});
		}
		assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
		int[] seen = new int[1];
		onDriver(() -> seen[0] = plainCounter[0]);
		assertThat(seen[0]).isEqualTo(4 * 20_000);
	}

	@Test
	void taskRunsAtOnceWhenTheRoleIsFree() {
		AtomicReference<Thread> runner = new AtomicReference<>();
		this.driver.execute(() -> runner.set(Thread.currentThread()));
		assertThat(runner).hasValue(Thread.currentThread());
		assertThat(this.driver.isDriver()).isFalse();
	}

	@Test
	void laterMeansNotFromWithinTheCaller() {
		List<String> order = new ArrayList<>();
		this.driver.execute(() -> {
			assertThat(this.driver.isDriver()).isTrue();
			this.driver.executeLater(() -> order.add("later"));
			this.driver.execute(() -> order.add("now"));
			order.add("caller");
		});
		assertThat(order).containsExactly("now", "caller", "later");
	}

	@Test
	void whoeverRunsUsersCodeKnowsTheTimeRoughly() throws Exception {
		this.driver.start();
		long begin = System.nanoTime();
		assertThat(this.driver.thread().roughNanos()).as("not on a thread of users' code").isZero();
		List<Long> seen = new ArrayList<>();
		while (seen.isEmpty()) {
			CountDownLatch ran = new CountDownLatch(1);
			CountedTask task = new CountedTask(() -> {
				boolean before = this.driver.thread().isCurrentAway();
				long roughly = this.driver.thread().roughNanos();
				if (before && this.driver.thread().isCurrentAway()) {
					seen.add(roughly - begin);
					seen.add(System.nanoTime() - roughly);
				}
				ran.countDown();
			});
			this.driver.execute(() -> this.driver.afterTurn(task));
			Await.latch(ran);
		}
		assertThat(seen).allSatisfy((nanos) -> assertThat(nanos).isBetween(0L, FAR));
	}

	/** As of calls that are made again in callbacks because they were refused. */
	@Test
	void aLoopTurnsAlthoughThereIsAlwaysUsersCode() {
		this.driver.start();
		AtomicBoolean over = new AtomicBoolean();
		for (int i = 0; i < 3 * CompletionBatch.MOST_HANDLED; i++) {
			AtomicReference<CountedTask> self = new AtomicReference<>();
			CountedTask task = new CountedTask(() -> {
				if (!over.get()) {
					this.driver.execute(() -> this.driver.afterTurn(self.get()));
				}
			});
			self.set(task);
			this.driver.execute(() -> this.driver.afterTurn(task));
		}
		int before = this.work.turns.get();
		Await.until(() -> this.work.turns.get() > before + 10);
		over.set(true);
	}

	@Test
	void whoeverWasReplacedKnowsItNoMore() throws Exception {
		this.driver.start();
		CompletableFuture<Long> roughly = new CompletableFuture<>();
		CountedTask task = new CountedTask(() -> {
			LoopThread thread = this.driver.thread();
			thread.handOver();
			Await.until(() -> !thread.isCurrent());
			roughly.complete(thread.roughNanos());
		});
		this.driver.execute(() -> this.driver.afterTurn(task));
		assertThat(roughly.get(30, TimeUnit.SECONDS)).isZero();
	}

	@Test
	void taskThatFailsHarmsNobody() {
		AtomicBoolean ran = new AtomicBoolean();
		this.driver.execute(() -> {
			throw new IllegalStateException("boom");
		});
		this.driver.execute(() -> {
			throw new StackOverflowError("boom");
		});
		this.driver.execute(() -> ran.set(true));
		assertThat(ran).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void blockedCallerDrivesUntilItsCallIsDone(PollingMode mode) {
		this.driver = newDriver(mode);
		StubCall call = new StubCall();
		AtomicReference<Thread> driving = new AtomicReference<>();
		this.work.steps = () -> {
			driving.set(Thread.currentThread());
			call.onFailure(CallFailure.CANCELLED, "done");
			return true;
		};
		assertThat(this.driver.waitFor(call, Long.MAX_VALUE)).isTrue();
		assertThat(driving).hasValue(Thread.currentThread());
		assertThat(this.driver.isDriver()).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void callerStartsAndWaits(PollingMode mode) {
		this.driver = newDriver(mode);
		this.driver.start();
		for (int i = 0; i < 1000; i++) {
			callAndWait();
		}
	}

	private void callAndWait() {
		StubCall call = new StubCall();
		Thread caller = Thread.currentThread();
		AtomicBoolean started = new AtomicBoolean();
		this.work.steps = () -> {
			if (started.compareAndSet(true, false)) {
				call.onFailure(CallFailure.CANCELLED, "done");
				this.driver.callFinished();
				this.driver.wake(caller);
			}
			return false;
		};
		Runnable task = () -> {
			this.driver.callStarted();
			started.set(true);
			this.completions.wakeUp();
		};
		this.driver.executeForCaller(task);
		assertThat(this.driver.waitFor(call, Long.MAX_VALUE)).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void waitingEndsAtTheDeadline(PollingMode mode) {
		this.driver = newDriver(mode);
		long deadline = System.nanoTime() + 5_000_000;
		assertThat(this.driver.waitFor(new StubCall(), deadline)).isFalse();
		assertThat(System.nanoTime() - deadline).isNotNegative();
	}

	@ParameterizedTest
	@EnumSource
	void interruptEndsWaitingAndStays(PollingMode mode) throws Exception {
		this.driver = newDriver(mode);
		this.driver.start();
		CompletableFuture<Boolean> outcome = new CompletableFuture<>();
		Thread waiter = start(() -> {
			boolean done = this.driver.waitFor(new StubCall(), Long.MAX_VALUE);
			outcome.complete(!done && Thread.currentThread().isInterrupted());
		});
		Await.until(() -> this.work.turns.get() > 10 || this.completions.awaiting.get() > 0);
		waiter.interrupt();
		assertThat(outcome.get(20, TimeUnit.SECONDS)).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void waitersAreWokenByWhoeverDelivers(PollingMode mode) throws Exception {
		this.driver = newDriver(mode);
		this.driver.start();
		long seed = 77;
		Random random = new Random(seed);
		for (int round = 0; round < 200; round++) {
			List<StubCall> calls = new ArrayList<>();
			List<Thread> waiters = new ArrayList<>();
			CountDownLatch done = new CountDownLatch(3);
			for (int i = 0; i < 3; i++) {
				StubCall call = new StubCall();
				calls.add(call);
				waiters.add(start(() -> {
					if (this.driver.waitFor(call, Long.MAX_VALUE)) {
						done.countDown();
					}
				}));
			}
			if (random.nextBoolean()) {
				Await.until(() -> this.completions.awaiting.get() > 0 || mode == PollingMode.BUSY);
			}
			for (int i = 0; i < 3; i++) {
				StubCall call = calls.get(i);
				Thread waiter = waiters.get(i);
				this.driver.execute(() -> {
					call.onFailure(CallFailure.CANCELLED, "done");
					this.driver.wake(waiter);
				});
			}
			assertThat(done.await(20, TimeUnit.SECONDS)).as("seed %d, round %d, %s", seed, round, mode).isTrue();
		}
	}

	@Test
	void tickThatMovesCloserWakesTheAwaiter() throws Exception {
		this.driver.start();
		Await.until(() -> this.completions.awaiting.get() == 1);
		CountDownLatch ticked = new CountDownLatch(1);
		onDriver(() -> {
			long soon = System.nanoTime();
			this.work.nextTick = soon;
			this.work.steps = () -> {
				this.work.nextTick = System.nanoTime() + FAR;
				ticked.countDown();
				return false;
			};
			this.driver.tickMoved(soon);
		});
		assertThat(ticked.await(20, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void completionIsTakenThoughNobodyWaits() throws Exception {
		this.driver.start();
		Await.until(() -> this.completions.awaiting.get() == 1);
		int before = this.work.turns.get();
		this.completions.add((completion) -> {
		});
		Await.until(() -> this.work.turns.get() > before);
	}

	/** The loop's thread stands by for longer and longer, but not for ever. */
	@Test
	void completionIsTakenAfterCallersHaveDrivenForLong() throws Exception {
		this.driver.start();
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100);
		while (System.nanoTime() - end < 0) {
			callAndWait();
		}
		Await.until(() -> this.completions.awaiting.get() == 1);
		int before = this.work.turns.get();
		this.completions.add((completion) -> {
		});
		Await.until(() -> this.work.turns.get() > before);
	}

	@Test
	void virtualThreadWaitsWithoutDriving() throws Exception {
		Function<Runnable, Thread> virtual = virtualThreads();
		Assumptions.assumeTrue(virtual != null, "needs virtual threads");
		this.driver.start();
		StubCall call = new StubCall();
		AtomicReference<Thread> waiter = new AtomicReference<>();
		CompletableFuture<Boolean> outcome = new CompletableFuture<>();
		List<Thread> drivers = new ArrayList<>();
		this.work.steps = () -> {
			drivers.add(Thread.currentThread());
			return false;
		};
		waiter.set(virtual.apply(() -> outcome.complete(this.driver.waitFor(call, Long.MAX_VALUE))));
		Await.until(() -> waiter.get().getState() == Thread.State.TIMED_WAITING);
		this.driver.execute(() -> {
			call.onFailure(CallFailure.CANCELLED, "done");
			this.driver.wake(waiter.get());
		});
		assertThat(outcome.get(20, TimeUnit.SECONDS)).isTrue();
		onDriver(() -> assertThat(drivers).doesNotContain(waiter.get()));
	}

	@Test
	void closedLoopTurnsNoMoreButRunsWhatIsLeftLater() throws Exception {
		this.driver.start();
		StubCall call = new StubCall();
		CompletableFuture<Boolean> waiting = new CompletableFuture<>();
		Thread waiter = start(() -> waiting.complete(this.driver.waitFor(call, Long.MAX_VALUE)));
		Await.until(() -> this.completions.awaiting.get() == 1);
		AtomicBoolean last = new AtomicBoolean();
		this.driver.close(() -> {
			last.set(true);
			this.work.closed.set(true);
			call.onFailure(CallFailure.CONNECTION_LOST, "closed");
			this.driver.wake(waiter);
		});
		assertThat(last).isTrue();
		assertThat(waiting.get(20, TimeUnit.SECONDS)).isTrue();
		int turns = this.work.turns.get();
		AtomicBoolean ran = new AtomicBoolean();
		this.driver.execute(() -> ran.set(true));
		assertThat(ran).isTrue();
		assertThat(this.work.turns).hasValue(turns);
	}

	/** Starts a virtual thread; {@code null} where there are none. */
	private static @Nullable Function<Runnable, Thread> virtualThreads() {
		try {
			Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
			return (body) -> {
				try {
					return (Thread) start.invoke(null, body);
				}
				catch (ReflectiveOperationException ex) {
					throw new IllegalStateException(ex);
				}
			};
		}
		catch (NoSuchMethodException ex) {
			return null;
		}
	}

	private void onDriver(Runnable task) throws Exception {
		CompletableFuture<Void> outcome = new CompletableFuture<>();
		this.driver.execute(() -> {
			try {
				task.run();
				outcome.complete(null);
			}
			catch (Throwable ex) {
				outcome.completeExceptionally(ex);
			}
		});
		outcome.get(20, TimeUnit.SECONDS);
	}

	/**
	 * Only a lower bound of time: nobody sleeps before it, unless the processor was taken
	 * away meanwhile, which the loop notices and which makes it sleep rightly.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aLargeMessageOnItsWayIsMetPolling(boolean submittedAfterRest) {
		long configured = 2_000_000;
		this.work.expectsBytes = true;
		for (int attempt = 1;; attempt++) {
			LoopMetrics metrics = new LoopMetrics();
			this.driver = new LoopDriver("driver-of-the-test", this.work, this.completions, metrics,
					new PollingOptions(PollingMode.ADAPTIVE, configured), this.watcher);
			long polled = polledBeforeSleep(submittedAfterRest);
			if (polled >= configured) {
				return;
			}
			assertThat(metrics.yields()).as("offers taken up, in attempt %d, after %d ns", attempt, polled)
				.isPositive();
			assertThat(attempt).as("attempts that others disturbed").isLessThan(1_000);
			this.driver.close(() -> {
			});
		}
	}

	private long polledBeforeSleep(boolean submittedAfterRest) {
		AtomicLong worked = new AtomicLong();
		AtomicLong slept = new AtomicLong();
		this.completions.onRequest = () -> slept.compareAndSet(0, System.nanoTime());
		if (submittedAfterRest) {
			this.driver.execute(() -> worked.set(System.nanoTime()));
		}
		else {
			this.work.steps = () -> worked.compareAndSet(0, System.nanoTime());
		}
		this.driver.start();
		Await.until(() -> slept.get() != 0);
		return slept.get() - worked.get();
	}

	private static Thread start(Runnable body) {
		Thread thread = new Thread(body, "thread-of-the-test");
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	/** What is driven: notices when two threads do so at once. */
	private final class Work implements LoopWork {

		private volatile boolean expectsBytes;

		private final AtomicInteger turns = new AtomicInteger();

		private final AtomicInteger violations = new AtomicInteger();

		private final AtomicInteger inside = new AtomicInteger();

		private final AtomicBoolean closed = new AtomicBoolean();

		private final AtomicReference<Thread> owner = new AtomicReference<>();

		private volatile BooleanSupplier steps = () -> false;

		private volatile long nextTick = System.nanoTime() + FAR;

		boolean exclusively(BooleanSupplier body) {
			Thread outer = this.owner.getAndSet(Thread.currentThread());
			if (this.inside.getAndIncrement() > 0 && outer != Thread.currentThread()) {
				this.violations.incrementAndGet();
			}
			try {
				return body.getAsBoolean();
			}
			finally {
				this.inside.decrementAndGet();
			}
		}

		@Override
		public boolean turn() {
			if (this.closed.get()) {
				this.violations.incrementAndGet();
			}
			this.turns.incrementAndGet();
			boolean worked = LoopDriverTests.this.driver.drainInbox();
			return exclusively(this.steps) || worked;
		}

		@Override
		public void flush() {
			exclusively(() -> true);
		}

		@Override
		public boolean expectsBytes() {
			return this.expectsBytes;
		}

		@Override
		public long nextTickNanos() {
			return this.nextTick;
		}

		@Override
		public long nowNanos() {
			return System.nanoTime();
		}

	}

}
