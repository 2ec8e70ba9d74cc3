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

import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class WaitsTests {

	private static final long MAX = 200_000;

	private final Waits waits = new Waits(MAX);

	private void add(int count, long nanos) {
		for (int i = 0; i < count; i++) {
			this.waits.add(nanos, nanos > this.waits.budget());
		}
	}

	@Test
	void beginsWithTheMaximum() {
		assertThat(this.waits.budget()).isEqualTo(MAX);
	}

	@ParameterizedTest
	@ValueSource(longs = { 600, 1_000, 8_000, 12_345, 65_536, 100_000, 120_000 })
	void meetsWaitsThatAreAlike(long nanos) {
		add(40, nanos);
		assertThat(this.waits.budget()).isBetween(nanos, nanos + nanos / 2);
	}

	@ParameterizedTest
	@ValueSource(longs = { 200_001, 1_000_000, Long.MAX_VALUE })
	void doesNotPollForWhatTakesLongerThanAllowed(long nanos) {
		add(40, nanos);
		assertThat(this.waits.budget()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "10000, 1000000, 0.5", "10000, 5000000, 0.9", "20000, 150000, 0.2", "5000, 80000, 0.95" })
	void costsAboutTheLeastOfAllBudgets(long brief, long lengthy, double share) {
		SplittableRandom random = new SplittableRandom(42);
		long[] sample = new long[128];
		for (int i = 0; i < sample.length; i++) {
			long nanos = (random.nextDouble() < share) ? brief : lengthy;
			sample[i] = nanos / 2 + random.nextLong(nanos);
			this.waits.add(sample[i], true);
		}
		long least = Long.MAX_VALUE;
		for (long budget = 0; budget <= MAX; budget += 1000) {
			least = Math.min(least, cost(sample, budget));
		}
		assertThat((double) cost(sample, this.waits.budget())).isBetween((double) least, 1.25 * least);
	}

	private static long cost(long[] sample, long budget) {
		long cost = 0;
		for (long nanos : sample) {
			cost += (nanos <= budget) ? nanos : budget + MAX;
		}
		return cost;
	}

	@Test
	void followsALoadThatChanges() {
		add(10_000, 8_000);
		add(2048, 5_000_000);
		assertThat(this.waits.budget()).isZero();
		add(2048, 60_000);
		assertThat(this.waits.budget()).as("the replies of two peers that sleep").isBetween(60_000L, MAX);
		add(2048, 8_000);
		assertThat(this.waits.budget()).isBetween(8_000L, 16_000L);
	}

	@Test
	void whatTheNextPollMeetsSaysNothing() {
		add(40, 9_000);
		long budget = this.waits.budget();
		for (int i = 0; i < 1000; i++) {
			assertThat(this.waits.add(100, false)).isFalse();
		}
		assertThat(this.waits.budget()).isEqualTo(budget);
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 1, 511, 512, 768, 1_000_000_000, Long.MAX_VALUE / 2 })
	void anyMaximumIsPossible(long max) {
		Waits bounded = new Waits(max);
		for (long nanos = 1; nanos > 0; nanos *= 2) {
			bounded.add(nanos, true);
			assertThat(bounded.budget()).isBetween(0L, max);
		}
	}

}
