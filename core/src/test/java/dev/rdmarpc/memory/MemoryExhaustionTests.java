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

package dev.rdmarpc.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@Timeout(60)
class MemoryExhaustionTests {

	private static final int EXTENT_BYTES = 1 << 20;

	private RegisteredMemory memory = create(Duration.ofSeconds(30));

	private static RegisteredMemory create(Duration timeout) {
		return RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(2 * EXTENT_BYTES)
			.withInitialBytes(EXTENT_BYTES)
			.withExtentBytes(EXTENT_BYTES)
			.withThreadCacheBytes(256 << 10)
			.withAllocationTimeout(timeout));
	}

	@AfterEach
	void nothingIsOutstanding() {
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
	}

	private List<RegisteredBuffer> exhaust(int lengthBytes) {
		List<RegisteredBuffer> all = new ArrayList<>();
		RegisteredBuffer buffer = this.memory.tryAllocate(lengthBytes);
		while (buffer != null) {
			all.add(buffer);
			buffer = this.memory.tryAllocate(lengthBytes);
		}
		return all;
	}

	@Test
	void nearlyAllOfTheBudgetCanBeUsed() {
		for (int length : new int[] { 1, 200, 1000, 3000, 9000, 20_000, 36_000, 70_000 }) {
			List<RegisteredBuffer> all = exhaust(length);
			assertThat(this.memory.metrics().allocatedBytes()).as("allocated in pieces of %d", length)
				.isGreaterThan(2 * EXTENT_BYTES * 9 / 10);
			all.forEach(RegisteredBuffer::release);
		}
	}

	@Test
	void waitIsLongerWhileTheCollectorFreesWhatIsNeeded() {
		this.memory.close();
		this.memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(8 * EXTENT_BYTES)
			.withInitialBytes(0)
			.withExtentBytes(EXTENT_BYTES)
			.withRetention(Duration.ZERO)
			.withAllocationTimeout(Duration.ofNanos(1)));
		exhaust(EXTENT_BYTES).forEach(RegisteredBuffer::release);
		this.memory.allocate(6 * EXTENT_BYTES).release();
	}

	@Test
	void waitEndsWithAnExceptionThatSaysHowMuchThereIs() {
		this.memory.close();
		this.memory = create(Duration.ofMillis(5));
		List<RegisteredBuffer> all = exhaust(1000);
		assertThatExceptionOfType(MemoryExhaustedException.class).isThrownBy(() -> this.memory.allocate(1000))
			.withMessageContaining("1000 bytes")
			.withMessageContaining("of at most " + 2 * EXTENT_BYTES);
		assertThat(this.memory.metrics().waits()).isOne();
		all.forEach(RegisteredBuffer::release);
		this.memory.allocate(1000).release();
	}

	@Test
	void whoHasLessTimeWaitsNoLonger() {
		this.memory.close();
		this.memory = create(Duration.ofDays(1));
		List<RegisteredBuffer> all = exhaust(1000);
		assertThatExceptionOfType(MemoryExhaustedException.class)
			.isThrownBy(() -> this.memory.allocate(1000, 1_000_000));
		assertThat(this.memory.metrics().waits()).isOne();
		all.forEach(RegisteredBuffer::release);
	}

	/** With the memory's own timeout, it would have failed long before. */
	@Test
	void waitIsLongerWhileLargeBlocksMove() throws Exception {
		this.memory.close();
		this.memory = create(Duration.ofMillis(1));
		RegisteredBuffer wanted = this.memory.allocate(EXTENT_BYTES);
		RegisteredBuffer kept = this.memory.allocate(EXTENT_BYTES / 4);
		CompletableFuture<RegisteredBuffer> waiting = CompletableFuture
			.supplyAsync(() -> this.memory.allocate(EXTENT_BYTES, Long.MAX_VALUE));
		awaitWaits(1);
		long begin = System.nanoTime();
		while (System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(50)) {
			this.memory.allocate(EXTENT_BYTES / 2).release();
		}
		assertThat(waiting).isNotDone();
		wanted.release();
		waiting.get(20, TimeUnit.SECONDS).release();
		kept.release();
	}

	@Test
	void whatAnotherThreadKeepsIsCollected() throws Exception {
		CountDownLatch end = new CountDownLatch(1);
		CompletableFuture<Void> released = new CompletableFuture<>();
		Thread other = new Thread(() -> {
			exhaust(1000).forEach(RegisteredBuffer::release);
			released.complete(null);
			try {
				end.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
		other.start();
		released.get(20, TimeUnit.SECONDS);
		assertThat(this.memory.metrics().cachedBytes()).isPositive();
		RegisteredBuffer all = Eventually.isThere("all memory in one piece",
				() -> this.memory.tryAllocate(2 * EXTENT_BYTES));
		all.release();
		end.countDown();
		other.join(20_000);
	}

	@Test
	void cacheOfAnEndedThreadIsEmptiedBeforeThePoolGrows() throws Exception {
		RegisteredBuffer most = this.memory.allocate(EXTENT_BYTES - (64 << 10));
		Thread other = new Thread(() -> {
			List<RegisteredBuffer> some = new ArrayList<>();
			for (int index = 0; index < 4; index++) {
				some.add(this.memory.allocate(4096));
			}
			some.forEach(RegisteredBuffer::release);
		});
		other.start();
		other.join(20_000);
		assertThat(this.memory.metrics().cachedBytes()).isPositive();
		RegisteredBuffer rest = this.memory.allocate((64 << 10) - 1);
		assertThat(this.memory.metrics().cachedBytes()).isZero();
		assertThat(this.memory.metrics().extents()).isOne();
		most.release();
		rest.release();
	}

	@Test
	void waiterIsWokenByAReleaseThatGoesIntoACache() throws Exception {
		List<RegisteredBuffer> all = exhaust(1000);
		CompletableFuture<RegisteredBuffer> waiting = waiting(1000);
		all.remove(all.size() - 1).release();
		waiting.get(20, TimeUnit.SECONDS).release();
		all.forEach(RegisteredBuffer::release);
	}

	@Test
	void waiterIsWokenWhenPiecesHaveBecomeWhole() throws Exception {
		List<RegisteredBuffer> all = exhaust(1000);
		CompletableFuture<RegisteredBuffer> waiting = waiting(2 * EXTENT_BYTES);
		all.forEach(RegisteredBuffer::release);
		waiting.get(20, TimeUnit.SECONDS).release();
	}

	@Test
	void interruptEndsTheWaitAndStays() throws Exception {
		List<RegisteredBuffer> all = exhaust(1000);
		CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
		Thread waiter = new Thread(() -> {
			try {
				this.memory.allocate(1000).release();
				interrupted.complete(false);
			}
			catch (MemoryExhaustedException ex) {
				interrupted.complete(Thread.currentThread().isInterrupted());
			}
		});
		waiter.start();
		awaitWaits(1);
		waiter.interrupt();
		assertThat(interrupted.get(20, TimeUnit.SECONDS)).isTrue();
		all.forEach(RegisteredBuffer::release);
	}

	@Test
	void closingEndsTheWait() throws Exception {
		List<RegisteredBuffer> all = exhaust(1000);
		CompletableFuture<RegisteredBuffer> waiting = waiting(1000);
		this.memory.close();
		assertThat(waiting.handle((buffer, failure) -> failure.getCause()).get(20, TimeUnit.SECONDS))
			.isInstanceOf(IllegalStateException.class);
		all.forEach(RegisteredBuffer::release);
		assertThatIllegalStateException().isThrownBy(() -> this.memory.tryAllocate(1));
	}

	@Test
	void smallRequestsTakeBlocksOfLargerClassesBeforeTheyFail() {
		List<RegisteredBuffer> all = exhaust(300);
		List<RegisteredBuffer> small = exhaust(100);
		all.remove(0).release();
		RegisteredBuffer smaller = this.memory.tryAllocate(100);
		assertThat(smaller).isNotNull();
		assertThat(smaller.capacity()).isGreaterThanOrEqualTo(300);
		smaller.release();
		all.forEach(RegisteredBuffer::release);
		small.forEach(RegisteredBuffer::release);
	}

	@Test
	void refusingDeviceLeavesWhatThereIs() {
		this.memory.close();
		this.memory = create(Duration.ofMillis(1));
		RecordingHook hook = new RecordingHook();
		this.memory.attach(hook);
		hook.registrationsLeft.set(0);
		RegisteredBuffer first = this.memory.allocate(EXTENT_BYTES);
		assertThat(this.memory.tryAllocate(1)).isNull();
		assertThatExceptionOfType(MemoryExhaustedException.class).isThrownBy(() -> this.memory.allocate(1))
			.withRootCauseInstanceOf(IllegalStateException.class)
			.withMessageContaining("refused");
		first.release();
		this.memory.allocate(1).release();
		hook.registrationsLeft.set(1);
		RegisteredBuffer again = this.memory.allocate(EXTENT_BYTES);
		this.memory.allocate(1).release();
		again.release();
	}

	private CompletableFuture<RegisteredBuffer> waiting(int lengthBytes) {
		CompletableFuture<RegisteredBuffer> waiting = CompletableFuture
			.supplyAsync(() -> this.memory.allocate(lengthBytes));
		awaitWaits(1);
		return waiting;
	}

	private void awaitWaits(int count) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
		while (this.memory.metrics().waits() < count) {
			assertThat(System.nanoTime()).as("nobody waits").isLessThan(deadline);
			Thread.onSpinWait();
		}
	}

}
