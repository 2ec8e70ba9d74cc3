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

/**
 * How long a loop polls before it sleeps. In adaptive mode this follows what the loop
 * measures: {@linkplain Waits how long it waited}, polling or asleep, for what came next,
 * which for a peer that answers is the round trip. The budget is what would have cost
 * least over the last waits if a sleep costs some times as much as polling for the
 * configured maximum. So a loop polls for about a round trip where that meets most
 * replies, and sleeps at once where nothing comes so soon.
 *
 * <p>
 * A wait ends with what has arrived. What is submitted on this side ends it too, but does
 * not count: whoever submits drives, whether the loop polls or sleeps. A loop whose sleep
 * ends without an arrival goes on sleeping.
 *
 * <p>
 * Where more loops of the process are awake than there are processors, polling keeps
 * others from answering, and the budget is nothing. Other processes may need the
 * processors, too: after {@value #MOST_VAIN} budgets in a row that were spent in vain the
 * loop sleeps at once for a while. Not for longer each time: what jitter lets happen to a
 * loop that polls with success otherwise must not have it sleep for seconds.
 *
 * <p>
 * A budget that is spent is followed by up to {@value #LINGER_FACTOR} times the longest
 * time allowed if at least half of that has been <em>earned</em>: by waits that polling
 * has met, and by an {@value #SLEPT_SHARE}th of those as short in which the loop slept. A
 * loop that sleeps is woken by its peer, which a scheduler takes for a reason to run both
 * on one processor, although another one is free: from then on each of them polls, or
 * sleeps, at the expense of the other, for up to seconds. What holds up a peer that
 * otherwise answers soon is mostly over before that time, so that nobody falls asleep;
 * and two that share a processor are separated if one of them keeps it for longer than a
 * tick of the scheduler. So no more is polled for nothing than for something, but for
 * budgets.
 *
 * <p>
 * Between polls a loop offers its processor to others ({@link PollYields}), because the
 * threads that are to bring about what it waits for may need that. Where such an offer
 * has cost it a time slice it sleeps at once for a while.
 *
 * <p>
 * While a large message is on its way its bytes are met polling for as long as is
 * allowed, because a thread that sleeps in between is woken at the expense of the one
 * that sends: on a virtual machine that takes as long as 300 KiB.
 *
 * <p>
 * Confined to the loop's driver, except for {@link #fallAsleep()}, {@link #wakeUp()} and
 * {@link #pause()}.
 */
final class SpinBudget {

	/** For how many times as long large messages are slept for after a vain wait. */
	static final int TRANSFER_PAUSE_FACTOR = 20;

	/** Budgets spent in vain, one after the other, that are too many. */
	static final int MOST_VAIN = 8;

	/** How long nothing is polled for then. */
	static final long PAUSE_NANOS = 50_000_000;

	/** For how many times the longest time allowed a loop polls on now and then. */
	static final int LINGER_FACTOR = 25;

	/** What part of a short wait is earned if the loop slept meanwhile. */
	static final int SLEPT_SHARE = 8;

	private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

	/** Loops of this process that do not sleep; changes where one sleeps or wakes. */
	private static final AtomicInteger AWAKE = new AtomicInteger();

	private final PollingMode mode;

	private final long maxNanos;

	private final AtomicInteger awake;

	/** Whether the loop is among those; no call without a counterpart changes that. */
	private boolean counted;

	private final int processors;

	private final Waits waits;

	private final LoopMetrics metrics;

	private long nanos;

	private boolean idle;

	private boolean slept;

	private boolean turning;

	private boolean submitted;

	private long idleSinceNanos;

	private int vain;

	private boolean paused;

	private long pausedUntilNanos;

	private final long lingerNanos;

	private long earnedNanos;

	private long earnedBeforeNanos;

	private boolean lingering;

	private final PollYields offers;

	/** Read also by a thread that has polled and has given up the role since. */
	private boolean yields;

	private boolean transferPaused;

	private long transferPausedUntilNanos;

	SpinBudget(PollingOptions polling, LoopMetrics metrics) {
		this(polling, metrics, AWAKE, PROCESSORS);
	}

	SpinBudget(PollingOptions polling, LoopMetrics metrics, AtomicInteger awake, int processors) {
		this.mode = polling.mode();
		this.maxNanos = polling.effectiveSpinNanos();
		this.nanos = this.maxNanos;
		this.lingerNanos = (polling.mode() == PollingMode.ADAPTIVE) ? LINGER_FACTOR * this.maxNanos : 0;
		this.waits = new Waits(this.maxNanos);
		this.offers = new PollYields(metrics);
		this.metrics = metrics;
		this.awake = awake;
		this.processors = processors;
		metrics.spinBudget(this.nanos);
	}

	/** A turn begins. */
	void turns() {
		this.turning = true;
		this.submitted = false;
	}

	/**
	 * A turn has ended.
	 * @param arrived whether it has found anything
	 * @param nowNanos when it began
	 */
	void turned(boolean arrived, long nowNanos) {
		this.turning = false;
		if (!arrived) {
			this.metrics.polledInVain();
			if (!this.idle) {
				this.idle = true;
				this.idleSinceNanos = nowNanos;
				this.lingering = false;
			}
			this.yields = switch (this.mode) {
				case ADAPTIVE -> this.offers.isDue(nowNanos - this.idleSinceNanos, nowNanos);
				case BUSY -> isScarce();
				case FIXED, EVENT -> false;
			};
			return;
		}
		this.yields = false;
		if (this.idle && !this.submitted) {
			waited(nowNanos - this.idleSinceNanos);
		}
		this.idle = false;
		this.slept = false;
	}

	private void waited(long waitedNanos) {
		if (waitedNanos < this.maxNanos) {
			long earned = this.slept ? waitedNanos / SLEPT_SHARE : waitedNanos;
			this.earnedNanos = Math.min(this.lingerNanos, this.earnedNanos + earned);
		}
		if (!this.slept) {
			this.metrics.spinPaid();
			this.vain = 0;
		}
		if (this.mode == PollingMode.ADAPTIVE && this.waits.add(waitedNanos, this.slept)) {
			this.nanos = this.waits.budget();
			this.metrics.spinBudget(this.nanos);
		}
	}

	/**
	 * Something was submitted on this side, or a caller begins to wait for its reply:
	 * what comes is waited for anew.
	 */
	void submitted() {
		if (this.turning) {
			this.submitted = true;
		}
		else if (this.slept) {
			this.idleSinceNanos = System.nanoTime();
		}
		else {
			this.idle = false;
		}
	}

	/** Whether to sleep rather than poll on. */
	boolean isSpent(long nowNanos) {
		if (this.offers.isLost(nowNanos) && this.mode == PollingMode.ADAPTIVE) {
			return this.idle;
		}
		long limit = this.nanos;
		if (this.mode == PollingMode.ADAPTIVE && (isScarce() || isPaused(nowNanos))) {
			limit = 0;
		}
		long over = nowNanos - this.idleSinceNanos - limit;
		return this.idle && over >= 0 && !lingers(over);
	}

	/** Whether to poll on all the same, which uses up what is earned. */
	private boolean lingers(long overNanos) {
		if (!this.lingering) {
			if (this.slept || this.lingerNanos == 0 || this.earnedNanos < this.lingerNanos / 2 || isScarce()) {
				return false;
			}
			this.lingering = true;
			this.paused = false;
			this.earnedBeforeNanos = this.earnedNanos;
		}
		this.earnedNanos = Math.max(0, this.earnedBeforeNanos - overNanos);
		return this.earnedNanos > 0;
	}

	private boolean isPaused(long nowNanos) {
		this.paused = this.paused && nowNanos - this.pausedUntilNanos < 0;
		return this.paused;
	}

	/** Whether there are not as many processors as loops that are awake. */
	private boolean isScarce() {
		return this.awake.get() > this.processors;
	}

	/**
	 * Whether to go on polling for a large message that is on its way, although the
	 * budget is spent. If nothing comes all the same, other threads need the processors,
	 * perhaps those who send it, and this is not done for a while.
	 */
	boolean pollsForTransfer(long nowNanos) {
		this.transferPaused = this.transferPaused && nowNanos - this.transferPausedUntilNanos < 0;
		if (this.mode != PollingMode.ADAPTIVE || this.transferPaused || this.offers.isLost(nowNanos)) {
			return false;
		}
		if (nowNanos - this.idleSinceNanos < this.maxNanos) {
			return true;
		}
		this.transferPaused = true;
		this.transferPausedUntilNanos = nowNanos + TRANSFER_PAUSE_FACTOR * this.maxNanos;
		return false;
	}

	/** The loop is about to sleep. */
	void sleeps(long nowNanos) {
		if (!this.slept && this.nanos > 0 && !isPaused(nowNanos) && !this.offers.isLost(nowNanos)
				&& ++this.vain > MOST_VAIN) {
			this.vain = 0;
			this.paused = true;
			this.pausedUntilNanos = nowNanos + PAUSE_NANOS;
		}
		this.slept = true;
	}

	/** Between two polls: lets others run that may need the processor. */
	@SuppressWarnings("ThreadPriorityCheck") // others may need the processor
	void pause() {
		if (!this.yields) {
			Thread.onSpinWait();
			return;
		}
		long began = System.nanoTime();
		Thread.yield();
		this.offers.yielded(began, System.nanoTime());
	}

	/** Whether it does so; driver. */
	boolean yields() {
		return this.yields;
	}

	/** What has become of that. */
	PollYields offers() {
		return this.offers;
	}

	/** The loop sleeps from here on; by its awaiter, or the loop has ended. */
	void fallAsleep() {
		if (this.counted) {
			this.counted = false;
			this.awake.decrementAndGet();
		}
	}

	/** The loop is awake from here on; by its awaiter, or when the loop begins. */
	void wakeUp() {
		if (!this.counted) {
			this.counted = true;
			this.awake.incrementAndGet();
		}
	}

}
