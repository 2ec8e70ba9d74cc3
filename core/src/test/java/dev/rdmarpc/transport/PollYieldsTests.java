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

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PollYieldsTests {

	private final LoopMetrics metrics = new LoopMetrics();

	private final PollYields yields = new PollYields(this.metrics);

	private long now = Long.MAX_VALUE - PollYields.SHARED_NANOS / 2;

	private void yieldFor(long nanos) {
		long began = this.now;
		this.now += nanos;
		this.yields.yielded(began, this.now);
	}

	@Test
	void theFirstPollsOfAWaitKeepTheProcessor() {
		assertThat(this.yields.isDue(0, this.now)).isFalse();
		assertThat(this.yields.isDue(PollYields.ALONE_NANOS - 1, this.now)).isFalse();
		assertThat(this.yields.isDue(PollYields.ALONE_NANOS, this.now)).isTrue();
	}

	@Test
	void anOfferThatNobodyTakesChangesNothing() {
		yieldFor(PollYields.TAKEN_NANOS);
		assertThat(this.yields.isDue(0, this.now)).isFalse();
		assertThat(this.metrics.yields()).isZero();
	}

	@Test
	void afterOneThatWasTakenAllPollsOfferTheProcessorForAWhile() {
		yieldFor(PollYields.TAKEN_NANOS + 1);
		assertThat(this.metrics.yields()).isEqualTo(1);
		assertThat(this.yields.isDue(0, this.now)).isTrue();
		this.now += PollYields.SHARED_NANOS - 1;
		assertThat(this.yields.isDue(0, this.now)).isTrue();
		this.now++;
		assertThat(this.yields.isDue(0, this.now)).as("the clock has overflowed, and the time is over").isFalse();
		yieldFor(1);
		assertThat(this.yields.isDue(0, this.now)).isFalse();
	}

	@Test
	void eachOneThatWasTakenBeginsTheTimeAnew() {
		yieldFor(PollYields.TAKEN_NANOS + 1);
		this.now += PollYields.SHARED_NANOS / 2;
		yieldFor(PollYields.TAKEN_NANOS + 1);
		this.now += PollYields.SHARED_NANOS / 2 + 1;
		assertThat(this.yields.isDue(0, this.now)).isTrue();
		assertThat(this.metrics.yields()).isEqualTo(2);
	}

	@Test
	void afterOneThatTookASliceTheLoopSleepsForAWhile() {
		yieldFor(PollYields.LOST_NANOS);
		assertThat(this.yields.isLost(this.now)).isFalse();
		yieldFor(PollYields.LOST_NANOS + 1);
		assertThat(this.yields.isLost(this.now)).isTrue();
		this.now += PollYields.SLEEPING_NANOS - 1;
		assertThat(this.yields.isLost(this.now)).isTrue();
		this.now++;
		assertThat(this.yields.isLost(this.now)).as("the clock has overflowed, and the time is over").isFalse();
		yieldFor(1);
		assertThat(this.yields.isLost(this.now)).isFalse();
	}

}
