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

package dev.rdmarpc.rpc;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** When a method moves to the loops and back; with a clock of its own. */
class HandlerPaceTests {

	private static final long SECOND = 1_000_000_000;

	private long now = -SECOND;

	private final HandlerPace pace = new HandlerPace(this.now);

	@Test
	void beginsOnTheExecutor() {
		assertThat(this.pace.mayRunOnLoop(this.now)).isFalse();
	}

	@Test
	void movesToTheLoopWhenItIsQuick() {
		onExecutor(100, 2_000);
		assertThat(this.pace.mayRunOnLoop(this.now)).as("after 100 runs").isFalse();
		onExecutor(200, 2_000);
		assertThat(this.pace.mayRunOnLoop(this.now)).as("after 300 runs").isTrue();
		assertThat(this.pace.movesToLoop()).isOne();
	}

	@Test
	void runsOfTheInterpreterAreForgotten() {
		onExecutor(50, 80 * HandlerPace.LONG_NANOS);
		onExecutor(400, HandlerPace.QUICK_NANOS / 2);
		assertThat(this.pace.mayRunOnLoop(this.now)).isTrue();
	}

	@Test
	void staysOnTheExecutorWhenItIsNotQuick() {
		onExecutor(10_000, HandlerPace.QUICK_NANOS + 1);
		assertThat(this.pace.mayRunOnLoop(this.now)).isFalse();
	}

	@Test
	void aThreadThatWasWithoutProcessorNowAndThenIsForgiven() {
		for (int i = 0; i < 5; i++) {
			onExecutor(1, 4 * HandlerPace.LONG_NANOS);
			onExecutor(99, HandlerPace.QUICK_NANOS / 2);
		}
		assertThat(this.pace.mayRunOnLoop(this.now)).isTrue();
	}

	@Test
	void staysOnTheExecutorWhenItBlocksNowAndThen() {
		for (int i = 0; i < 1000; i++) {
			onExecutor(50, 1_000);
			onExecutor(1, SECOND);
			assertThat(this.pace.mayRunOnLoop(this.now)).isFalse();
		}
	}

	@Test
	void oneLongRunMovesItBack() {
		moveToLoop();
		onLoop(1, HandlerPace.LONG_NANOS + 1);
		assertThat(this.pace.mayRunOnLoop(this.now)).isFalse();
		assertThat(this.pace.movesToExecutor()).isOne();
	}

	@Test
	void oneLongRunInAThousandIsForgiven() {
		moveToLoop();
		onLoop(HandlerPace.FORGIVEN_AFTER, 1_000);
		onLoop(1, SECOND);
		assertThat(this.pace.mayRunOnLoop(this.now)).as("after one").isTrue();
		onLoop(HandlerPace.FORGIVEN_AFTER - 1, 1_000);
		onLoop(1, SECOND);
		assertThat(this.pace.mayRunOnLoop(this.now)).as("after two").isFalse();
	}

	@Test
	void aSlowAverageMovesItBack() {
		moveToLoop();
		onLoop(10_000, HandlerPace.SLOW_NANOS);
		assertThat(this.pace.mayRunOnLoop(this.now)).as("not slow enough").isTrue();
		onLoop(300, HandlerPace.SLOW_NANOS * 2);
		assertThat(this.pace.mayRunOnLoop(this.now)).isFalse();
		assertThat(this.pace.movesToExecutor()).isOne();
	}

	@Test
	void runsAboutManyMessagesCountAsManyRuns() {
		onExecutor(1000, 256 * HandlerPace.QUICK_NANOS, 256);
		assertThat(this.pace.mayRunOnLoop(this.now)).as("after long runs").isFalse();
		onExecutor(1000, 64 * HandlerPace.QUICK_NANOS, 64);
		assertThat(this.pace.mayRunOnLoop(this.now)).isTrue();
		onLoop(1000, HandlerPace.MOST_ON_LOOP * HandlerPace.SLOW_NANOS, 256);
		assertThat(this.pace.mayRunOnLoop(this.now)).as("not slow enough").isTrue();
		onLoop(1000, HandlerPace.MOST_ON_LOOP * (HandlerPace.SLOW_NANOS + 1000), 256);
		assertThat(this.pace.mayRunOnLoop(this.now)).as("as many calls would be slow").isFalse();
		assertThat(this.pace.movesToExecutor()).isOne();
	}

	@Test
	void whileARunIsLongOthersGoToTheExecutor() {
		moveToLoop();
		long blocked = this.now;
		this.pace.beginOnLoop(blocked);
		this.now += HandlerPace.LONG_NANOS;
		assertThat(this.pace.mayRunOnLoop(this.now)).isTrue();
		this.now++;
		assertThat(this.pace.mayRunOnLoop(this.now)).isFalse();
		onExecutor(1000, 1_000);
		assertThat(this.pace.mayRunOnLoop(this.now)).isFalse();
		onLoop(1, 1_000);
		assertThat(this.pace.mayRunOnLoop(this.now)).as("after one that had been on its way").isFalse();
		this.pace.endOnLoop(blocked, this.now, 1);
		assertThat(this.pace.mayRunOnLoop(this.now)).isFalse();
		assertThat(this.pace.movesToExecutor()).isOne();
	}

	@Test
	void onlySomeRunsOfAQuickMethodAreTimed() {
		assertThat(timed(1000)).as("before it is known to be quick").isEqualTo(1000);
		moveToLoop();
		assertThat(timed(8000)).as("of a quick one").isBetween(800, 1200);
		onLoop(100, 2 * HandlerPace.QUICK_NANOS);
		assertThat(timed(1000)).as("when it has become slower").isEqualTo(1000);
		assertThat(this.pace.mayRunOnLoop(this.now)).isTrue();
	}

	@Test
	void runsThatAreNotTimedCountAsShort() {
		moveToLoop();
		for (int i = 0; i < HandlerPace.FORGIVEN_AFTER; i++) {
			this.pace.beginOnLoop(this.now);
			this.pace.endUntimed(this.now);
		}
		this.now += SECOND;
		assertThat(this.pace.mayRunOnLoop(this.now)).as("none runs").isTrue();
		onLoop(1, SECOND);
		assertThat(this.pace.mayRunOnLoop(this.now)).as("after a long one").isTrue();
		onLoop(1, SECOND);
		assertThat(this.pace.mayRunOnLoop(this.now)).as("after another").isFalse();
	}

	@Test
	void theNextRunsAreTimedAfterOneThatWasReplaced() {
		moveToLoop();
		this.pace.replaced();
		assertThat(timed(64)).isEqualTo(64);
		assertThat(timed(8000)).isBetween(800, 1200);
	}

	private int timed(int runs) {
		int timed = 0;
		for (int i = 0; i < runs; i++) {
			timed += this.pace.times() ? 1 : 0;
		}
		return timed;
	}

	@Test
	void thePauseDoublesUpToAMinute() {
		moveToLoop();
		for (long seconds : new long[] { 1, 2, 4, 8, 16, 32, 60, 60, 60 }) {
			onLoop(1, 2 * HandlerPace.LONG_NANOS);
			long movedBack = this.now;
			this.now = movedBack + seconds * SECOND - 1_000_000;
			onExecutor(900, 1_000);
			assertThat(this.pace.mayRunOnLoop(this.now)).as("before %d s", seconds).isFalse();
			this.now = movedBack + seconds * SECOND;
			onExecutor(1, 1_000);
			assertThat(this.pace.mayRunOnLoop(this.now)).as("after %d s", seconds).isTrue();
		}
	}

	@Test
	void aMinuteOnTheLoopIsRememberedInsteadOfPauses() {
		moveToLoop();
		for (int i = 0; i < 3; i++) {
			onLoop(1, 2 * HandlerPace.LONG_NANOS);
			this.now += 60 * SECOND;
			onExecutor(1000, 1_000);
		}
		this.now += 61 * SECOND;
		onLoop(1, 2 * HandlerPace.LONG_NANOS);
		this.now += SECOND;
		onExecutor(1000, 1_000);
		assertThat(this.pace.mayRunOnLoop(this.now)).isTrue();
	}

	private void moveToLoop() {
		onExecutor(1000, 1_000);
		assertThat(this.pace.mayRunOnLoop(this.now)).isTrue();
	}

	private void onExecutor(int runs, long nanos) {
		onExecutor(runs, nanos, 1);
	}

	private void onExecutor(int runs, long nanos, int messages) {
		for (int i = 0; i < runs; i++) {
			long start = this.now;
			this.now += nanos;
			this.pace.endOnExecutor(start, this.now, messages);
		}
	}

	private void onLoop(int runs, long nanos) {
		onLoop(runs, nanos, 1);
	}

	private void onLoop(int runs, long nanos, int messages) {
		for (int i = 0; i < runs; i++) {
			long start = this.now;
			this.pace.beginOnLoop(start);
			this.now += nanos;
			this.pace.endOnLoop(start, this.now, messages);
		}
	}

}
