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

/** When ticks are due, at times that overflow. */
class TickTimesTests {

	private static final long START = Math.subtractExact(Long.MAX_VALUE, TickTimes.BUSY_NANOS / 2);

	private final TickTimes times = new TickTimes(START);

	@Test
	void theFirstTickIsDueAtOnceAndLooksAtAll() {
		assertThat(this.times.isDue(START - 1)).isFalse();
		assertThat(this.times.isDue(START)).isTrue();
		assertThat(this.times.isUpkeepDue(START)).isTrue();
	}

	@Test
	void whatIsRetiredIsLookedAtOftenAndTheRestSeldom() {
		upkeep(START, true);
		long busy = START + TickTimes.BUSY_NANOS;
		assertThat(this.times.nextNanos()).isEqualTo(busy);
		assertThat(this.times.isUpkeepDue(busy)).isFalse();
		this.times.ended(busy, false);
		assertThat(this.times.nextNanos()).isEqualTo(START + TickTimes.IDLE_NANOS);
		assertThat(this.times.isUpkeepDue(START + TickTimes.IDLE_NANOS)).isTrue();
	}

	@Test
	void whatAsksForItIsLookedAtEarlier() {
		upkeep(START, false);
		long soon = START + TickTimes.BUSY_NANOS;
		assertThat(this.times.upkeepAt(soon)).isTrue();
		assertThat(this.times.upkeepAt(soon + 1)).isFalse();
		assertThat(this.times.isDue(soon)).isTrue();
		assertThat(this.times.isUpkeepDue(soon)).isTrue();
	}

	@Test
	void whatIsAskedForDuringATickIsNotForgotten() {
		assertThat(this.times.upkeeps(START)).isEqualTo(START + TickTimes.IDLE_NANOS);
		this.times.upkeepAt(START + 1);
		this.times.ended(START, true);
		assertThat(this.times.nextNanos()).isEqualTo(START + 1);
	}

	@Test
	void whatIsRetiredMovesOnlyTheNextTick() {
		upkeep(START, false);
		assertThat(this.times.tickAt(START + 1)).isTrue();
		assertThat(this.times.isDue(START + 1)).isTrue();
		assertThat(this.times.isUpkeepDue(START + 1)).isFalse();
	}

	@Test
	void earlierUpkeepThanTheNextTickForWhatIsRetiredIsKept() {
		upkeep(START, true);
		this.times.upkeepAt(START + 3 * TickTimes.BUSY_NANOS);
		long busy = START + TickTimes.BUSY_NANOS;
		assertThat(this.times.isUpkeepDue(busy)).isFalse();
		this.times.ended(busy, false);
		assertThat(this.times.nextNanos()).isEqualTo(START + 3 * TickTimes.BUSY_NANOS);
	}

	private void upkeep(long nowNanos, boolean retired) {
		this.times.upkeeps(nowNanos);
		this.times.ended(nowNanos, retired);
	}

}
