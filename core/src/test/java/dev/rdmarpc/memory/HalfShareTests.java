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
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@Timeout(60)
class HalfShareTests {

	private static final int UNIT = 512 << 10;

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(4 * UNIT)
		.withInitialBytes(2 * UNIT)
		.withExtentBytes(2 * UNIT)
		.withAllocationTimeout(Duration.ofDays(1))
		.withLeakDetection(LeakDetection.PARANOID));

	private final HalfShare half = this.memory.half();

	@AfterEach
	void nothingIsTaken() {
		assertThat(this.half.takenBytes()).isZero();
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
	}

	private void isRefused(int lengthBytes) {
		assertThatExceptionOfType(MemoryExhaustedException.class)
			.isThrownBy(() -> this.half.allocate(lengthBytes, 1_000_000))
			.withMessageContaining("by large requests, which may take half of what others leave");
	}

	private CompletableFuture<RegisteredBuffer> waiting(int lengthBytes) {
		long before = this.memory.metrics().waits();
		CompletableFuture<RegisteredBuffer> waiting = CompletableFuture
			.supplyAsync(() -> this.half.allocate(lengthBytes, Long.MAX_VALUE), (task) -> new Thread(task).start());
		Await.until(() -> this.memory.metrics().waits() > before);
		return waiting;
	}

	private void release(CompletableFuture<RegisteredBuffer> waiting) throws Exception {
		this.half.release(waiting.get(20, TimeUnit.SECONDS));
	}

	@Test
	void isHalfOfWhatOthersLeave() throws Exception {
		RegisteredBuffer first = this.half.allocate(UNIT, 0);
		RegisteredBuffer second = this.half.allocate(UNIT, 0);
		isRefused(100_000);
		RegisteredBuffer others = this.memory.allocate(UNIT);
		this.half.release(first);
		isRefused(UNIT);
		CompletableFuture<RegisteredBuffer> third = waiting(UNIT);
		others.release();
		this.half.release(second);
		release(third);
	}

	@Test
	void aSingleOneMayTakeMore() {
		RegisteredBuffer alone = this.half.allocate(4 * UNIT, Long.MAX_VALUE);
		assertThat(this.half.takenBytes()).isEqualTo(4 * UNIT);
		this.half.release(alone);
	}

	@Test
	void smallOnesAreNotCounted() {
		RegisteredBuffer first = this.half.allocate(2 * UNIT, 0);
		RegisteredBuffer small = this.half.allocate(SizeClasses.MAX_BYTES, 0);
		assertThat(this.half.takenBytes()).isEqualTo(2 * UNIT);
		this.half.release(small);
		this.half.release(first);
	}

	/** Else one that needs nearly everything would wait as long as others come. */
	@Test
	void thoseWhoWaitAreServedInTheirOrder() throws Exception {
		RegisteredBuffer first = this.half.allocate(UNIT, 0);
		CompletableFuture<RegisteredBuffer> large = waiting(3 * UNIT);
		CompletableFuture<RegisteredBuffer> behind = waiting(100_000);
		isRefused(100_000);
		this.half.release(first);
		RegisteredBuffer served = large.get(20, TimeUnit.SECONDS);
		assertThat(behind).isNotDone();
		this.half.release(served);
		release(behind);
	}

	@Test
	void whoGivesUpLetsTheNextOneGoOn() throws Exception {
		RegisteredBuffer first = this.half.allocate(UNIT, 0);
		Thread[] waiter = new Thread[1];
		long before = this.memory.metrics().waits();
		CompletableFuture<RegisteredBuffer> large = CompletableFuture
			.supplyAsync(() -> this.half.allocate(3 * UNIT, Long.MAX_VALUE), (task) -> {
				waiter[0] = new Thread(task);
				waiter[0].start();
			});
		Await.until(() -> this.memory.metrics().waits() > before);
		CompletableFuture<RegisteredBuffer> behind = waiting(100_000);
		waiter[0].interrupt();
		release(behind);
		assertThat(large.handle((buffer, failure) -> failure.getCause()).get(20, TimeUnit.SECONDS))
			.isInstanceOf(MemoryExhaustedException.class);
		this.half.release(first);
	}

	@Test
	void whatCanNeverBeHadDelaysNobody() {
		RegisteredBuffer first = this.half.allocate(UNIT, 0);
		assertThatExceptionOfType(MemoryExhaustedException.class)
			.isThrownBy(() -> this.half.allocate(5 * UNIT, Long.MAX_VALUE));
		assertThat(this.memory.metrics().waits()).isZero();
		RegisteredBuffer second = this.half.allocate(UNIT, 0);
		this.half.release(first);
		this.half.release(second);
	}

	@Test
	void closingEndsTheWait() throws Exception {
		RegisteredBuffer first = this.half.allocate(2 * UNIT, 0);
		CompletableFuture<RegisteredBuffer> head = waiting(3 * UNIT);
		CompletableFuture<RegisteredBuffer> behind = waiting(UNIT);
		assertThatIllegalStateException().isThrownBy(this.memory::close).withMessageContaining("1 buffers outstanding");
		for (CompletableFuture<RegisteredBuffer> each : List.of(head, behind)) {
			assertThat(each.handle((buffer, failure) -> failure.getCause()).get(20, TimeUnit.SECONDS))
				.isInstanceOf(IllegalStateException.class);
		}
		this.half.release(first);
	}

	/** They wait for what there is, as those do who were there when it was refused. */
	@Test
	void aDeviceThatRefusesMoreFailsNobodyWhoWaits() throws Exception {
		RecordingHook hook = new RecordingHook();
		this.memory.attach(hook);
		hook.registrationsLeft.set(0);
		RegisteredBuffer all = this.memory.allocate(2 * UNIT);
		CompletableFuture<RegisteredBuffer> head = waiting(2 * UNIT);
		CompletableFuture<RegisteredBuffer> behind = waiting(UNIT);
		this.memory.wake();
		all.release();
		release(head);
		release(behind);
	}

	@Test
	void manyThreadsTakeTurns() throws Exception {
		long seed = new Random().nextLong();
		AtomicInteger served = new AtomicInteger();
		List<CompletableFuture<Void>> threads = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			Random random = new Random(seed + i);
			threads.add(CompletableFuture.runAsync(() -> {
				for (int k = 0; k < 50; k++) {
					boolean shares = random.nextInt(4) > 0;
					int bytes = 1 + random.nextInt(shares ? 3 * UNIT : UNIT / 2);
					if (shares) {
						this.half.release(this.half.allocate(bytes, Long.MAX_VALUE));
					}
					else {
						this.memory.allocate(bytes).release();
					}
					served.incrementAndGet();
				}
			}, (task) -> new Thread(task).start()));
		}
		CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)).get(50, TimeUnit.SECONDS);
		assertThat(served).as("seed %d", seed).hasValue(400);
	}

}
