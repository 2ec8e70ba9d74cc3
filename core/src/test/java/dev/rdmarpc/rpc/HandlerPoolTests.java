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

import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.Await;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The server's own executor. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HandlerPoolTests {

	private static final long NEVER = Long.MAX_VALUE >> 1;

	@Test
	void tasksThatWaitForEachOtherAllGetThreads() throws Exception {
		try (HandlerPool pool = platform(40, NEVER)) {
			CyclicBarrier together = new CyclicBarrier(41);
			for (int i = 0; i < 40; i++) {
				pool.execute(() -> await(together));
			}
			together.await(60, TimeUnit.SECONDS);
			assertThat(pool.threads()).isEqualTo(40);
			assertThat(pool.list()).allMatch(Thread::isDaemon)
				.extracting(Thread::getName)
				.contains("rdma-rpc-handler-1", "rdma-rpc-handler-40");
		}
	}

	@Test
	void tasksBeyondTheMaximumWaitInOrder() {
		try (HandlerPool pool = platform(1, NEVER)) {
			CountDownLatch release = new CountDownLatch(1);
			pool.execute(() -> Await.latch(release));
			Queue<Integer> order = new ConcurrentLinkedQueue<>();
			for (int i = 0; i < 5; i++) {
				int number = i;
				pool.execute(() -> order.add(number));
			}
			assertThat(order).isEmpty();
			release.countDown();
			RpcFixture.awaitTrue(() -> order.size() == 5);
			assertThat(order).containsExactly(0, 1, 2, 3, 4);
			assertThat(pool.threads()).isEqualTo(1);
		}
	}

	@Test
	void whatWaitsGetsTheThreadsThatArePermittedLater() {
		try (HandlerPool pool = platform(1, NEVER)) {
			CountDownLatch release = new CountDownLatch(1);
			AtomicInteger began = new AtomicInteger();
			for (int i = 0; i < 6; i++) {
				pool.execute(() -> {
					began.incrementAndGet();
					Await.latch(release);
				});
			}
			RpcFixture.awaitTrue(() -> began.get() == 1);
			pool.maxThreads(4);
			RpcFixture.awaitTrue(() -> began.get() == 4);
			assertThat(pool.threads()).isEqualTo(4);
			pool.maxThreads(2);
			release.countDown();
			RpcFixture.awaitTrue(() -> began.get() == 6);
		}
	}

	@Test
	void anIdleThreadIsUsedAgain() {
		try (HandlerPool pool = platform(8, NEVER)) {
			AtomicInteger ran = new AtomicInteger();
			for (int i = 1; i <= 100; i++) {
				int done = i;
				pool.execute(ran::incrementAndGet);
				RpcFixture.awaitTrue(() -> ran.get() == done && pool.busy() == 0);
			}
			assertThat(pool.threads()).isEqualTo(1);
		}
	}

	@Test
	void idleThreadsEnd() {
		try (HandlerPool pool = platform(8, TimeUnit.MILLISECONDS.toNanos(1))) {
			AtomicInteger ran = new AtomicInteger();
			pool.execute(ran::incrementAndGet);
			RpcFixture.awaitTrue(() -> ran.get() == 1 && pool.threads() == 0);
			pool.execute(ran::incrementAndGet);
			RpcFixture.awaitTrue(() -> ran.get() == 2);
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 1000, NEVER })
	void noTaskIsLeftWaiting(long keepAliveNanos) {
		long seed = ThreadLocalRandom.current().nextLong();
		Random random = new Random(seed);
		try (HandlerPool pool = platform(3, keepAliveNanos)) {
			AtomicInteger ran = new AtomicInteger();
			for (int i = 1; i <= 4_000; i++) {
				int done = i;
				pool.execute(ran::incrementAndGet);
				if (random.nextInt(8) == 0) {
					RpcFixture.awaitTrue(() -> ran.get() == done);
				}
			}
			RpcFixture.awaitTrue(() -> ran.get() == 4_000);
			assertThat(pool.threads()).as("seed %d", seed).isLessThanOrEqualTo(3);
		}
	}

	@Test
	void aTaskThatFailsOrLeavesAnInterruptHarmsNoOther() {
		try (HandlerPool pool = platform(1, NEVER)) {
			pool.execute(() -> {
				Thread.currentThread().interrupt();
				throw new AssertionError("thrown on purpose");
			});
			Queue<Boolean> interrupted = new ConcurrentLinkedQueue<>();
			pool.execute(() -> interrupted.add(Thread.currentThread().isInterrupted()));
			RpcFixture.awaitTrue(() -> !interrupted.isEmpty());
			assertThat(interrupted).containsExactly(false);
			assertThat(pool.threads()).isEqualTo(1);
		}
	}

	@Test
	void aThreadThatCannotStartIsRefusedOnlyWithoutOthers() {
		AtomicInteger started = new AtomicInteger();
		CountDownLatch release = new CountDownLatch(1);
		HandlerThreadFactory threads = HandlerThreadFactory.platform();
		try (HandlerPool pool = new HandlerPool((task) -> {
			if (started.getAndIncrement() != 1) {
				throw new OutOfMemoryError("thrown on purpose: no thread");
			}
			return threads.newThread(task);
		}, 8, NEVER)) {
			assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> pool.execute(() -> {
				throw new IllegalStateException("a refused task ran");
			}));
			assertThat(pool.threads()).isZero();
			AtomicInteger ran = new AtomicInteger();
			pool.execute(() -> Await.latch(release));
			RpcFixture.awaitTrue(
					() -> pool.list().stream().anyMatch((thread) -> thread.getState() == Thread.State.TIMED_WAITING));
			pool.execute(ran::incrementAndGet);
			assertThat(pool.threads()).isEqualTo(1);
			release.countDown();
			RpcFixture.awaitTrue(() -> ran.get() == 1);
		}
	}

	/** Each had counted on the thread of the other. */
	@Test
	void callsWhoseThreadsCannotStartAtOnceAreAllRefused() throws Exception {
		CyclicBarrier both = new CyclicBarrier(2);
		try (HandlerPool pool = new HandlerPool((task) -> {
			await(both);
			throw new OutOfMemoryError("thrown on purpose: no thread");
		}, 8, NEVER)) {
			CallQueue queue = new CallQueue(pool);
			Queue<String> refused = new ConcurrentLinkedQueue<>();
			Thread first = new Thread(() -> queue.add(new CallQueue.Lane(), new RefusedWork(refused)), "first");
			Thread second = new Thread(() -> queue.add(new CallQueue.Lane(), new RefusedWork(refused)), "second");
			first.start();
			second.start();
			first.join();
			second.join();
			assertThat(refused).hasSize(2).allMatch((why) -> why.contains("no thread"));
			assertThat(queue.waiting()).isZero();
			assertThat(pool.threads()).isZero();
		}
	}

	@Test
	void closingInterruptsDropsAndRefuses() {
		HandlerPool pool = platform(1, NEVER);
		CountDownLatch interrupted = new CountDownLatch(1);
		CountDownLatch running = new CountDownLatch(1);
		AtomicInteger ran = new AtomicInteger();
		pool.execute(() -> {
			running.countDown();
			LockSupport.park();
			if (Thread.currentThread().isInterrupted()) {
				interrupted.countDown();
			}
		});
		Await.latch(running);
		pool.execute(ran::incrementAndGet);
		pool.close();
		Await.latch(interrupted);
		RpcFixture.awaitTrue(() -> pool.threads() == 0);
		assertThat(ran).hasValue(0);
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> pool.execute(() -> {
		}));
	}

	@Test
	void idleThreadsEndWhenItCloses() {
		HandlerPool pool = platform(4, NEVER);
		pool.execute(() -> {
		});
		RpcFixture.awaitTrue(() -> pool.busy() == 0);
		pool.close();
		RpcFixture.awaitTrue(() -> pool.threads() == 0);
	}

	@Test
	void threadsInheritTheClassLoaderButNoThreadLocals() {
		InheritableThreadLocal<String> secret = new InheritableThreadLocal<>();
		secret.set("of the caller");
		try (HandlerPool pool = platform(1, NEVER)) {
			Queue<Object> seen = new ConcurrentLinkedQueue<>();
			pool.execute(() -> {
				seen.add(String.valueOf(secret.get()));
				seen.add(Thread.currentThread().getContextClassLoader());
			});
			RpcFixture.awaitTrue(() -> seen.size() == 2);
			assertThat(seen).containsExactly("null", Thread.currentThread().getContextClassLoader());
		}
		finally {
			secret.remove();
		}
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void virtualThreadsAreAsManyAsCalls() throws Exception {
		HandlerOptions options = HandlerOptions.DEFAULTS.withThreads(HandlerThreads.VIRTUAL, 1);
		try (HandlerPool pool = HandlerPool.of(options, 300)) {
			CyclicBarrier together = new CyclicBarrier(301);
			Queue<String> kinds = new ConcurrentLinkedQueue<>();
			for (int i = 0; i < 300; i++) {
				pool.execute(() -> {
					kinds.add(Thread.currentThread().toString());
					await(together);
				});
			}
			together.await(60, TimeUnit.SECONDS);
			assertThat(kinds).allMatch((kind) -> kind.startsWith("VirtualThread"))
				.anyMatch((kind) -> kind.contains("rdma-rpc-handler-300"));
			RpcFixture.awaitTrue(() -> pool.threads() == 0);
		}
	}

	@Test
	void theKindOfThreadsFollowsTheVirtualMachine() {
		int version = Runtime.version().feature();
		assertThat(HandlerThreads.AUTO.isVirtual()).isEqualTo(version >= 24);
		assertThat(HandlerThreads.PLATFORM.isVirtual()).isFalse();
		assertThat(HandlerThreads.VIRTUAL.isAvailable()).isEqualTo(version >= 21);
	}

	@Test
	@EnabledForJreRange(max = JRE.JAVA_20)
	void virtualThreadsAreRefusedWhereThereAreNone() {
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> HandlerOptions.DEFAULTS.withThreads(HandlerThreads.VIRTUAL, 1))
			.withMessageContaining("handler threads VIRTUAL (expected: AUTO or PLATFORM on Java ");
	}

	@Test
	void noThreadsAreRefused() {
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> HandlerOptions.DEFAULTS.withThreads(HandlerThreads.AUTO, 0))
			.withMessage("0 handler threads (expected: at least 1)");
	}

	private static HandlerPool platform(int maxThreads, long keepAliveNanos) {
		return new HandlerPool(HandlerThreadFactory.platform(), maxThreads, keepAliveNanos);
	}

	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await(60, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Work that is not to begin. */
	private static final class RefusedWork extends QueuedWork {

		private final Queue<String> refused;

		RefusedWork(Queue<String> refused) {
			this.refused = refused;
		}

		@Override
		boolean isCancelled() {
			return false;
		}

		@Override
		void runInTurn() {
			throw new IllegalStateException("begun");
		}

		@Override
		void reject(String why) {
			this.refused.add(why);
		}

		@Override
		void notEnqueued() {
			throw new IllegalStateException("canceled");
		}

		@Override
		public void run() {
			runInTurn();
		}

	}

}
