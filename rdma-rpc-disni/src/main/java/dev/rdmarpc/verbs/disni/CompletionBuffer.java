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

import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.WorkCompletion;

/**
 * Completions that were taken from the adapter before the user asked for them. A ring
 * that grows; its records are used again.
 *
 * <p>
 * Guarded by the lock of the completion queue.
 */
final class CompletionBuffer {

	private static final int INITIAL_CAPACITY = 32;

	private WorkCompletion[] ring = filled(new WorkCompletion[INITIAL_CAPACITY], 0);

	private int head;

	private int count;

	private static WorkCompletion[] filled(WorkCompletion[] records, int from) {
		for (int i = from; i < records.length; i++) {
			records[i] = new WorkCompletion();
		}
		return records;
	}

	boolean isEmpty() {
		return this.count == 0;
	}

	/** Makes room for so many more records: appending them needs no heap then. */
	void reserve(int more) {
		if (this.count + more > this.ring.length) {
			WorkCompletion[] grown = new WorkCompletion[Math.max(2 * this.ring.length, this.count + more)];
			for (int i = 0; i < this.count; i++) {
				grown[i] = this.ring[(this.head + i) % this.ring.length];
			}
			this.ring = filled(grown, this.count);
			this.head = 0;
		}
	}

	/** Appends a record, to be filled. */
	WorkCompletion append() {
		reserve(1);
		return this.ring[(this.head + this.count++) % this.ring.length];
	}

	/** Takes the oldest. */
	void take(WorkCompletion into) {
		copy(this.ring[this.head], into);
		this.head = (this.head + 1) % this.ring.length;
		this.count--;
	}

	private static void copy(WorkCompletion from, WorkCompletion into) {
		into.set(from.id(), from.status(), from.opcode(), from.byteLength(), from.invalidatedKey(), from.queuePair());
	}

	/** Forgets what a queue pair has not been told yet. */
	void remove(QueuePair queuePair) {
		int kept = 0;
		for (int i = 0; i < this.count; i++) {
			WorkCompletion record = this.ring[(this.head + i) % this.ring.length];
			if (record.queuePair() != queuePair) {
				if (kept != i) {
					copy(record, this.ring[(this.head + kept) % this.ring.length]);
				}
				kept++;
			}
		}
		this.count = kept;
	}

	/**
	 * Moves the records of a queue pair to the end of another buffer, in their order.
	 * @return whether there were any
	 */
	boolean moveTo(CompletionBuffer other, QueuePair queuePair) {
		int before = this.count;
		other.reserve(before);
		for (int i = 0; i < before; i++) {
			WorkCompletion record = this.ring[(this.head + i) % this.ring.length];
			if (record.queuePair() == queuePair) {
				copy(record, other.append());
			}
		}
		remove(queuePair);
		return this.count < before;
	}

	/** Forgets everything. */
	void clear() {
		this.count = 0;
	}

}
