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

import java.util.Arrays;
import java.util.function.IntPredicate;

import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * Receives that were posted and have not ended, in the order they were posted. Each has a
 * slot, by which its completion names it, and its segments, by which it can be handed to
 * an adapter later than it was posted.
 *
 * <p>
 * Guarded by the lock of the queue it belongs to.
 */
final class ReceiveSlots {

	/** No slot. */
	static final int NONE = -1;

	private final int maxSegments;

	private final long[] ids;

	private final boolean[] invalid;

	private final boolean[] handedOver;

	private final int[] next;

	private final int[] previous;

	private final int[] segmentCounts;

	private final long[] addresses;

	private final int[] lengths;

	private final int[] keys;

	private int free;

	private int first = NONE;

	private int last = NONE;

	private int count;

	private int handedOverCount;

	ReceiveSlots(int depth, int maxSegments) {
		this.maxSegments = maxSegments;
		this.ids = new long[depth];
		this.invalid = new boolean[depth];
		this.handedOver = new boolean[depth];
		this.next = new int[depth];
		this.previous = new int[depth];
		this.segmentCounts = new int[depth];
		this.addresses = new long[depth * maxSegments];
		this.lengths = new int[depth * maxSegments];
		this.keys = new int[depth * maxSegments];
		clear();
	}

	/** Forgets everything. */
	void clear() {
		Arrays.setAll(this.next, (slot) -> slot + 1);
		if (this.next.length > 0) {
			this.next[this.next.length - 1] = NONE;
		}
		this.free = (this.next.length > 0) ? 0 : NONE;
		this.first = NONE;
		this.last = NONE;
		this.count = 0;
		this.handedOverCount = 0;
		Arrays.fill(this.handedOver, false);
	}

	boolean isFull() {
		return this.free == NONE;
	}

	/** Receives that have not ended. */
	int count() {
		return this.count;
	}

	/** Receives that an adapter has. */
	int handedOverCount() {
		return this.handedOverCount;
	}

	/** The oldest, or {@link #NONE}. */
	int first() {
		return this.first;
	}

	/** The one posted after another, or {@link #NONE}. */
	int next(int slot) {
		return this.next[slot];
	}

	long id(int slot) {
		return this.ids[slot];
	}

	/** Whether an adapter has it. */
	boolean isHandedOver(int slot) {
		return this.handedOver[slot];
	}

	/**
	 * Takes a slot for a receive.
	 * @param segments copied
	 * @param useless whether they cannot be used
	 */
	int add(WorkRequest request, SegmentList segments, boolean useless) {
		int slot = this.free;
		this.free = this.next[slot];
		this.ids[slot] = request.id();
		this.invalid[slot] = useless;
		this.handedOver[slot] = false;
		this.segmentCounts[slot] = segments.count();
		for (int i = 0; i < segments.count(); i++) {
			int at = slot * this.maxSegments + i;
			this.addresses[at] = segments.address(i);
			this.lengths[at] = segments.lengthBytes(i);
			this.keys[at] = segments.key(i);
		}
		append(slot);
		this.count++;
		return slot;
	}

	private void append(int slot) {
		this.next[slot] = NONE;
		this.previous[slot] = this.last;
		if (this.last == NONE) {
			this.first = slot;
		}
		else {
			this.next[this.last] = slot;
		}
		this.last = slot;
	}

	/** Copies the segments of a receive. */
	void copySegments(int slot, SegmentList into) {
		into.clear();
		for (int i = 0; i < this.segmentCounts[slot]; i++) {
			int at = slot * this.maxSegments + i;
			into.add(this.addresses[at], this.lengths[at], this.keys[at]);
		}
	}

	/**
	 * How a receive has ended, if the adapter does not say: when a message takes it and
	 * the adapter reports no more than that it could not execute the receive, then either
	 * its memory is not registered any more, or the message is longer than it. That the
	 * memory is not registered the kernel's siw reports as if the connection was lost.
	 * @param reported what the adapter says
	 * @param registered whether a local key is that of a region
	 */
	WorkStatus outcome(int slot, WorkStatus reported, IntPredicate registered) {
		if (reported == WorkStatus.SUCCESS || reported == WorkStatus.FLUSHED) {
			return reported;
		}
		if (this.invalid[slot]) {
			return WorkStatus.LOCAL_PROTECTION_ERROR;
		}
		if (reported != WorkStatus.LOCAL_OPERATION_ERROR && reported != WorkStatus.CONNECTION_LOST) {
			return reported;
		}
		int from = slot * this.maxSegments;
		if (!Arrays.stream(this.keys, from, from + this.segmentCounts[slot]).allMatch(registered)) {
			return WorkStatus.LOCAL_PROTECTION_ERROR;
		}
		return (reported == WorkStatus.LOCAL_OPERATION_ERROR) ? WorkStatus.LOCAL_LENGTH_ERROR : reported;
	}

	/** Notes that an adapter has, or has no more, a receive. */
	void handOver(int slot, boolean toAdapter) {
		if (this.handedOver[slot] != toAdapter) {
			this.handedOver[slot] = toAdapter;
			this.handedOverCount += toAdapter ? 1 : -1;
		}
	}

	/** Frees the slot of a receive that has ended. */
	void remove(int slot) {
		handOver(slot, false);
		int before = this.previous[slot];
		int after = this.next[slot];
		if (before == NONE) {
			this.first = after;
		}
		else {
			this.next[before] = after;
		}
		if (after == NONE) {
			this.last = before;
		}
		else {
			this.previous[after] = before;
		}
		this.next[slot] = this.free;
		this.free = slot;
		this.count--;
	}

}
