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
 * When a loop that polls in vain offers its processor to other threads. One that keeps it
 * runs at the expense of those it waits for wherever more threads have something to do
 * than there are processors: the callers whose replies it has just delivered, handlers,
 * the peer, another program. Where no thread waits for the processor, an offer costs one
 * system call.
 *
 * <p>
 * The first polls of a wait are made without, so that what comes within
 * {@value #ALONE_NANOS} ns does not wait for a system call. After an offer that was taken
 * up each poll is followed by one for a while, since others are likely to need the
 * processor again.
 *
 * <p>
 * A thread that computes gives the processor back when its time slice is over, not when
 * something arrives, while a thread that sleeps is given the processor when it is woken.
 * So after an offer that took longer than {@value #LOST_NANOS} ns the loop is not to poll
 * in vain for a while, but to sleep.
 *
 * <p>
 * Implementation notes. The thread that polled offers the processor, sometimes after it
 * has given up the driver role, and notes down what became of that. Two that do so at the
 * same time may lose one of two notes, which are about the same moment, and a driver that
 * drops a note because it is old may drop one that is just being made: an offer less that
 * counts. A time is written before the note that refers to it.
 */
final class PollYields {

	/** For how long a wait goes on without an offer. */
	static final long ALONE_NANOS = 5_000;

	/** An offer that takes longer was taken up: alone it is a system call. */
	static final long TAKEN_NANOS = 5_000;

	/** For how long processors are taken to be scarce after that. */
	static final long SHARED_NANOS = 1_000_000;

	/** An offer that takes longer was taken up by a thread that computes. */
	static final long LOST_NANOS = 1_000_000;

	/** For how long the loop sleeps rather than polls after that. */
	static final long SLEEPING_NANOS = 50_000_000;

	private final LoopMetrics metrics;

	private volatile boolean lost;

	private volatile long lostUntilNanos;

	private volatile boolean shared;

	private volatile long sharedUntilNanos;

	PollYields(LoopMetrics metrics) {
		this.metrics = metrics;
	}

	/**
	 * Whether to offer the processor before the next poll.
	 * @param waitedNanos since the first poll that found nothing
	 */
	boolean isDue(long waitedNanos, long nowNanos) {
		return waitedNanos >= ALONE_NANOS || isShared(nowNanos);
	}

	private boolean isShared(long nowNanos) {
		if (this.shared && nowNanos - this.sharedUntilNanos >= 0) {
			this.shared = false;
		}
		return this.shared;
	}

	/** Whether to sleep rather than poll, because others compute. */
	boolean isLost(long nowNanos) {
		if (this.lost && nowNanos - this.lostUntilNanos >= 0) {
			this.lost = false;
		}
		return this.lost;
	}

	/** The processor was offered, and the thread has it again. */
	void yielded(long beganNanos, long endedNanos) {
		if (endedNanos - beganNanos > LOST_NANOS) {
			this.lostUntilNanos = endedNanos + SLEEPING_NANOS;
			this.lost = true;
		}
		if (endedNanos - beganNanos > TAKEN_NANOS) {
			this.sharedUntilNanos = endedNanos + SHARED_NANOS;
			this.shared = true;
			this.metrics.yielded();
		}
	}

}
