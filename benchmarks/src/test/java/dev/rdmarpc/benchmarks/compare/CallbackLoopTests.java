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

package dev.rdmarpc.benchmarks.compare;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@Timeout(60)
class CallbackLoopTests {

	private static final long SHORT = TimeUnit.MILLISECONDS.toNanos(20);

	@Test
	void aCallAnsweredInsideItsStartDoesNotGrowTheStack() throws Exception {
		AtomicLong recorded = new AtomicLong();
		try (CallbackLoop loop = new CallbackLoop()) {
			loop.add((slot) -> slot::succeed, 1, () -> {
			});
			assertThat(runUntil(loop, 1001, (nanos) -> recorded.incrementAndGet())).isEqualTo(recorded.get());
		}
	}

	@Test
	void neverHasMoreCallsOutstandingThanSlots() throws Exception {
		AtomicInteger outstanding = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		AtomicInteger closed = new AtomicInteger();
		ExecutorService executor = Executors.newFixedThreadPool(2);
		try (CallbackLoop loop = new CallbackLoop()) {
			for (int i = 0; i < 2; i++) {
				loop.add((slot) -> () -> {
					most.accumulateAndGet(outstanding.incrementAndGet(), Math::max);
					executor.execute(() -> {
						outstanding.decrementAndGet();
						slot.succeed();
					});
				}, 4, closed::incrementAndGet);
			}
			runUntil(loop, 8, (nanos) -> assertThat(nanos).isNotNegative());
			assertThat(outstanding).hasValue(0);
			runUntil(loop, 8, (nanos) -> {
			});
			assertThat(most.get()).isBetween(1, 8);
		}
		finally {
			executor.shutdownNow();
		}
		assertThat(closed).hasValue(2);
	}

	@Test
	void aFailedCallFailsTheRun() throws Exception {
		try (CallbackLoop loop = new CallbackLoop()) {
			loop.add((slot) -> () -> slot.fail(new IllegalArgumentException("broken")), 2, () -> {
			});
			assertThatIllegalStateException().isThrownBy(() -> runUntil(loop, 1, (nanos) -> {
			})).withMessageContaining("broken");
		}
	}

	/**
	 * Runs the loop again and again until so many calls have been made, as a machine at
	 * work elsewhere may leave no time for any in one run.
	 */
	private static long runUntil(CallbackLoop loop, long calls, LatencyRecorder recorder) throws Exception {
		long made = 0;
		while (made < calls) {
			made += loop.run(SHORT, recorder);
		}
		return made;
	}

}
