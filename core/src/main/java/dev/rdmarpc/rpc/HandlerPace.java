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

/**
 * How quick the handler of one method has been, and whether it therefore runs on the
 * thread of the loop that receives the call.
 *
 * <p>
 * A method begins on the executor. When its moving average there has fallen to
 * {@value #QUICK_NANOS} ns, and no recent run was long, it moves to the loops. It moves
 * back when the average exceeds {@value #SLOW_NANOS} ns, or when a single run exceeds
 * {@value #LONG_NANOS} ns and there were fewer than {@value #FORGIVEN_AFTER} runs since
 * the last such one: a collection of garbage, or a processor that is taken away, also
 * makes a run long, but rarely the same method's twice in a thousand. While a run on a
 * loop is that long and has not ended, all other calls of the method go to the executor.
 * After it was moved back, a method stays on the executor for a second, and for twice as
 * long each time up to a minute, until it has stayed on the loops for a minute.
 *
 * <p>
 * While a method is quick on the loops, only some of its runs are timed, since a look at
 * the clock takes as long as many a handler. Another one that lasts for long is known by
 * who has replaced the loop's thread meanwhile: it counts from the thread's last look at
 * the clock, a few tasks before, and the next runs are all timed. One of a few
 * milliseconds may end before anybody looks, and counts as short then.
 *
 * <p>
 * In the average, a run about several messages of a stream counts as one for each of
 * them, but on a loop as {@value #MOST_ON_LOOP} at most, so that it does not hold that up
 * for longer than as many calls do.
 *
 * <p>
 * Implementation notes. The fields are written by the threads that run the handlers, and
 * read by drivers, without any order. An update that is lost costs one sample of the
 * average, a decision that is seen late runs a few more calls where the last ones ran,
 * and two threads that move the method at the same time double its pause twice. A
 * {@code long} that is read half-written, as a 32-bit machine may, is one wrong sample.
 * Every call of a method is safe on either thread, so nothing but speed depends on it.
 */
final class HandlerPace {

	/** What a loop may be held up for without harm to others. */
	static final long LONG_NANOS = 1_000_000;

	/** About what it costs to hand a call to another thread. */
	static final long QUICK_NANOS = 10_000;

	static final long SLOW_NANOS = 30_000;

	static final int FORGIVEN_AFTER = 1000;

	static final long FIRST_PAUSE_NANOS = 1_000_000_000L;

	static final long LAST_PAUSE_NANOS = 60 * FIRST_PAUSE_NANOS;

	/** Over how many runs the average is. */
	private static final int AVERAGED_RUNS = 64;

	/**
	 * What a run on the executor counts at most: a thread there may have been without a
	 * processor, which says nothing about the method.
	 */
	private static final long MOST_COUNTED_NANOS = 10 * QUICK_NANOS;

	/** As how many runs one on a loop counts at most. */
	static final int MOST_ON_LOOP = 32;

	private static final int SUSPECT_RUNS = 64;

	private long averageNanos = MOST_COUNTED_NANOS;

	private boolean onLoop;

	private long notBeforeNanos;

	private long pauseNanos = FIRST_PAUSE_NANOS;

	private long movedNanos;

	private int runsSinceLong;

	/** When the last run on a loop began that has not ended; 0 for none. */
	private long runningSince;

	private final TimedRuns timedRuns = new TimedRuns();

	/** How many of the next runs are all timed. */
	private int suspectRuns;

	private int movesToLoop;

	private int movesToExecutor;

	HandlerPace(long nowNanos) {
		this.notBeforeNanos = nowNanos;
	}

	/** Whether the next run may be on the loop's thread. */
	boolean mayRunOnLoop(long nowNanos) {
		return this.onLoop && !isHeldUp(nowNanos);
	}

	private boolean isHeldUp(long nowNanos) {
		long since = this.runningSince;
		return since != 0 && nowNanos - since > LONG_NANOS;
	}

	/** Whether the next run on a loop is to be timed. */
	boolean times() {
		if (this.averageNanos > QUICK_NANOS) {
			return true;
		}
		if (this.suspectRuns > 0) {
			this.suspectRuns--;
			return true;
		}
		return this.timedRuns.next();
	}

	/**
	 * A run begins on the thread of a loop.
	 * @param nowNanos the time, or that of the loop's last look at the clock
	 */
	void beginOnLoop(long nowNanos) {
		if (!isHeldUp(nowNanos)) {
			this.runningSince = nowNanos;
		}
	}

	/**
	 * A run on the thread of a loop has ended.
	 * @param messages that it took or made, at least 1
	 */
	void endOnLoop(long startNanos, long endNanos, int messages) {
		if (this.runningSince == startNanos) {
			this.runningSince = 0;
		}
		long nanos = endNanos - startNanos;
		if (nanos > LONG_NANOS) {
			if (this.runsSinceLong < FORGIVEN_AFTER) {
				moveToExecutor(endNanos);
			}
			this.runsSinceLong = 0;
			return;
		}
		this.runsSinceLong++;
		add(nanos / Math.min(messages, MOST_ON_LOOP));
		if (this.averageNanos > SLOW_NANOS) {
			moveToExecutor(endNanos);
		}
	}

	/** A run on the thread of a loop that was not timed has ended, and held up nobody. */
	void endUntimed(long startNanos) {
		if (this.runningSince == startNanos) {
			this.runningSince = 0;
		}
		this.runsSinceLong++;
	}

	/** A run that was not timed is about to end; somebody has replaced its thread. */
	void replaced() {
		this.suspectRuns = SUSPECT_RUNS;
	}

	/** A run on the executor has ended, see {@link #endOnLoop}. */
	void endOnExecutor(long startNanos, long endNanos, int messages) {
		if (this.onLoop) {
			return;
		}
		long nanos = endNanos - startNanos;
		this.runsSinceLong = (nanos > LONG_NANOS) ? 0 : this.runsSinceLong + 1;
		add(Math.min(nanos / messages, MOST_COUNTED_NANOS));
		if (this.averageNanos <= QUICK_NANOS && this.runsSinceLong >= AVERAGED_RUNS
				&& endNanos - this.notBeforeNanos >= 0) {
			this.runsSinceLong = 0;
			this.movedNanos = endNanos;
			this.movesToLoop++;
			this.onLoop = true;
		}
	}

	/** Rounds towards the new value, which would not be reached otherwise. */
	private void add(long nanos) {
		long difference = nanos - this.averageNanos;
		this.averageNanos += (difference < 0) ? Math.floorDiv(difference, AVERAGED_RUNS)
				: -Math.floorDiv(-difference, AVERAGED_RUNS);
	}

	private void moveToExecutor(long nowNanos) {
		if (!this.onLoop) {
			return;
		}
		this.onLoop = false;
		if (nowNanos - this.movedNanos > LAST_PAUSE_NANOS) {
			this.pauseNanos = FIRST_PAUSE_NANOS;
		}
		this.notBeforeNanos = nowNanos + this.pauseNanos;
		this.pauseNanos = Math.min(2 * this.pauseNanos, LAST_PAUSE_NANOS);
		this.averageNanos = MOST_COUNTED_NANOS;
		this.runsSinceLong = 0;
		this.movesToExecutor++;
	}

	/** How often it has moved to the loops. */
	int movesToLoop() {
		return this.movesToLoop;
	}

	/** How often it has moved back. */
	int movesToExecutor() {
		return this.movesToExecutor;
	}

}
