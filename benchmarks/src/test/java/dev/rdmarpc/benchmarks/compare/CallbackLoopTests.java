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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class CallbackLoopTests {

	private static final long SHORT = TimeUnit.MILLISECONDS.toNanos(20);

	@Test
	void aCallAnsweredInsideItsStartDoesNotGrowTheStack() throws Exception {
		AtomicLong recorded = new AtomicLong();
		try (CallbackLoop loop = new CallbackLoop()) {
			loop.add((slot) -> slot::succeed, 1, () -> {
			});
			long calls = loop.run(SHORT, (nanos) -> recorded.incrementAndGet());
			assertThat(calls).isGreaterThan(1000).isEqualTo(recorded.get());
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
			assertThat(loop.run(SHORT, (nanos) -> assertThat(nanos).isNotNegative())).isGreaterThanOrEqualTo(8);
			assertThat(outstanding).hasValue(0);
			assertThat(loop.run(SHORT, (nanos) -> {
			})).isGreaterThanOrEqualTo(8);
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
			assertThatIllegalStateException().isThrownBy(() -> loop.run(SHORT, (nanos) -> {
			})).withMessageContaining("broken");
		}
	}

}
