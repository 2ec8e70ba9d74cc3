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

package dev.rdmarpc.verbs.support;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * The completions of a completion queue that were not polled yet, as arrays of fields.
 * Guarded by the lock of the completion queue.
 *
 * <p>
 * Implementation notes. Storing a reference in an old array costs a fence with some
 * garbage collectors, so a slot keeps its queue pair while the next completion there is
 * of the same one. What is closed is forgotten: {@link #purge} looks at all slots, and
 * completions that it has kept are forgotten when they are taken.
 */
public final class CompletionRing {

	private static final WorkStatus[] STATUSES = WorkStatus.values();

	private static final WorkOpcode[] OPCODES = WorkOpcode.values();

	private static final int STATUS_SHIFT = 8;

	private final int limit;

	private final int mask;

	private final long[] ids;

	/** Status and opcode. */
	private final short[] kinds;

	private final long[] byteLengths;

	private final int[] invalidatedKeys;

	private final @Nullable QueuePair[] queuePairs;

	private long head;

	private long tail;

	/** Whether completions of closed queue pairs are among them, or were. */
	private boolean forgetful;

	/** Creates a ring without completions that holds up to {@code limit} of them. */
	public CompletionRing(int limit) {
		int capacity = (limit == 1) ? 1 : Integer.highestOneBit(limit - 1) << 1;
		this.limit = limit;
		this.mask = capacity - 1;
		this.ids = new long[capacity];
		this.kinds = new short[capacity];
		this.byteLengths = new long[capacity];
		this.invalidatedKeys = new int[capacity];
		this.queuePairs = new QueuePair[capacity];
	}

	/** How many there are, with those of closed queue pairs that are skipped. */
	public int size() {
		return (int) (this.tail - this.head);
	}

	/** Whether another completion may be added. */
	public boolean hasRoom() {
		return this.tail - this.head < this.limit;
	}

	/** Adds a completion; the caller has asked for room. */
	@SuppressWarnings("EnumOrdinal") // never leaves the process
	public void add(long id, WorkStatus status, WorkOpcode opcode, long byteLength, int invalidatedKey,
			QueuePair queuePair) {
		int slot = (int) this.tail & this.mask;
		this.ids[slot] = id;
		this.kinds[slot] = (short) (status.ordinal() << STATUS_SHIFT | opcode.ordinal());
		this.byteLengths[slot] = byteLength;
		this.invalidatedKeys[slot] = invalidatedKey;
		if (this.queuePairs[slot] != queuePair) {
			this.queuePairs[slot] = queuePair;
		}
		this.tail++;
	}

	/** Moves as many completions as there are, or fit, and returns their number. */
	public int drainTo(WorkCompletion[] completions) {
		int count = 0;
		while (count < completions.length && this.head != this.tail) {
			int slot = (int) this.head++ & this.mask;
			QueuePair queuePair = this.queuePairs[slot];
			if (queuePair != null) {
				completions[count++].set(this.ids[slot], STATUSES[this.kinds[slot] >> STATUS_SHIFT], opcode(slot),
						this.byteLengths[slot], this.invalidatedKeys[slot], queuePair);
				if (this.forgetful) {
					this.queuePairs[slot] = null;
				}
			}
		}
		this.forgetful &= this.head != this.tail;
		return count;
	}

	private WorkOpcode opcode(int slot) {
		return OPCODES[this.kinds[slot] & (1 << STATUS_SHIFT) - 1];
	}

	/**
	 * Drops the completions of a queue pair that is being closed.
	 * @param keepReceives whether to keep those of receives, because they are of a shared
	 * queue
	 */
	public void purge(QueuePair closed, boolean keepReceives) {
		long to = this.head;
		for (long from = this.head; from != this.tail; from++) {
			int source = (int) from & this.mask;
			QueuePair queuePair = this.queuePairs[source];
			boolean kept = queuePair != closed || (keepReceives && opcode(source) == WorkOpcode.RECEIVE);
			if (queuePair == null || !kept) {
				this.queuePairs[source] = null;
				continue;
			}
			if (from != to) {
				int target = (int) to & this.mask;
				this.ids[target] = this.ids[source];
				this.kinds[target] = this.kinds[source];
				this.byteLengths[target] = this.byteLengths[source];
				this.invalidatedKeys[target] = this.invalidatedKeys[source];
				this.queuePairs[target] = queuePair;
				this.queuePairs[source] = null;
			}
			to++;
		}
		this.tail = to;
		this.forgetful |= keepReceives && this.head != to;
		for (long free = to; free < this.head + this.queuePairs.length; free++) {
			int slot = (int) free & this.mask;
			if (this.queuePairs[slot] == closed) {
				this.queuePairs[slot] = null;
			}
		}
	}

}
