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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What becomes of calls whose executor loses turns, and of executors that have others to
 * serve.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallQueueTests {

	private static final CallOptions TEN_SECONDS = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(10)));

	private static final int ROUNDS = 20;

	@Test
	void lostTurnIsNoticedThoughNoCallWaitsForASecond() {
		AtomicInteger asked = new AtomicInteger();
		try (RpcFixture fixture = new RpcFixture(); RpcServer server = fixture.startServer(fixture.service, (task) -> {
			if (asked.getAndIncrement() > 0) {
				task.run();
			}
		}); RpcClient client = fixture.newClient(server)) {
			Echo hasty = CallOptions.deadline(Duration.ofMillis(300)).on(client.proxy(Echo.class));
			assertThat(RpcFixture.failureOf(() -> hasty.echoOnExecutor("x")).status())
				.isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			RpcFixture.awaitTrue(() -> RpcFixture.failureOf(() -> hasty.echoOnExecutor("y")) == null);
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			for (int i = 0; i < ROUNDS; i++) {
				assertThat(echo.echoOnExecutor("x" + i)).isEqualTo("x" + i);
			}
			RpcFixture.assertServesOn(server, client);
		}
	}

	@Test
	void callsLeaveTheThreadsOfASharedExecutorToOthers() throws Exception {
		CountDownLatch release = new CountDownLatch(1);
		AtomicBoolean over = new AtomicBoolean();
		ExecutorService shared = Executors.newSingleThreadExecutor();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(fixture.service, shared);
				RpcClient client = fixture.newClient(server)) {
			shared.execute(() -> Await.latch(release));
			Echo hasty = CallOptions.deadline(Duration.ofMillis(1200)).on(client.proxy(Echo.class));
			assertThat(RpcFixture.failureOf(() -> hasty.echoOnExecutor("gives up")).status())
				.isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			Echo slow = CallOptions.deadline(Duration.ofSeconds(50)).on(client.proxy(Echo.class));
			List<CompletableFuture<Void>> load = new ArrayList<>();
			for (int i = 0; i < 16; i++) {
				load.add(CompletableFuture.runAsync(() -> {
					while (!over.get()) {
						slow.slow(20);
					}
				}, (task) -> new Thread(task, "load").start()));
			}
			RpcFixture.awaitTrue(() -> server.activeCalls() == load.size());
			CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
			}, shared);
			release.countDown();
			other.get(10, TimeUnit.SECONDS);
			over.set(true);
			for (CompletableFuture<Void> calls : load) {
				calls.get(20, TimeUnit.SECONDS);
			}
			RpcFixture.assertServesOn(server, client);
		}
		finally {
			release.countDown();
			over.set(true);
			shared.shutdown();
		}
	}

	@Test
	void urgentCallsOfAConnectionAreTakenFirstAndNoneStarves() {
		List<Runnable> turns = new ArrayList<>();
		CallQueue queue = new CallQueue(turns::add);
		CallQueue.Lane lane = new CallQueue.Lane();
		List<Integer> begun = new ArrayList<>();
		queue.add(lane, new StubWork(Priority.LOW, begun));
		queue.add(lane, new StubWork(Priority.NORMAL, begun));
		for (int i = 0; i < 60; i++) {
			queue.add(lane, new StubWork(Priority.HIGH, begun));
			turns.get(i).run();
		}
		assertThat(begun.indexOf(Priority.NORMAL.code())).as("passed by so many").isEqualTo(8);
		assertThat(begun.indexOf(Priority.LOW.code())).as("passed by so many").isBetween(32, 33);
		assertThat(begun.get(0)).isEqualTo(Priority.HIGH.code());
		turns.subList(60, turns.size()).forEach(Runnable::run);
		assertThat(begun).hasSize(62);
		assertThat(queue.waiting()).isZero();
	}

	@Test
	void callsOfOnePriorityAreTakenInTheOrderOfTheirDeadlines() {
		List<Runnable> turns = new ArrayList<>();
		CallQueue queue = new CallQueue(turns::add);
		CallQueue.Lane lane = new CallQueue.Lane();
		List<Integer> begun = new ArrayList<>();
		long[] deadlines = { Long.MAX_VALUE, 300, 100, 200, 100, Long.MAX_VALUE };
		for (int i = 0; i < deadlines.length; i++) {
			queue.add(lane, new StubWork(Priority.NORMAL, deadlines[i], i, begun));
		}
		queue.add(lane, new StubWork(Priority.LOW, 50, 6, begun));
		turns.forEach(Runnable::run);
		assertThat(begun).containsExactly(2, 4, 3, 1, 0, 5, 6);
		assertThat(queue.waiting()).isZero();
	}

	@Test
	void urgentCallsOfOneConnectionDoNotKeepThoseOfAnotherWaiting() {
		List<Runnable> turns = new ArrayList<>();
		CallQueue queue = new CallQueue(turns::add);
		CallQueue.Lane urgent = new CallQueue.Lane();
		CallQueue.Lane other = new CallQueue.Lane();
		List<Integer> begun = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			queue.add(urgent, new StubWork(Priority.HIGH, begun));
		}
		queue.add(other, new StubWork(Priority.LOW, begun));
		turns.forEach(Runnable::run);
		assertThat(begun.indexOf(Priority.LOW.code())).isEqualTo(1);
		assertThat(begun).hasSize(11);
		assertThat(queue.waiting()).isZero();
	}

	@Test
	void callThatIsWithdrawnLeavesTheOthersInTheirOrder() {
		List<Runnable> turns = new ArrayList<>();
		CallQueue queue = new CallQueue(turns::add);
		CallQueue.Lane lane = new CallQueue.Lane();
		List<Integer> begun = new ArrayList<>();
		StubWork withdrawn = new StubWork(Priority.HIGH, begun);
		queue.add(lane, new StubWork(Priority.LOW, begun));
		queue.add(lane, withdrawn);
		queue.add(lane, new StubWork(Priority.NORMAL, begun));
		assertThat(queue.withdraw(withdrawn)).isTrue();
		assertThat(queue.withdraw(withdrawn)).isFalse();
		turns.forEach(Runnable::run);
		assertThat(begun).containsExactly(Priority.NORMAL.code(), Priority.LOW.code());
		assertThat(queue.waiting()).isZero();
	}

	/** Notes when it begins. */
	private static final class StubWork extends QueuedWork {

		private final List<Integer> begun;

		private final int number;

		StubWork(Priority priority, List<Integer> begun) {
			this(priority, Long.MAX_VALUE, priority.code(), begun);
		}

		StubWork(Priority priority, long deadline, int number, List<Integer> begun) {
			this.priority = priority.code();
			this.dueNanos = deadline;
			this.number = number;
			this.begun = begun;
		}

		@Override
		boolean isCancelled() {
			return false;
		}

		@Override
		void runInTurn() {
			this.begun.add(this.number);
		}

		@Override
		void reject(String why) {
			throw new IllegalStateException(why);
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
