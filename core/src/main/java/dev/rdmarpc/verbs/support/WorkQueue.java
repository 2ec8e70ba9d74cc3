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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * A bounded queue of posted work requests. An entry is four words next to one another;
 * its segments are in arrays of their own. Posting allocates nothing, but for a queue
 * that {@linkplain #growing grows} when it holds more than it ever has.
 *
 * <p>
 * Threading: any thread posts; one consumer at a time reads entries from {@link #head()}
 * to {@link #tail()} and then releases them. Entries are named by a sequence number that
 * never wraps.
 *
 * <p>
 * Implementation notes. Posting threads exclude each other by a lock held for the copy
 * alone. The tail is written volatile after the entry, and the consumer reads it before
 * the entry; it is a full fence, because whoever has posted looks next whether somebody
 * will see to it. The head has one writer at a time, the consumer, which writes it with
 * release semantics when it has forgotten the entry: a poster that sees it late sees a
 * queue that is fuller than it is. Entries move when the queue grows: the new slots are
 * filled before they are seen, the old ones are written no more, and the consumer, which
 * has read the tail first, finds what it looks for in either.
 *
 * <p>
 * A queue may be far deeper than what is posted to it is long, and goes through all of
 * its slots, one after the other. Those of a shared receive queue, or of the completions
 * of a loop, would not stay in a processor's cache for that.
 */
public final class WorkQueue {

	private static final VarHandle HEAD;

	static {
		try {
			HEAD = MethodHandles.lookup().findVarHandle(WorkQueue.class, "head", long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private static final WorkOpcode[] OPCODES = WorkOpcode.values();

	private static final int WORDS = 4;

	private static final int ID = 0;

	private static final int REMOTE_ADDRESS = 1;

	private static final int TOTAL_BYTES = 2;

	/** Key, number of segments, opcode and whether signaled. */
	private static final int KIND = 3;

	private static final int INITIAL_SLOTS = 64;

	private final ShortLock postLock = new ShortLock();

	private final int depth;

	private final int maxSegments;

	private Slots slots;

	private volatile long tail;

	private volatile long head;

	/** Creates an empty queue. */
	public WorkQueue(int depth, int maxSegments) {
		this(depth, maxSegments, depth);
	}

	private WorkQueue(int depth, int maxSegments, int initial) {
		int capacity = (initial == 1) ? 1 : Integer.highestOneBit(initial - 1) << 1;
		this.depth = depth;
		this.maxSegments = maxSegments;
		this.slots = new Slots(capacity, maxSegments, null, 0, 0);
	}

	/**
	 * Creates an empty queue that has memory for as many entries as it has held. They
	 * move, so nobody may keep anything by their {@link #slot}.
	 */
	public static WorkQueue growing(int depth, int maxSegments) {
		return new WorkQueue(depth, maxSegments, Math.min(depth, INITIAL_SLOTS));
	}

	/** Copies a request into the queue. */
	public PostResult post(WorkRequest request) {
		LimitChecks.checkSegments(request, this.maxSegments);
		this.postLock.lock();
		try {
			long sequence = this.tail;
			if (room(sequence, 1) == 0) {
				return PostResult.QUEUE_FULL;
			}
			copy(request, sequence);
			this.tail = sequence + 1;
			return PostResult.POSTED;
		}
		finally {
			this.postLock.unlock();
		}
	}

	/** Copies requests into the queue, as many as it takes, and returns how many. */
	public int post(WorkRequest[] requests, int count) {
		for (int i = 0; i < count; i++) {
			LimitChecks.checkSegments(requests[i], this.maxSegments);
		}
		this.postLock.lock();
		try {
			long sequence = this.tail;
			int taken = room(sequence, count);
			for (int i = 0; i < taken; i++) {
				copy(requests[i], sequence + i);
			}
			this.tail = sequence + taken;
			return taken;
		}
		finally {
			this.postLock.unlock();
		}
	}

	/** How many of so many may be posted; makes room for them. */
	private int room(long sequence, int count) {
		long head = this.head;
		int posted = (int) (sequence - head);
		int room = Math.min(count, this.depth - posted);
		while (posted + room > this.slots.capacity) {
			try {
				this.slots = new Slots(2 * this.slots.capacity, this.maxSegments, this.slots, head, sequence);
			}
			catch (OutOfMemoryError ex) {
				return Math.min(room, this.slots.capacity - posted);
			}
		}
		return room;
	}

	@SuppressWarnings("EnumOrdinal") // never leaves the process
	private void copy(WorkRequest request, long sequence) {
		Slots slots = this.slots;
		int count = request.segmentCount();
		int first = slots.slot(sequence) * this.maxSegments;
		long total = 0;
		for (int i = 0; i < count; i++) {
			slots.regions[first + i] = (request.segmentRegion(i) instanceof RegisteredMemory own) ? own : null;
			int length = request.segmentLength(i);
			slots.ranges[first + i] = (long) request.segmentOffset(i) << 32 | (length & 0xFFFF_FFFFL);
			total += length;
		}
		int word = slots.slot(sequence) * WORDS;
		slots.words[word + ID] = request.id();
		slots.words[word + REMOTE_ADDRESS] = request.remoteAddress();
		slots.words[word + TOTAL_BYTES] = total;
		slots.words[word + KIND] = (long) request.remoteKey() << 32 | (long) count << 8
				| (long) request.opcode().ordinal() << 1 | (request.signaled() ? 1 : 0);
	}

	/** How many segments an entry has at most. */
	public int maxSegments() {
		return this.maxSegments;
	}

	/** How many slots there are, a power of two. */
	public int capacity() {
		return this.slots.capacity;
	}

	/** The slot of an entry, for what others keep of it. */
	public int slot(long sequence) {
		return this.slots.slot(sequence);
	}

	/** The oldest entry not released. */
	public long head() {
		return this.head;
	}

	/** One past the newest entry. */
	public long tail() {
		return this.tail;
	}

	/** Whether nothing is posted. */
	public boolean isEmpty() {
		return this.head == this.tail;
	}

	/** Forgets the oldest entry. */
	public void release() {
		long sequence = this.head;
		Slots slots = this.slots;
		int first = slots.slot(sequence) * this.maxSegments;
		int count = segmentCount(sequence);
		for (int i = 0; i < count; i++) {
			slots.regions[first + i] = null;
		}
		HEAD.setRelease(this, sequence + 1);
	}

	/** Forgets all entries. */
	public void clear() {
		while (!isEmpty()) {
			release();
		}
	}

	private long word(long sequence, int which) {
		Slots slots = this.slots;
		return slots.words[slots.slot(sequence) * WORDS + which];
	}

	/** The caller's name for the request. */
	public long id(long sequence) {
		return word(sequence, ID);
	}

	/** What the request does. */
	public WorkOpcode opcode(long sequence) {
		return OPCODES[(int) word(sequence, KIND) >>> 1 & 0x7F];
	}

	/** Whether success produces a completion. */
	public boolean isSignaled(long sequence) {
		return (word(sequence, KIND) & 1) != 0;
	}

	/** Sum of the segments' lengths. */
	public long totalBytes(long sequence) {
		return word(sequence, TOTAL_BYTES);
	}

	/** Where in the peer's memory the request reads or writes. */
	public long remoteAddress(long sequence) {
		return word(sequence, REMOTE_ADDRESS);
	}

	/** The key of the region there, or the one that a Send invalidates. */
	public int remoteKey(long sequence) {
		return (int) (word(sequence, KIND) >>> 32);
	}

	/** How many segments an entry has. */
	public int segmentCount(long sequence) {
		return (int) word(sequence, KIND) >>> 8;
	}

	/** The region of a segment, or {@code null} if it is of no provider in user space. */
	public @Nullable RegisteredMemory region(long sequence, int segment) {
		Slots slots = this.slots;
		return slots.regions[slots.slot(sequence) * this.maxSegments + segment];
	}

	/** Where in its region a segment begins. */
	public int offset(long sequence, int segment) {
		return (int) (range(sequence, segment) >> 32);
	}

	/** How long a segment is. */
	public int length(long sequence, int segment) {
		return (int) range(sequence, segment);
	}

	private long range(long sequence, int segment) {
		Slots slots = this.slots;
		return slots.ranges[slots.slot(sequence) * this.maxSegments + segment];
	}

	/** Whether a domain's work request may touch all segments. */
	public boolean permitsLocal(long sequence, ProtectionDomain domain, boolean write) {
		int count = segmentCount(sequence);
		for (int i = 0; i < count; i++) {
			RegisteredMemory region = region(sequence, i);
			if (region == null || !region.permitsLocal(domain, offset(sequence, i), length(sequence, i), write)) {
				return false;
			}
		}
		return true;
	}

	/** Where entries are. Nothing is posted here once there are more of them. */
	private static final class Slots {

		private final int capacity;

		private final long[] words;

		private final @Nullable RegisteredMemory[] regions;

		/** Offset in the high half, length in the low one. */
		private final long[] ranges;

		/**
		 * Makes slots, and takes over what is posted. All of it here: what a constructor
		 * has done when it ends is seen by whoever finds its object, also without a lock.
		 */
		Slots(int capacity, int maxSegments, @Nullable Slots before, long from, long to) {
			this.capacity = capacity;
			this.words = new long[capacity * WORDS];
			this.regions = new RegisteredMemory[capacity * maxSegments];
			this.ranges = new long[capacity * maxSegments];
			for (long sequence = from; before != null && sequence < to; sequence++) {
				int old = before.slot(sequence);
				int slot = (int) sequence & capacity - 1;
				System.arraycopy(before.words, old * WORDS, this.words, slot * WORDS, WORDS);
				System.arraycopy(before.regions, old * maxSegments, this.regions, slot * maxSegments, maxSegments);
				System.arraycopy(before.ranges, old * maxSegments, this.ranges, slot * maxSegments, maxSegments);
			}
		}

		int slot(long sequence) {
			return (int) sequence & this.capacity - 1;
		}

	}

}
