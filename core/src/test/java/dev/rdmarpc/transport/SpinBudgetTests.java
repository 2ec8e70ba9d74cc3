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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class SpinBudgetTests {

	private static final long CONFIGURED = 1000;

	private static final long LARGEST = SpinBudget.LARGEST_FACTOR * CONFIGURED;

	private final SpinBudget budget = new SpinBudget(new PollingOptions(PollingMode.ADAPTIVE, CONFIGURED), 0);

	private long now;

	/** Sleeps after having been busy for long enough. */
	private void sleepAfterWork(long nanos) {
		sleepAfter(1_000_000, nanos);
	}

	private void sleepAfter(long awakeNanos, long nanos) {
		this.now += awakeNanos + nanos;
		this.budget.slept(nanos, this.now);
	}

	@Test
	void growsWhileEventsComeSoonAfterFallingAsleep() {
		assertThat(this.budget.nanos()).isEqualTo(CONFIGURED);
		sleepAfterWork(10);
		assertThat(this.budget.nanos()).isEqualTo(2 * CONFIGURED);
		sleepAfterWork(LARGEST);
		assertThat(this.budget.nanos()).isEqualTo(4 * CONFIGURED);
		for (int i = 0; i < 100; i++) {
			sleepAfterWork(LARGEST);
		}
		assertThat(this.budget.nanos()).isEqualTo(LARGEST);
	}

	@Test
	void isAsConfiguredAgainWhenNothingGoesOn() {
		sleepAfterWork(10);
		sleepAfterWork(10);
		sleepAfterWork(LARGEST + 1);
		assertThat(this.budget.nanos()).isEqualTo(CONFIGURED);
	}

	@Test
	void pausesWhenPollingForLongerDoesNotHelp() {
		for (int i = 0; i < SpinBudget.MOST_SLEEPS; i++) {
			sleepAfter(LARGEST, 10);
		}
		assertThat(this.budget.nanos()).isEqualTo(LARGEST);
		sleepAfter(LARGEST, 10);
		assertThat(this.budget.nanos()).isEqualTo(CONFIGURED);
		sleepAfter(SpinBudget.PAUSE_NANOS - 100, 10);
		assertThat(this.budget.nanos()).isEqualTo(CONFIGURED);
		sleepAfterWork(10);
		assertThat(this.budget.nanos()).isEqualTo(2 * CONFIGURED);
	}

	@Test
	void pollsOnForALargeMessageThatMovesAndNotForOneThatDoesNot() {
		long longest = SpinBudget.TRANSFER_FACTOR * CONFIGURED;
		long pause = SpinBudget.TRANSFER_PAUSE_FACTOR * longest;
		long worked = 1_000_000;
		assertThat(this.budget.pollsForTransfer(worked, worked + longest - 1)).isTrue();
		assertThat(this.budget.pollsForTransfer(worked + longest, worked + longest + 1)).isTrue();
		worked += longest;
		assertThat(this.budget.pollsForTransfer(worked, worked + longest)).isFalse();
		long failed = worked + longest;
		assertThat(this.budget.pollsForTransfer(failed + pause - 1, failed + pause - 1)).as("in the pause").isFalse();
		assertThat(this.budget.pollsForTransfer(failed + pause, failed + pause)).as("after the pause").isTrue();
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "ADAPTIVE")
	void otherModesDoNotAdapt(PollingMode mode) {
		PollingOptions options = new PollingOptions(mode, CONFIGURED);
		SpinBudget fixed = new SpinBudget(options, 0);
		fixed.slept(1, 1_000_000);
		fixed.slept(1, 2_000_000);
		assertThat(fixed.nanos()).isEqualTo(options.effectiveSpinNanos());
		assertThat(fixed.pollsForTransfer(2_000_000, 2_000_000)).isFalse();
	}

}
