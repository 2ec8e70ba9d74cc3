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

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.slf4j.event.Level;

/**
 * When a connection is attempted next: pauses grow from failure to failure, with jitter.
 * Guarded by the connection. Times are those of {@link System#nanoTime()}.
 */
final class AttemptPauses {

	/** The longest pause that a call waits for. */
	private static final long LONGEST_WAIT_NANOS = 250_000_000;

	private final long initialNanos;

	private final long maxNanos;

	private int failures;

	private boolean warned;

	private long attemptNanos;

	private long pausedNanos;

	private long dueNanos;

	AttemptPauses(RpcClientOptions options) {
		this.initialNanos = options.initialBackoff().toNanos();
		this.maxNanos = options.maxBackoff().toNanos();
	}

	/** How many attempts have failed in a row. */
	int failures() {
		return this.failures;
	}

	/**
	 * How an attempt that has failed is logged: one is news while the peer may be about
	 * to come back, and one is a warning when it should have.
	 * @param restarting whether a connection was lost not long ago
	 */
	Level levelOfFailure(boolean restarting) {
		if (restarting) {
			return (this.failures == 0) ? Level.INFO : Level.DEBUG;
		}
		Level level = this.warned ? Level.DEBUG : Level.WARN;
		this.warned = true;
		return level;
	}

	/** An attempt begins. */
	void begun() {
		this.attemptNanos = System.nanoTime();
	}

	/** An attempt has succeeded. */
	void succeeded() {
		this.failures = 0;
		this.warned = false;
	}

	/** When to connect again after a loss: not twice within the first pause. */
	long afterLoss() {
		this.pausedNanos = System.nanoTime();
		return this.attemptNanos + jittered(this.initialNanos);
	}

	/** When to try again after a failure. */
	long afterFailure(boolean awaited) {
		int doublings = Math.min(this.failures, Long.numberOfLeadingZeros(this.initialNanos) - 1);
		long nanos = jittered(Math.min(this.maxNanos, this.initialNanos << doublings));
		this.failures++;
		this.pausedNanos = System.nanoTime();
		return this.pausedNanos + (awaited ? Math.min(nanos, LONGEST_WAIT_NANOS) : nanos);
	}

	/** When the pause is over that a call waits for. */
	long cutShort() {
		long soonest = this.pausedNanos + LONGEST_WAIT_NANOS;
		return (this.dueNanos - soonest < 0) ? this.dueNanos : soonest;
	}

	/** A pause is made until then. */
	void until(long nanos) {
		this.dueNanos = nanos;
	}

	/** Whether the pause ends later than that. */
	boolean endsAfter(long nanos) {
		return nanos - this.dueNanos < 0;
	}

	/** Whether the pause is over. */
	boolean isOver() {
		return this.dueNanos - System.nanoTime() <= 0;
	}

	/** What is told of the pause to who has waited since then. */
	String describe(long sinceNanos) {
		long left = Math.max(0, this.dueNanos - System.nanoTime());
		boolean untried = sinceNanos != Long.MIN_VALUE && this.attemptNanos - sinceNanos < 0;
		return (untried ? " (no attempt meanwhile, the next in " : " (next attempt in ")
				+ TimeUnit.NANOSECONDS.toMillis(left) + " ms)";
	}

	private static long jittered(long nanos) {
		return nanos / 2 + ThreadLocalRandom.current().nextLong(nanos / 2 + 1);
	}

}
