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

import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class SpinBudgetTests {

	private static final long MAX = 100_000;

	private final LoopMetrics metrics = new LoopMetrics();

	private final AtomicInteger awake = new AtomicInteger();

	private final SpinBudget budget = budget(PollingMode.ADAPTIVE);

	private long now = 1_000_000;

	private SpinBudget budget(PollingMode mode) {
		return new SpinBudget(new PollingOptions(mode, MAX), this.metrics, this.awake, 2);
	}

	private void turn(boolean arrived) {
		this.budget.turns();
		this.budget.turned(arrived, this.now);
	}

	/** Waits as a loop does, and tells whether polling has met the arrival. */
	private boolean await(long nanos) {
		turn(true);
		turn(false);
		boolean slept = this.budget.isSpent(this.now + nanos - 1);
		if (slept) {
			this.budget.sleeps(this.now);
		}
		this.now += nanos;
		turn(true);
		return !slept;
	}

	private void await(int count, long nanos) {
		for (int i = 0; i < count; i++) {
			await(nanos);
		}
	}

	@Test
	void pollsForAboutARoundTrip() {
		await(100, 10_000);
		assertThat(this.metrics.spinNanos()).isBetween(10_000L, 15_000L);
		assertThat(this.metrics.paidSpins()).isEqualTo(100);
		assertThat(await(10_000)).isTrue();
		assertThat(await(20_000)).isFalse();
		assertThat(this.metrics.paidSpins()).isEqualTo(101);
	}

	@Test
	void sleepsAtOnceWhereNothingComesSoon() {
		await(100, 1_000_000);
		assertThat(this.metrics.spinNanos()).isZero();
		turn(false);
		assertThat(this.budget.isSpent(this.now)).isTrue();
	}

	@Test
	void twoPeersThatHadToSleepPollAgain() {
		await(300, 1_000_000);
		await(300, 60_000);
		assertThat(await(60_000)).isTrue();
	}

	@Test
	void whatIsSubmittedIsNotAnArrivalAndBeginsANewWait() {
		await(100, 10_000);
		turn(false);
		this.now += 5_000_000;
		this.budget.turns();
		this.budget.submitted();
		this.budget.turned(true, this.now);
		turn(false);
		assertThat(this.budget.isSpent(this.now + 9_000)).isFalse();
		this.now += 8_000;
		turn(true);
		assertThat(this.metrics.spinNanos()).isBetween(10_000L, 15_000L);
		turn(false);
		this.budget.submitted();
		this.now += 5_000_000;
		turn(false);
		assertThat(this.budget.isSpent(this.now + 9_000)).as("by a thread that drove in between").isFalse();
	}

	@Test
	void sleepsOnAfterASleepInWhichNothingCame() {
		await(100, 10_000);
		turn(false);
		this.now += 20_000;
		this.budget.sleeps(this.now);
		this.now += 50_000_000;
		turn(false);
		assertThat(this.budget.isSpent(this.now)).isTrue();
	}

	@Test
	void aReplyToWhatWasSubmittedInASleepIsMeasured() {
		this.now = System.nanoTime() - 3_600_000_000_000L;
		await(100, 1_000_000);
		for (int i = 0; i < 300; i++) {
			turn(false);
			this.budget.sleeps(this.now);
			this.budget.submitted();
			this.now = System.nanoTime() + 10_000;
			turn(true);
		}
		assertThat(this.metrics.spinNanos()).isPositive();
	}

	@Test
	void doesNotPollWhereProcessorsAreScarce() {
		turn(false);
		this.budget.wakeUp();
		assertThat(this.budget.isSpent(this.now + 1)).isFalse();
		this.awake.addAndGet(2);
		assertThat(this.budget.isSpent(this.now + 1)).isTrue();
		this.budget.fallAsleep();
		this.budget.fallAsleep();
		assertThat(this.awake).as("each loop counts once").hasValue(2);
		assertThat(this.budget.isSpent(this.now + 1)).as("as many as processors").isFalse();
		this.budget.wakeUp();
		this.budget.wakeUp();
		assertThat(this.awake).hasValue(3);
		assertThat(this.budget.isSpent(this.now + 1)).isTrue();
	}

	@Test
	void pausesWhenPollingIsInVain() {
		for (int time = 0; time < 3; time++) {
			for (int i = 0; i <= SpinBudget.MOST_VAIN; i++) {
				turn(true);
				turn(false);
				assertThat(this.budget.isSpent(this.now + 1)).isFalse();
				this.budget.sleeps(this.now);
			}
			turn(true);
			turn(false);
			assertThat(this.budget.isSpent(this.now + 1)).as("in the pause").isTrue();
			this.now += SpinBudget.PAUSE_NANOS;
			turn(true);
		}
		turn(false);
		turn(true);
		for (int i = 0; i <= SpinBudget.MOST_VAIN; i++) {
			turn(false);
			this.budget.sleeps(this.now);
			turn(true);
		}
		this.now += SpinBudget.PAUSE_NANOS;
		turn(false);
		assertThat(this.budget.isSpent(this.now + 1)).as("after one that paid").isFalse();
	}

	/** Polls in one wait until that is over. */
	private long pollOn() {
		turn(true);
		turn(false);
		long start = this.now;
		while (!this.budget.isSpent(this.now)) {
			this.now += 1_000;
		}
		this.budget.sleeps(this.now);
		return this.now - start;
	}

	@Test
	void pollsOnForAsLongAsPollingHasMetWhatCame() {
		long linger = SpinBudget.LINGER_FACTOR * MAX;
		await((int) (linger / 2 / 10_000) - 10, 10_000);
		assertThat(pollOn()).as("too little is earned").isLessThan(20_000);
		await(20, 10_000);
		assertThat(pollOn()).isBetween(linger / 2, linger / 2 + 300_000);
		assertThat(pollOn()).as("it is used up").isLessThan(20_000);
		await(10_000, 10_000);
		assertThat(pollOn()).as("no more can be earned").isBetween(linger, linger + 20_000);
	}

	@Test
	void whatArrivesWhilePollingOnLeavesTheRest() {
		long linger = SpinBudget.LINGER_FACTOR * MAX;
		await(10_000, 10_000);
		turn(true);
		turn(false);
		for (int i = 0; i < 1000; i++) {
			this.now += 1_000;
			assertThat(this.budget.isSpent(this.now)).isFalse();
		}
		assertThat(pollOn()).isBetween(linger - 1_000_000, linger - 900_000);
	}

	@Test
	void shortWaitsAsleepEarnAPartAndEndAPause() {
		await(100, 1_000_000);
		int enough = (int) (SpinBudget.LINGER_FACTOR * MAX / 2 * SpinBudget.SLEPT_SHARE / 20_000);
		for (int i = 0; i <= enough; i++) {
			turn(true);
			turn(false);
			assertThat(this.budget.isSpent(this.now) || i > 0).isTrue();
			this.budget.sleeps(this.now);
			this.now += 20_000;
		}
		assertThat(pollOn()).isGreaterThan(SpinBudget.LINGER_FACTOR * MAX / 2 - MAX);
	}

	@Test
	void doesNotPollOnAfterASleepNorWhereProcessorsAreScarce() {
		await(10_000, 10_000);
		turn(true);
		turn(false);
		this.budget.sleeps(this.now);
		this.now += 20_000;
		assertThat(this.budget.isSpent(this.now)).isTrue();
		turn(true);
		this.budget.wakeUp();
		this.awake.addAndGet(2);
		assertThat(pollOn()).isZero();
		this.awake.addAndGet(-2);
		this.budget.fallAsleep();
		assertThat(pollOn()).isGreaterThan(SpinBudget.LINGER_FACTOR * MAX / 2);
	}

	@Test
	void pollsOnForALargeMessageThatMovesAndNotForOneThatDoesNot() {
		await(100, 1_000_000);
		turn(false);
		assertThat(this.budget.pollsForTransfer(this.now + MAX - 1)).isTrue();
		this.now += MAX;
		turn(true);
		turn(false);
		assertThat(this.budget.pollsForTransfer(this.now + MAX - 1)).isTrue();
		this.now += MAX;
		assertThat(this.budget.pollsForTransfer(this.now)).isFalse();
		turn(true);
		turn(false);
		long pause = SpinBudget.TRANSFER_PAUSE_FACTOR * MAX;
		assertThat(this.budget.pollsForTransfer(this.now + 1)).as("in the pause").isFalse();
		this.now += pause;
		turn(true);
		turn(false);
		assertThat(this.budget.pollsForTransfer(this.now + 1)).as("after the pause").isTrue();
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "ADAPTIVE")
	void otherModesDoNotAdapt(PollingMode mode) {
		SpinBudget fixed = budget(mode);
		long nanos = new PollingOptions(mode, MAX).effectiveSpinNanos();
		this.awake.set(9);
		for (int i = 0; i < 300; i++) {
			fixed.turns();
			fixed.turned(false, this.now);
			assertThat(fixed.isSpent(this.now + Math.max(0, nanos - 1))).isEqualTo(nanos == 0);
			assertThat(fixed.isSpent(this.now + nanos)).isTrue();
			fixed.sleeps(this.now);
			this.now += 10;
			fixed.turns();
			fixed.turned(true, this.now);
		}
		assertThat(this.metrics.spinNanos()).isEqualTo(nanos);
		assertThat(fixed.pollsForTransfer(this.now)).isFalse();
	}

	@Test
	void offersTheProcessorOnlyInAWaitThatLasts() {
		turn(true);
		turn(false);
		assertThat(this.budget.yields()).as("the first polls").isFalse();
		this.now += PollYields.ALONE_NANOS - 1;
		turn(false);
		assertThat(this.budget.yields()).isFalse();
		this.now++;
		turn(false);
		assertThat(this.budget.yields()).isTrue();
		turn(true);
		assertThat(this.budget.yields()).as("with more to do").isFalse();
		turn(false);
		assertThat(this.budget.yields()).as("in the next wait").isFalse();
	}

	@Test
	void offersTheProcessorWhilePollingOn() {
		await(10_000, 10_000);
		turn(true);
		turn(false);
		this.now += 2 * MAX;
		turn(false);
		assertThat(this.budget.isSpent(this.now)).isFalse();
		assertThat(this.budget.yields()).isTrue();
	}

	@Test
	void busyPollingOffersTheProcessorOnlyWhereLoopsAreMoreThanProcessors() {
		SpinBudget busy = budget(PollingMode.BUSY);
		for (int loops = 1; loops <= 3; loops++) {
			this.awake.set(loops);
			busy.turns();
			busy.turned(false, this.now);
			this.now += MAX;
			busy.turns();
			busy.turned(false, this.now);
			assertThat(busy.yields()).as("%d loops", loops).isEqualTo(loops > 2);
		}
	}

	@Test
	void sleepsAtOnceWhileOthersCompute() {
		await(100, 10_000);
		this.budget.offers().yielded(this.now, this.now + PollYields.LOST_NANOS);
		assertThat(await(10_000)).as("handlers that are quick").isTrue();
		this.budget.offers().yielded(this.now, this.now + PollYields.LOST_NANOS + 1);
		this.now += PollYields.LOST_NANOS + 1;
		assertThat(this.budget.isSpent(this.now)).as("with more to do").isFalse();
		turn(false);
		assertThat(this.budget.isSpent(this.now)).isTrue();
		assertThat(this.budget.pollsForTransfer(this.now)).isFalse();
		this.now += PollYields.SLEEPING_NANOS / 2;
		for (int i = 0; i <= 2 * SpinBudget.MOST_VAIN; i++) {
			this.budget.sleeps(this.now);
			turn(true);
			turn(false);
			assertThat(this.budget.isSpent(this.now)).isTrue();
		}
		turn(true);
		this.now += PollYields.SLEEPING_NANOS / 2;
		turn(false);
		assertThat(this.budget.isSpent(this.now + 9_000)).as("such sleeps are no vain budgets").isFalse();
		assertThat(this.budget.pollsForTransfer(this.now)).isTrue();
	}

	@Test
	void otherModesPollHoweverMuchOthersCompute() {
		SpinBudget fixed = budget(PollingMode.FIXED);
		fixed.offers().yielded(this.now, this.now + PollYields.LOST_NANOS + 1);
		fixed.turns();
		fixed.turned(false, this.now);
		assertThat(fixed.isSpent(this.now + MAX - 1)).isFalse();
		assertThat(fixed.isSpent(this.now + MAX)).isTrue();
	}

}
