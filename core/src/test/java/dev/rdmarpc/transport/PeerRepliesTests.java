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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.Await;
import dev.rdmarpc.memory.Patience;

import static org.assertj.core.api.Assertions.assertThat;

/** What a peer has not taken is counted exactly, and bounded. */
class PeerRepliesTests {

	private static final long LIMIT = 1000;

	private static final Patience ENDLESS = new Patience(Long.MAX_VALUE);

	private final AtomicInteger emptied = new AtomicInteger();

	private final PeerReplies replies = new PeerReplies("reports", LIMIT, this.emptied::incrementAndGet);

	@Test
	void isFullFromWhenSomethingWasTooMuchUntilSomethingHasGone() {
		assertThat(this.replies.tryAdd(600, Patience.NONE)).isTrue();
		assertThat(this.replies.tryAdd(400, Patience.NONE)).as("up to the limit").isTrue();
		assertThat(this.replies.isFull()).isFalse();
		assertThat(this.replies.tryAdd(1, Patience.NONE)).isFalse();
		assertThat(this.replies.isFull()).isTrue();
		assertThat(this.replies.isOver()).isFalse();
		assertThat(this.replies.explain())
			.isEqualTo("too many bytes in replies to 'reports' that have not been read (limit 1000)");
		this.replies.remove(400);
		assertThat(this.replies.isFull()).isFalse();
		assertThat(this.replies.tryAdd(401, Patience.NONE)).isFalse();
		this.replies.remove(600);
		assertThat(this.replies.isFull()).isFalse();
		assertThat(this.replies.isEmpty()).isTrue();
		assertThat(this.emptied).hasValue(1);
	}

	@Test
	void theOnlyOneIsNeverTooMuch() {
		assertThat(this.replies.tryAdd(5000, Patience.NONE)).isTrue();
		assertThat(this.replies.isFull()).as("it may call").isFalse();
		assertThat(this.replies.isOver()).as("its streams go on").isFalse();
		assertThat(this.replies.tryAdd(1, Patience.NONE)).isFalse();
		this.replies.remove(5000);
		assertThat(this.replies.tryAdd(1, Patience.NONE)).isTrue();
	}

	@Test
	void whoeverReadsIsWaitedFor() throws Exception {
		assertThat(this.replies.tryAdd(1000, Patience.NONE)).isTrue();
		FutureTask<Boolean> waiter = new FutureTask<>(() -> this.replies.tryAdd(900, ENDLESS));
		new Thread(waiter, "waiter").start();
		Await.until(() -> this.replies.waiting() == 1);
		assertThat(this.replies.isFull()).as("nothing was refused").isFalse();
		assertThat(this.replies.tryAdd(1101, ENDLESS)).as("what waits has more than its part").isFalse();
		assertThat(this.replies.isFull()).isTrue();
		this.replies.remove(50);
		this.replies.remove(50);
		assertThat(this.replies.waiting()).as("there is not enough room").isOne();
		this.replies.remove(900);
		assertThat(waiter.get()).isTrue();
		this.replies.remove(900);
		assertThat(this.replies.isEmpty()).isTrue();
		assertThat(this.replies.waiting()).isZero();
	}

	@Test
	void fewThreadsWaitForOnePeer() throws Exception {
		assertThat(this.replies.tryAdd(1000, Patience.NONE)).isTrue();
		List<FutureTask<Boolean>> waiters = new ArrayList<>();
		for (int i = 0; i < PeerReplies.MOST_WAITING; i++) {
			FutureTask<Boolean> waiter = new FutureTask<>(() -> this.replies.tryAdd(1, ENDLESS));
			waiters.add(waiter);
			new Thread(waiter, "waiter").start();
		}
		Await.until(() -> this.replies.waiting() == PeerReplies.MOST_WAITING);
		assertThat(this.replies.tryAdd(1, ENDLESS)).isFalse();
		this.replies.remove(1000);
		for (FutureTask<Boolean> waiter : waiters) {
			assertThat(waiter.get()).isTrue();
			this.replies.remove(1);
		}
		assertThat(this.replies.isEmpty()).isTrue();
	}

	@Test
	void whoeverDoesNotReadIsNotWaitedForLong() {
		assertThat(this.replies.tryAdd(1000, Patience.NONE)).isTrue();
		assertThat(this.replies.tryAdd(1, new Patience(1_000_000))).isFalse();
		assertThat(this.replies.isFull()).isTrue();
		Thread.currentThread().interrupt();
		assertThat(this.replies.tryAdd(1, ENDLESS)).isFalse();
		assertThat(Thread.interrupted()).as("it stays interrupted").isTrue();
		this.replies.remove(1000);
		assertThat(this.replies.isEmpty()).isTrue();
	}

	@Test
	void smallOnesCountWhenManyWait() {
		SmallReplies first = new SmallReplies(this.replies, new EagerLimit(100));
		assertThat(first.isLarge(100)).isFalse();
		assertThat(first.isLarge(101)).isTrue();
		first.add(SmallReplies.STEP_BYTES);
		assertThat(this.replies.isEmpty()).as("not told yet").isTrue();
		first.add(1);
		assertThat(this.replies.isFull()).isTrue();
		assertThat(this.replies.isOver()).isTrue();
		first.remove(SmallReplies.STEP_BYTES);
		assertThat(this.replies.isFull()).as("not told yet").isTrue();
		first.remove(1);
		assertThat(this.replies.isEmpty()).as("nothing is kept of it").isTrue();
		assertThat(this.replies.isFull()).isFalse();
		assertThat(this.emptied).hasValue(1);
	}

	@Test
	void smallOnesThatComeAndGoAreNoBusinessOfOthers() {
		SmallReplies few = new SmallReplies(this.replies, new EagerLimit(100));
		for (int i = 0; i < 1000; i++) {
			few.add(100);
			few.add(100);
			few.remove(200);
		}
		assertThat(this.emptied).as("never told").hasValue(0);
	}

	@Test
	void ofWhatManyThreadsAddNothingIsLeft() throws Exception {
		long seed = System.nanoTime();
		ExecutorService threads = Executors.newFixedThreadPool(4);
		try {
			List<Callable<Boolean>> tasks = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				Random random = new Random(seed + i);
				tasks.add(() -> addAndRemove(random));
			}
			for (Future<Boolean> within : threads.invokeAll(tasks)) {
				assertThat(within.get()).as("within the limit, seed %d", seed).isTrue();
			}
		}
		finally {
			threads.shutdown();
		}
		assertThat(this.replies.isEmpty()).as("seed %d", seed).isTrue();
		assertThat(this.replies.isFull()).as("seed %d", seed).isFalse();
		assertThat(this.replies.tryAdd((int) LIMIT, Patience.NONE)).as("seed %d", seed).isTrue();
	}

	private boolean addAndRemove(Random random) {
		ArrayDeque<Integer> own = new ArrayDeque<>();
		boolean within = true;
		for (int i = 0; i < 50_000; i++) {
			int bytes = 1 + random.nextInt((int) LIMIT / 3);
			if (random.nextBoolean() && this.replies.tryAdd(bytes, Patience.NONE)) {
				own.add(bytes);
			}
			else if (!own.isEmpty()) {
				this.replies.remove(own.remove());
			}
			within &= !this.replies.isOver();
		}
		own.forEach(this.replies::remove);
		return within;
	}

}
