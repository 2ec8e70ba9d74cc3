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

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class WaitingThreadsTests {

	private static final long SHORT = TimeUnit.MILLISECONDS.toNanos(20);

	private final HeldCalls held = new HeldCalls();

	private final AtomicInteger closed = new AtomicInteger();

	@Test
	void waitUntilTheClientIsClosed() throws Exception {
		AtomicInteger answered = new AtomicInteger();
		WaitingThreads threads = new WaitingThreads(() -> {
			CountDownLatch answer = new CountDownLatch(1);
			this.held.hold(answer::countDown);
			answer.await();
			answered.incrementAndGet();
		}, this.held::release, 5, this.closed::incrementAndGet);
		assertThat(threads.run(SHORT, (nanos) -> {
		})).isEqualTo(5);
		assertThat(answered).hasValue(0);
		threads.close();
		assertThat(answered).hasValue(5);
		assertThat(this.closed).hasValue(1);
		assertThat(this.held.release()).isZero();
	}

	@Test
	void aCallThatEndsTooEarlyFailsTheRun() throws IOException {
		CountDownLatch never = new CountDownLatch(1);
		AtomicInteger calls = new AtomicInteger();
		WaitingThreads threads = new WaitingThreads(() -> {
			if (calls.getAndIncrement() == 0) {
				never.await();
			}
		}, never::countDown, 2, this.closed::incrementAndGet);
		assertThatIllegalStateException().isThrownBy(() -> threads.run(TimeUnit.SECONDS.toNanos(1), (nanos) -> {
		})).withMessageContaining("1 of 2 calls ended");
		threads.close();
		assertThat(this.closed).hasValue(1);
	}

}
