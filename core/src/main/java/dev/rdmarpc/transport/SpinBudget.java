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

/**
 * How long a loop polls before it sleeps. In adaptive mode this follows what it sees:
 * when an event comes soon after the thread has gone to sleep, polling a little longer
 * would have met it, so the budget doubles, up to {@value #LARGEST_FACTOR} times what was
 * configured; when the sleep was longer than that, nothing is going on, and the budget is
 * what was configured. (Linux decides in the same way how long a virtual processor polls
 * before it halts.) When polling for longer keeps ending in sleep all the same, others
 * need the processors more, and it is not tried again for a while.
 *
 * <p>
 * Without this two peers that once had to sleep go on sleeping: each one's wake-up takes
 * longer than the other's budget.
 *
 * <p>
 * While a large message is on its way its bytes are met polling, because a thread that
 * sleeps in between is woken at the expense of the one that sends: on a virtual machine
 * that takes as long as 300 KiB.
 *
 * <p>
 * Written by the thread that awaits events, of which there is one at a time, and read by
 * whoever drives; what concerns large messages belongs to the driver.
 */
final class SpinBudget {

	/** By how much the budget may exceed the one configured. */
	static final int LARGEST_FACTOR = 4;

	/** By how much it is exceeded while a large message is on its way. */
	static final int TRANSFER_FACTOR = 5;

	/** For how many times as long that is not tried again after it was in vain. */
	static final int TRANSFER_PAUSE_FACTOR = 20;

	/** Sleeps in a row, with nothing but polling in between, that are too many. */
	static final int MOST_SLEEPS = 8;

	/** How long polling for longer is not tried again, in nanoseconds. */
	static final long PAUSE_NANOS = 50_000_000;

	private final long configuredNanos;

	private final long largestNanos;

	private final long transferNanos;

	private volatile long nanos;

	private long wokenNanos;

	private long pausedUntilNanos;

	private long transferPausedUntilNanos;

	private int sleeps;

	SpinBudget(PollingOptions polling, long nowNanos) {
		this.configuredNanos = polling.effectiveSpinNanos();
		this.largestNanos = (polling.mode() == PollingMode.ADAPTIVE) ? LARGEST_FACTOR * this.configuredNanos
				: this.configuredNanos;
		this.transferNanos = (polling.mode() == PollingMode.ADAPTIVE) ? TRANSFER_FACTOR * this.configuredNanos : 0;
		this.nanos = this.configuredNanos;
		this.wokenNanos = nowNanos;
		this.pausedUntilNanos = nowNanos;
		this.transferPausedUntilNanos = nowNanos;
	}

	/** How long to poll without success, in nanoseconds. */
	long nanos() {
		return this.nanos;
	}

	/**
	 * Whether to go on polling for a large message that is on its way, although the
	 * budget is spent. If nothing comes all the same, other threads need the processors,
	 * perhaps those who send it, and this is not done for a while. Driver.
	 * @param workedNanos when polling was successful the last time
	 */
	boolean pollsForTransfer(long workedNanos, long nowNanos) {
		if (nowNanos - this.transferPausedUntilNanos < 0) {
			return false;
		}
		if (nowNanos - workedNanos < this.transferNanos) {
			return true;
		}
		this.transferPausedUntilNanos = nowNanos + TRANSFER_PAUSE_FACTOR * this.transferNanos;
		return false;
	}

	/** A sleep has ended. */
	void slept(long sleptNanos, long nowNanos) {
		boolean onlyPolled = nowNanos - sleptNanos - this.wokenNanos < 2 * this.largestNanos;
		this.wokenNanos = nowNanos;
		this.sleeps = onlyPolled ? this.sleeps + 1 : 0;
		if (this.sleeps > MOST_SLEEPS) {
			this.sleeps = 0;
			this.pausedUntilNanos = nowNanos + PAUSE_NANOS;
		}
		boolean worthIt = sleptNanos <= this.largestNanos && nowNanos - this.pausedUntilNanos >= 0;
		long current = this.nanos;
		long next = worthIt ? Math.min(2 * current, this.largestNanos) : this.configuredNanos;
		if (next != current) {
			this.nanos = next;
		}
	}

}
