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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.support.LimitChecks;
import dev.rdmarpc.verbs.support.ShortLock;

/**
 * A bounded ring of posted work requests, laid out as arrays of fields so that posting
 * allocates nothing.
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
 * queue that is fuller than it is.
 */
public final class RequestRing {

	private static final VarHandle HEAD;

	static {
		try {
			HEAD = MethodHandles.lookup().findVarHandle(RequestRing.class, "head", long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private final ShortLock postLock = new ShortLock();

	private final int depth;

	private final int mask;

	private final int maxSegments;

	private final long[] ids;

	private final WorkOpcode[] opcodes;

	private final boolean[] signaled;

	private final long[] remoteAddresses;

	private final int[] remoteKeys;

	private final int[] segmentCounts;

	private final @Nullable IwarpMemoryRegion[] regions;

	private final int[] offsets;

	private final int[] lengths;

	private volatile long tail;

	private volatile long head;

	public RequestRing(int depth, int maxSegments) {
		int capacity = (depth == 1) ? 1 : Integer.highestOneBit(depth - 1) << 1;
		this.depth = depth;
		this.mask = capacity - 1;
		this.maxSegments = maxSegments;
		this.ids = new long[capacity];
		this.opcodes = new WorkOpcode[capacity];
		this.signaled = new boolean[capacity];
		this.remoteAddresses = new long[capacity];
		this.remoteKeys = new int[capacity];
		this.segmentCounts = new int[capacity];
		this.regions = new IwarpMemoryRegion[capacity * maxSegments];
		this.offsets = new int[capacity * maxSegments];
		this.lengths = new int[capacity * maxSegments];
	}

	/** Copies a request into the ring. */
	public PostResult post(WorkRequest request) {
		LimitChecks.checkSegments(request, this.maxSegments);
		this.postLock.lock();
		try {
			long sequence = this.tail;
			if (sequence - this.head >= this.depth) {
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

	/** Copies requests into the ring, as many as it takes, and returns how many. */
	public int post(WorkRequest[] requests, int count) {
		for (int i = 0; i < count; i++) {
			LimitChecks.checkSegments(requests[i], this.maxSegments);
		}
		this.postLock.lock();
		try {
			long sequence = this.tail;
			int taken = (int) Math.min(count, this.depth - (sequence - this.head));
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

	private void copy(WorkRequest request, long sequence) {
		int count = request.segmentCount();
		int slot = slot(sequence);
		this.ids[slot] = request.id();
		this.opcodes[slot] = request.opcode();
		this.signaled[slot] = request.signaled();
		this.remoteAddresses[slot] = request.remoteAddress();
		this.remoteKeys[slot] = request.remoteKey();
		this.segmentCounts[slot] = count;
		int first = slot * this.maxSegments;
		for (int i = 0; i < count; i++) {
			MemoryRegion region = request.segmentRegion(i);
			this.regions[first + i] = (region instanceof IwarpMemoryRegion own) ? own : null;
			this.offsets[first + i] = request.segmentOffset(i);
			this.lengths[first + i] = request.segmentLength(i);
		}
	}

	public int maxSegments() {
		return this.maxSegments;
	}

	int slot(long sequence) {
		return (int) sequence & this.mask;
	}

	int capacity() {
		return this.mask + 1;
	}

	/** The oldest entry not released. */
	public long head() {
		return this.head;
	}

	/** One past the newest entry. */
	public long tail() {
		return this.tail;
	}

	public boolean isEmpty() {
		return this.head == this.tail;
	}

	/** Forgets the oldest entry. */
	public void release() {
		long sequence = this.head;
		int slot = slot(sequence);
		int first = slot * this.maxSegments;
		for (int i = 0; i < this.segmentCounts[slot]; i++) {
			this.regions[first + i] = null;
		}
		HEAD.setRelease(this, sequence + 1);
	}

	public void clear() {
		while (!isEmpty()) {
			release();
		}
	}

	public long id(long sequence) {
		return this.ids[slot(sequence)];
	}

	public WorkOpcode opcode(long sequence) {
		return this.opcodes[slot(sequence)];
	}

	public boolean isSignaled(long sequence) {
		return this.signaled[slot(sequence)];
	}

	long remoteAddress(long sequence) {
		return this.remoteAddresses[slot(sequence)];
	}

	int remoteKey(long sequence) {
		return this.remoteKeys[slot(sequence)];
	}

	int segmentCount(long sequence) {
		return this.segmentCounts[slot(sequence)];
	}

	/** The region of a segment, or {@code null} if it is none of this provider. */
	@Nullable IwarpMemoryRegion region(long sequence, int segment) {
		return this.regions[slot(sequence) * this.maxSegments + segment];
	}

	int offset(long sequence, int segment) {
		return this.offsets[slot(sequence) * this.maxSegments + segment];
	}

	int length(long sequence, int segment) {
		return this.lengths[slot(sequence) * this.maxSegments + segment];
	}

	/** Sum of the segments' lengths. */
	public long totalBytes(long sequence) {
		int first = slot(sequence) * this.maxSegments;
		long total = 0;
		for (int i = 0; i < this.segmentCounts[slot(sequence)]; i++) {
			total += this.lengths[first + i];
		}
		return total;
	}

	/** Whether a domain's work request may touch all segments. */
	boolean permitsLocal(long sequence, ProtectionDomain domain, boolean write) {
		int count = segmentCount(sequence);
		for (int i = 0; i < count; i++) {
			IwarpMemoryRegion region = region(sequence, i);
			if (region == null || !region.permitsLocal(domain, offset(sequence, i), length(sequence, i), write)) {
				return false;
			}
		}
		return true;
	}

}
