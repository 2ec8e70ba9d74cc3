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

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.rdmarpc.Await;

import static org.assertj.core.api.Assertions.assertThat;

/** What goes wrong while somebody drives, or never ends: the loop goes on. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class LoopDriverFailureTests {

	private static final String NAME = "driver-of-the-failure-test";

	private final LoopWatcher watcher = new LoopWatcher();

	private final FakeCompletionQueue completions = new FakeCompletionQueue();

	private final Work work = new Work();

	private final LoopDriver driver = new LoopDriver(NAME, this.work, this.completions, new LoopMetrics(),
			new PollingOptions(PollingMode.ADAPTIVE, 20_000), this.watcher);

	@AfterEach
	void close() {
		this.driver.close(() -> {
		});
		this.watcher.close();
		assertThat(this.completions.awaiting).hasValue(0);
	}

	@ParameterizedTest
	@EnumSource
	void turnThatFailsDoesNotEndTheThread(Failure failure) {
		AtomicInteger failures = new AtomicInteger();
		this.work.step = () -> {
			if (failures.getAndIncrement() < 5) {
				failure.fire();
			}
			return false;
		};
		this.driver.start();
		Await.until(() -> failures.get() > 10);
		assertThat(this.driver.problem()).isNull();
	}

	@ParameterizedTest
	@EnumSource
	void callerWhoDrivesDoesNotGetWhatATurnThrows(Failure failure) {
		AtomicInteger failures = new AtomicInteger();
		StubCall call = new StubCall();
		this.work.step = () -> {
			if (failures.getAndIncrement() < 3) {
				failure.fire();
			}
			call.onFailure(CallFailure.CANCELLED, "done");
			return true;
		};
		assertThat(this.driver.waitFor(call, Long.MAX_VALUE)).isTrue();
		assertThat(this.driver.isDriver()).isFalse();
		assertThat(failures).hasValue(4);
	}

	@ParameterizedTest
	@EnumSource
	void awaiterThatCannotArmTheQueueIsNoneAfterwards(Failure failure) {
		AtomicInteger armed = new AtomicInteger();
		this.completions.onRequest = () -> {
			if (armed.getAndIncrement() < 3) {
				failure.fire();
			}
		};
		this.driver.start();
		Await.until(() -> this.completions.awaiting.get() == 1);
	}

	@ParameterizedTest
	@EnumSource
	void awaiterWhoseLastLookFailsIsNoneAfterwards(Failure failure) {
		AtomicInteger armed = new AtomicInteger();
		AtomicBoolean fails = new AtomicBoolean();
		this.completions.onRequest = () -> fails.set(armed.getAndIncrement() < 3);
		this.work.step = () -> {
			if (fails.getAndSet(false)) {
				failure.fire();
			}
			return false;
		};
		StubCall call = new StubCall();
		this.driver.waitFor(call, System.nanoTime() + 20_000_000);
		this.driver.start();
		Await.until(() -> this.completions.awaiting.get() == 1);
	}

	@ParameterizedTest
	@EnumSource
	void waitForTheQueueThatFailsIsNotTheLast(Failure failure) {
		AtomicInteger waits = new AtomicInteger();
		this.completions.onAwait = () -> {
			if (waits.getAndIncrement() < 3) {
				failure.fire();
			}
		};
		this.driver.waitFor(new StubCall(), System.nanoTime() + 20_000_000);
		this.driver.start();
		Await.until(() -> this.completions.awaiting.get() == 1);
	}

	@ParameterizedTest
	@EnumSource
	void roleIsGivenUpThoughPostingFails(Failure failure) {
		AtomicInteger flushes = new AtomicInteger();
		this.work.flushing = () -> {
			if (flushes.getAndIncrement() < 10) {
				failure.fire();
			}
		};
		AtomicBoolean ran = new AtomicBoolean();
		this.driver.execute(() -> ran.set(true));
		assertThat(ran).isTrue();
		assertThat(this.driver.isDriver()).isFalse();
		this.driver.waitFor(new StubCall(), System.nanoTime() + 1_000_000);
		assertThat(this.driver.isDriver()).isFalse();
		this.driver.start();
		Await.until(() -> flushes.get() > 20);
	}

	@ParameterizedTest
	@EnumSource
	void taskThatFailsHarmsNobody(Failure failure) {
		AtomicBoolean ran = new AtomicBoolean();
		this.driver.execute(failure::fire);
		this.driver.execute(() -> ran.set(true));
		assertThat(ran).isTrue();
	}

	/**
	 * Callers at the end of their stack fail at any point of the way through the driver.
	 * Those with much of it left have been there often enough.
	 */
	@Test
	void callersWithoutStackDoNotTakeTheRoleWithThem() throws Exception {
		this.driver.start();
		AtomicInteger waits = new AtomicInteger();
		for (int attempt = 0; attempt < 200; attempt++) {
			int padding = attempt;
			Thread caller = new Thread(null, () -> exhaust(padding, waits), "caller-of-the-test", 256 * 1024);
			caller.start();
			caller.join();
			AtomicBoolean ran = new AtomicBoolean();
			this.driver.execute(() -> ran.set(true));
			Await.until(ran::get);
		}
		assertThat(waits).as("calls with little stack").hasValueGreaterThan(200);
		int turns = this.work.turns.get();
		Await.until(() -> this.work.turns.get() > turns);
	}

	private void exhaust(int padding, AtomicInteger waits) {
		int[] levels = new int[1];
		exhaust(0, levels, null);
		int most = levels[0];
		exhaust(most / 8 * 7 + padding % (most / 16), levels, waits);
	}

	private void exhaust(int padding, int[] levels, @Nullable AtomicInteger waits) {
		try {
			deeper(padding, levels, waits);
		}
		catch (StackOverflowError ex) {
			assertThat(ex).isNotNull();
		}
	}

	private void deeper(int padding, int[] levels, @Nullable AtomicInteger waits) {
		levels[0]++;
		if (padding > 0) {
			deeper(padding - 1, levels, waits);
			return;
		}
		if (waits != null) {
			waits.incrementAndGet();
			this.driver.waitFor(new StubCall(), System.nanoTime() + 1000);
		}
		deeper(0, levels, waits);
	}

	@Test
	void loopRestsWhileAnotherThreadKeepsTheRole() throws Exception {
		this.driver.start();
		CountDownLatch release = new CountDownLatch(1);
		Thread holder = hold(release);
		Thread own = thread(NAME);
		int resting = 0;
		for (int i = 0; i < 200; i++) {
			resting += (own.getState() == Thread.State.TIMED_WAITING) ? 1 : 0;
			LockSupport.parkNanos(500_000);
		}
		release.countDown();
		holder.join();
		assertThat(resting).as("samples of 200 in which the loop's thread did not spin").isGreaterThan(100);
		int turns = this.work.turns.get();
		Await.until(() -> this.work.turns.get() > turns);
	}

	@Test
	void loopThatIsHeldUpSaysByWhom() throws Exception {
		this.driver.start();
		assertThat(this.driver.problem()).isNull();
		CountDownLatch release = new CountDownLatch(1);
		Thread holder = hold(release);
		Await.until(() -> this.driver.problem() != null);
		assertThat(this.driver.problem()).contains("held up by thread thread-of-the-test at")
			.contains(LoopDriverFailureTests.class.getSimpleName());
		release.countDown();
		holder.join();
		Await.until(() -> this.driver.problem() == null);
	}

	@Test
	void closingInterruptsWhatBlocksTheLoopsThread() {
		CountDownLatch never = new CountDownLatch(1);
		AtomicBoolean interrupted = new AtomicBoolean();
		AtomicBoolean blocking = new AtomicBoolean();
		this.work.step = () -> {
			blocking.set(true);
			try {
				never.await();
			}
			catch (InterruptedException ex) {
				interrupted.set(true);
			}
			return true;
		};
		this.driver.start();
		Await.until(blocking::get);
		AtomicBoolean last = new AtomicBoolean();
		this.driver.close(() -> last.set(true));
		assertThat(interrupted).isTrue();
		assertThat(last).isTrue();
	}

	@Test
	void closingLeavesTheRestToWhomeverItCannotWaitFor() throws Exception {
		this.driver.start();
		CountDownLatch release = new CountDownLatch(1);
		Thread holder = hold(release);
		AtomicReference<Thread> last = new AtomicReference<>();
		this.driver.close(() -> last.set(Thread.currentThread()));
		assertThat(last).hasValue(null);
		release.countDown();
		holder.join();
		assertThat(last).hasValue(holder);
	}

	/** Starts a thread that takes the role and keeps it, whatever interrupts it. */
	private Thread hold(CountDownLatch release) throws InterruptedException {
		CountDownLatch held = new CountDownLatch(1);
		AtomicReference<Thread> holder = new AtomicReference<>();
		Runnable keep = () -> {
			if (Thread.currentThread() != holder.get()) {
				return;
			}
			held.countDown();
			while (release.getCount() > 0) {
				LockSupport.parkNanos(1_000_000);
			}
		};
		Thread thread = new Thread(() -> {
			while (held.getCount() > 0) {
				this.driver.execute(keep);
			}
		}, "thread-of-the-test");
		holder.set(thread);
		thread.setDaemon(true);
		thread.start();
		assertThat(held.await(20, TimeUnit.SECONDS)).isTrue();
		return thread;
	}

	private static Thread thread(String name) {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals(name))
			.findFirst()
			.orElseThrow();
	}

	/** What is driven, and fails as a test wants it to. */
	private final class Work implements LoopWork {

		private final AtomicInteger turns = new AtomicInteger();

		private volatile BooleanSupplier step = () -> false;

		private volatile Runnable flushing = () -> {
		};

		@Override
		public boolean turn() {
			this.turns.incrementAndGet();
			boolean ran = LoopDriverFailureTests.this.driver.drainInbox();
			return this.step.getAsBoolean() || ran;
		}

		@Override
		public long nowNanos() {
			return System.nanoTime();
		}

		@Override
		public void flush() {
			this.flushing.run();
		}

		@Override
		public boolean expectsBytes() {
			return false;
		}

		@Override
		public long nextTickNanos() {
			return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(50);
		}

	}

}
