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

import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * Runs what depends on the futures of a client: on the thread of the loop, after its
 * turn, as long as that has been quick, else for a while on threads of the transport.
 * Something slow that comes again and again is tried there ever more rarely.
 *
 * <p>
 * Implementation notes. The fields are written by any thread that runs such code, without
 * a lock and in no order: an observation that is lost costs one sample. A run is also
 * long where a collection of garbage or another process takes the processor away, so that
 * a long one is forgiven when there were {@value #FORGIVEN_AFTER} others since the last.
 * Unlike a handler, which {@link HandlerPace} first watches on the executor, such code
 * begins on the loop and is tried there again when a pause is over. What it takes
 * elsewhere says little: the calls it makes there are posted by itself, and here by the
 * loop, many at a time.
 */
final class Continuations {

	/** What a run counts at most. */
	private static final long MOST_COUNTED_NANOS = 1_000_000;

	/** What it may take on average. */
	private static final long SLOW_NANOS = 50_000;

	/** As how many a run counts at most that was about several messages. */
	private static final int MOST_MESSAGES = 32;

	/** While they take less on average, only some runs are timed. */
	private static final long QUICK_NANOS = SLOW_NANOS / 10;

	private static final int FORGIVEN_AFTER = 500;

	private static final int AVERAGED_RUNS = 64;

	private static final long FIRST_PAUSE_NANOS = 250_000_000;

	private static final long LONGEST_PAUSE_NANOS = 60_000_000_000L;

	private final RdmaTransport transport;

	private long averageNanos;

	private final TimedRuns timedRuns = new TimedRuns();

	private int runsSinceHeldUp = FORGIVEN_AFTER;

	private boolean slow;

	private long untilNanos;

	private long pauseNanos = FIRST_PAUSE_NANOS;

	Continuations(RdmaTransport transport) {
		this.transport = transport;
	}

	/** On the thread of a loop, which does not drive now. */
	void run(ChannelLoop loop, Continuation call) {
		if (isQuick()) {
			call.finish();
			if (loop.isOwnThread()) {
				this.runsSinceHeldUp++;
			}
			else {
				ran(System.nanoTime(), MOST_COUNTED_NANOS, true);
			}
			return;
		}
		long start = System.nanoTime();
		if (this.slow && start - this.untilNanos < 0) {
			runElsewhere(call::finish);
			return;
		}
		int messages = call.finish();
		long end = System.nanoTime();
		ran(end, (end - start) / Math.min(messages, MOST_MESSAGES), !loop.isOwnThread());
	}

	/** Whether a run is not timed. */
	private boolean isQuick() {
		return !this.slow && this.averageNanos <= QUICK_NANOS && !this.timedRuns.next();
	}

	private void ran(long nowNanos, long nanos, boolean heldUp) {
		boolean tooLong = heldUp && this.runsSinceHeldUp < FORGIVEN_AFTER;
		this.runsSinceHeldUp = heldUp ? 0 : this.runsSinceHeldUp + 1;
		this.averageNanos += (Math.min(nanos, MOST_COUNTED_NANOS) - this.averageNanos) / AVERAGED_RUNS;
		if (tooLong || this.averageNanos > SLOW_NANOS) {
			this.averageNanos = 0;
			this.untilNanos = nowNanos + this.pauseNanos;
			this.pauseNanos = Math.min(2 * this.pauseNanos, LONGEST_PAUSE_NANOS);
			this.slow = true;
		}
		else if (this.slow && nowNanos - this.untilNanos > this.pauseNanos) {
			this.slow = false;
			this.pauseNanos = FIRST_PAUSE_NANOS;
		}
	}

	void runElsewhere(Runnable code) {
		this.transport.runCallback(code);
	}

}
