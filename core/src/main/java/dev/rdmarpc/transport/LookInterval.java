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
 * When a watcher looks at its loops again.
 *
 * <p>
 * Each look takes a processor from a thread that drives or polls, and so delays a call by
 * longer than a call takes. Where the last look found every thread at home, and none was
 * held up lately, the next one is therefore after {@link #QUIET_NANOS}: a thread that has
 * left since has been away for less. A thread that was away at a look is looked at again
 * as soon as it can be held up. So each hold-up is noticed within {@code QUIET_NANOS},
 * and within twice the time that makes one where they happen more often than once in
 * {@link #WARY_NANOS}.
 *
 * <p>
 * Belongs to one thread.
 */
final class LookInterval {

	/** How often the watcher looks while nobody is away for long. */
	static final long QUIET_NANOS = 4_000_000;

	/** For how long it looks more often after a loop was held up. */
	static final long WARY_NANOS = 1_000_000_000;

	private final long heldUpNanos;

	private boolean away;

	private boolean wary;

	private long lastHeldUpNanos;

	/**
	 * Begins quiet.
	 * @param heldUpNanos away for how long is held up
	 */
	LookInterval(long heldUpNanos) {
		this.heldUpNanos = heldUpNanos;
	}

	/** A look has found that a thread was away for so long, or 0. */
	void looked(long nowNanos, long longestNanos) {
		this.away = longestNanos > 0;
		if (longestNanos >= this.heldUpNanos) {
			this.wary = true;
			this.lastHeldUpNanos = nowNanos;
		}
		else if (this.wary) {
			this.wary = nowNanos - this.lastHeldUpNanos < WARY_NANOS;
		}
	}

	/** The time until the next look. */
	long nanos() {
		return (this.away || this.wary) ? this.heldUpNanos : QUIET_NANOS;
	}

}
