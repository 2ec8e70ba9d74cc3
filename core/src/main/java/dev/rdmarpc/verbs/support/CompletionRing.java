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
 * garbage collectors, so a slot keeps its source while the next completion there is of
 * the same one. A source forgets its queue pair when that closes, so {@link #purge} looks
 * at what was not taken and at no other slot. What it keeps gets a source that slots do
 * not keep. There are as many slots as there were completions at a time, since all slots
 * are gone through one after the other, and what is large falls out of the cache and
 * costs the garbage collector time. Room is made when it is asked for; where there is no
 * memory for it there is no room, and nothing is lost.
 */
public final class CompletionRing {

	private static final WorkStatus[] STATUSES = WorkStatus.values();

	private static final WorkOpcode[] OPCODES = WorkOpcode.values();

	private static final int STATUS_SHIFT = 8;

	private static final int INITIAL_SLOTS = 256;

	private final int limit;

	private int mask;

	private long[] ids;

	/** Status and opcode. */
	private short[] kinds;

	private long[] byteLengths;

	private int[] invalidatedKeys;

	private @Nullable CompletionSource[] sources;

	private long head;

	private long tail;

	/** Whether growing has failed since something was taken. */
	private boolean starved;

	/** Creates a ring without completions that holds up to {@code limit} of them. */
	public CompletionRing(int limit) {
		int slots = Math.min(INITIAL_SLOTS, (limit == 1) ? 1 : Integer.highestOneBit(limit - 1) << 1);
		this.limit = limit;
		this.mask = slots - 1;
		this.ids = new long[slots];
		this.kinds = new short[slots];
		this.byteLengths = new long[slots];
		this.invalidatedKeys = new int[slots];
		this.sources = new CompletionSource[slots];
	}

	/** How many there are. */
	public int size() {
		return (int) (this.tail - this.head);
	}

	/** Whether another completion may be added; makes room for it. */
	public boolean hasRoom() {
		int size = size();
		return size < this.limit && (size <= this.mask || (!this.starved && tryGrow()));
	}

	/** Nothing changes until all of the memory is there. */
	private boolean tryGrow() {
		int slots = 2 * (this.mask + 1);
		try {
			long[] moreIds = new long[slots];
			short[] moreKinds = new short[slots];
			long[] moreLengths = new long[slots];
			int[] moreKeys = new int[slots];
			@Nullable CompletionSource[] moreSources = new CompletionSource[slots];
			int size = size();
			for (int i = 0; i < size; i++) {
				int slot = (int) (this.head + i) & this.mask;
				moreIds[i] = this.ids[slot];
				moreKinds[i] = this.kinds[slot];
				moreLengths[i] = this.byteLengths[slot];
				moreKeys[i] = this.invalidatedKeys[slot];
				moreSources[i] = this.sources[slot];
			}
			this.ids = moreIds;
			this.kinds = moreKinds;
			this.byteLengths = moreLengths;
			this.invalidatedKeys = moreKeys;
			this.sources = moreSources;
			this.mask = slots - 1;
			this.head = 0;
			this.tail = size;
			return true;
		}
		catch (OutOfMemoryError ex) {
			this.starved = true;
			return false;
		}
	}

	/** Adds a completion; the caller has asked for room. */
	@SuppressWarnings("EnumOrdinal") // never leaves the process
	public void add(long id, WorkStatus status, WorkOpcode opcode, long byteLength, int invalidatedKey,
			CompletionSource source) {
		if (size() > this.mask) {
			throw new IllegalStateException("completion without room, which would replace one not taken");
		}
		int slot = (int) this.tail & this.mask;
		this.ids[slot] = id;
		this.kinds[slot] = (short) (status.ordinal() << STATUS_SHIFT | opcode.ordinal());
		this.byteLengths[slot] = byteLength;
		this.invalidatedKeys[slot] = invalidatedKey;
		if (this.sources[slot] != source) {
			this.sources[slot] = source;
		}
		this.tail++;
	}

	/** Moves as many completions as there are, or fit, and returns their number. */
	public int drainTo(WorkCompletion[] completions) {
		int count = 0;
		this.starved = false;
		while (count < completions.length && this.head != this.tail) {
			int slot = (int) this.head++ & this.mask;
			CompletionSource source = this.sources[slot];
			QueuePair queuePair = (source != null) ? source.queuePair() : null;
			if (source == null || queuePair == null) {
				continue;
			}
			completions[count++].set(this.ids[slot], STATUSES[this.kinds[slot] >> STATUS_SHIFT], opcode(slot),
					this.byteLengths[slot], this.invalidatedKeys[slot], queuePair);
			if (source.isOnce()) {
				this.sources[slot] = null;
			}
		}
		return count;
	}

	private WorkOpcode opcode(int slot) {
		return OPCODES[this.kinds[slot] & (1 << STATUS_SHIFT) - 1];
	}

	/**
	 * Closes a source and drops its completions.
	 * @param keepReceives whether to keep those of receives, because they are of a shared
	 * queue
	 */
	public void purge(CompletionSource closed, boolean keepReceives) {
		QueuePair queuePair = closed.queuePair();
		if (queuePair == null) {
			return;
		}
		CompletionSource kept = CompletionSource.once(queuePair);
		long to = this.head;
		for (long from = this.head; from != this.tail; from++) {
			int slot = (int) from & this.mask;
			if (this.sources[slot] != closed) {
				move(slot, (int) to++ & this.mask);
			}
			else if (keepReceives && opcode(slot) == WorkOpcode.RECEIVE) {
				this.sources[slot] = kept;
				move(slot, (int) to++ & this.mask);
			}
		}
		while (this.tail != to) {
			this.sources[(int) --this.tail & this.mask] = null;
		}
		closed.close();
	}

	private void move(int from, int to) {
		if (from != to) {
			this.ids[to] = this.ids[from];
			this.kinds[to] = this.kinds[from];
			this.byteLengths[to] = this.byteLengths[from];
			this.invalidatedKeys[to] = this.invalidatedKeys[from];
			this.sources[to] = this.sources[from];
		}
	}

}
