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
 * How long a loop waited for what came next, over some hundred waits, and for how long it
 * should have polled each time. A wait that polling meets costs its length, another one
 * the time polled in vain and a sleep, which is taken to cost {@value #SLEEP_FACTOR}
 * times as much as polling for the longest time allowed. (A loop that does not know the
 * future then never pays more than twice what it would if it did.)
 *
 * <p>
 * The waits are counted in two classes per power of two. When there are enough all are
 * halved, so that old ones are forgotten.
 */
final class Waits {

	/** Shorter ones are met by the next poll, whatever the budget. */
	private static final int LEAST_EXPONENT = 9;

	private static final int MOST = 256;

	/** After how many that were met the budget is looked at again. */
	private static final int PER_LOOK = 16;

	/**
	 * What a sleep costs, in longest times of polling: more than its own time, since who
	 * waits for this side meanwhile often falls asleep in turn.
	 */
	private static final int SLEEP_FACTOR = 4;

	private final long maxNanos;

	private final long sleepNanos;

	private final int[] counts;

	private int total;

	private int sinceLook;

	private long budget;

	Waits(long maxNanos) {
		this.maxNanos = maxNanos;
		this.sleepNanos = SLEEP_FACTOR * maxNanos;
		int classes = 0;
		while (bound(classes) < maxNanos && classes < 2 * (Long.SIZE - LEAST_EXPONENT - 2)) {
			classes++;
		}
		this.counts = new int[classes + 2];
		this.budget = maxNanos;
	}

	/**
	 * Counts a wait.
	 * @param slept whether the loop slept meanwhile
	 * @return whether the budget may have changed
	 */
	boolean add(long nanos, boolean slept) {
		if (nanos < (1 << LEAST_EXPONENT) && !slept) {
			return false;
		}
		int last = this.counts.length - 1;
		this.counts[(nanos > this.maxNanos) ? last : Math.min(index(nanos), last)]++;
		if (++this.total == MOST) {
			halve();
		}
		if (!slept && ++this.sinceLook < PER_LOOK) {
			return false;
		}
		this.sinceLook = 0;
		this.budget = cheapest();
		return true;
	}

	/** How long to poll. */
	long budget() {
		return this.budget;
	}

	private void halve() {
		this.total = 0;
		for (int i = 0; i < this.counts.length; i++) {
			this.counts[i] >>= 1;
			this.total += this.counts[i];
		}
	}

	private long cheapest() {
		long least = this.total * this.sleepNanos;
		long best = 0;
		long metNanos = 0;
		int met = 0;
		for (int i = 0; i < this.counts.length - 1; i++) {
			long nanos = Math.min(bound(i), this.maxNanos);
			met += this.counts[i];
			metNanos += this.counts[i] * nanos;
			long cost = metNanos + (this.total - met) * (nanos + this.sleepNanos);
			if (cost < least) {
				least = cost;
				best = nanos;
			}
		}
		return best;
	}

	private static int index(long nanos) {
		long value = Math.max(1L << LEAST_EXPONENT, nanos);
		int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(value);
		return 2 * (exponent - LEAST_EXPONENT) + (int) (value >>> (exponent - 1) & 1);
	}

	/** What the waits of a class are shorter than. */
	private static long bound(int index) {
		long power = 1L << (LEAST_EXPONENT + index / 2);
		return (index % 2 == 0) ? power + power / 2 : 2 * power;
	}

}
