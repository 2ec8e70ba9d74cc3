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

package dev.rdmarpc.verbs.disni;

import org.jspecify.annotations.Nullable;

/**
 * The queue pairs of a completion queue by the number that the adapter calls them. Open
 * addressing, so that looking up allocates nothing.
 *
 * <p>
 * Guarded by the lock of the completion queue.
 *
 * @param <T> the kind of queue pair
 */
final class QueuePairTable<T> {

	private static final int INITIAL_CAPACITY = 16;

	private int[] numbers = new int[INITIAL_CAPACITY];

	private @Nullable Object[] queuePairs = new @Nullable Object[INITIAL_CAPACITY];

	private int count;

	private static int hash(int number) {
		int mixed = number * 0x9E3779B9;
		return mixed ^ (mixed >>> 16);
	}

	/** Finds a queue pair. */
	@SuppressWarnings("unchecked") // only put() adds
	@Nullable T get(int number) {
		int mask = this.numbers.length - 1;
		for (int at = hash(number) & mask;; at = (at + 1) & mask) {
			Object found = this.queuePairs[at];
			if (found == null || this.numbers[at] == number) {
				return (T) found;
			}
		}
	}

	/** Adds or replaces a queue pair. */
	void put(int number, T queuePair) {
		if (2 * (this.count + 1) > this.numbers.length) {
			rebuild(2 * this.numbers.length, null);
		}
		set(number, queuePair);
	}

	private void set(int number, Object queuePair) {
		int mask = this.numbers.length - 1;
		int at = hash(number) & mask;
		while (this.queuePairs[at] != null && this.numbers[at] != number) {
			at = (at + 1) & mask;
		}
		this.count += (this.queuePairs[at] == null) ? 1 : 0;
		this.numbers[at] = number;
		this.queuePairs[at] = queuePair;
	}

	/** Removes a queue pair, unless its number is another's by now. */
	void remove(int number, T queuePair) {
		if (get(number) == queuePair) {
			rebuild(this.numbers.length, number);
		}
	}

	private void rebuild(int capacity, @Nullable Integer without) {
		int[] oldNumbers = this.numbers;
		@Nullable Object[] old = this.queuePairs;
		this.numbers = new int[capacity];
		this.queuePairs = new @Nullable Object[capacity];
		this.count = 0;
		for (int i = 0; i < old.length; i++) {
			Object queuePair = old[i];
			if (queuePair != null && (without == null || oldNumbers[i] != without)) {
				set(oldNumbers[i], queuePair);
			}
		}
	}

}
