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

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class BlockingThreadsTests {

	@Test
	void allThreadsCallAtTheSameTime() throws Exception {
		CyclicBarrier together = new CyclicBarrier(4);
		AtomicLong recorded = new AtomicLong();
		AtomicInteger closed = new AtomicInteger();
		ThreadLocal<Integer> calls = ThreadLocal.withInitial(() -> 0);
		try (BlockingThreads threads = new BlockingThreads(() -> {
			if (calls.get() == 0) {
				together.await(30, TimeUnit.SECONDS);
			}
			calls.set(calls.get() + 1);
		}, 4, closed::incrementAndGet)) {
			long answered = threads.run(TimeUnit.SECONDS.toNanos(1), (nanos) -> recorded.incrementAndGet());
			assertThat(answered).isGreaterThanOrEqualTo(4).isEqualTo(recorded.get());
		}
		assertThat(closed).hasValue(1);
	}

	@Test
	void aFailedCallFailsTheRun() throws Exception {
		try (BlockingThreads threads = new BlockingThreads(() -> {
			throw new IllegalArgumentException("broken");
		}, 2, () -> {
		})) {
			assertThatIllegalStateException().isThrownBy(() -> threads.run(1, (nanos) -> {
			})).withMessageContaining("broken");
		}
	}

}
