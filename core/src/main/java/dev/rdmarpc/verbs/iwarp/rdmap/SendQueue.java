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

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.support.WorkQueue;

/**
 * The send queue of a queue pair: the queue of posted requests and how far each one is.
 * Everything but posting is guarded by the reactor's lock.
 *
 * <p>
 * Requests pass three marks in order: {@code next} is the one being cut into segments,
 * the queue's head the oldest not reported. A Send or Write has ended when the stream
 * position at which its last segment ends was handed to the socket, a Read when all its
 * responses are placed. Requests are reported in the order they were posted.
 */
public final class SendQueue {

	/** Bounded by the 32 bits of DDP's message offset; kept to a round number below. */
	public static final long MAX_MESSAGE_BYTES = 1L << 30;

	private static final long NONE = -1;

	private final WorkQueue queue;

	private final long[] endPositions;

	private final int[] readsOutstanding;

	private long next;

	private long limit = Long.MAX_VALUE;

	private long messageOffset;

	private int segment;

	private int segmentOffset;

	private boolean begun;

	private int messageSequenceNumber;

	private long failedSequence = NONE;

	private @Nullable WorkStatus failedStatus;

	public SendQueue(WorkQueue queue) {
		this.queue = queue;
		this.endPositions = new long[queue.capacity()];
		this.readsOutstanding = new int[queue.capacity()];
	}

	public WorkQueue queue() {
		return this.queue;
	}

	/** Whether there is a request to cut into segments. */
	boolean hasNext() {
		return this.next < Math.min(this.limit, this.queue.tail()) && this.failedSequence == NONE;
	}

	/** Cuts nothing that is posted from now on. */
	public void limitToPosted() {
		this.limit = this.queue.tail();
	}

	/** The request being cut into segments. */
	long next() {
		return this.next;
	}

	WorkOpcode opcode() {
		return this.queue.opcode(this.next);
	}

	/**
	 * Begins the next request unless it is begun. Its memory is looked at each time: it
	 * may have been deregistered since the last segment.
	 * @return false if it cannot be executed; it is marked as failed
	 */
	boolean begin(ProtectionDomain domain, int readDepth) {
		WorkOpcode opcode = opcode();
		boolean read = opcode == WorkOpcode.READ;
		if (!this.queue.permitsLocal(this.next, domain, read)) {
			failAt(this.next, WorkStatus.LOCAL_PROTECTION_ERROR);
			return false;
		}
		if (this.begun) {
			return true;
		}
		if (this.queue.totalBytes(this.next) > MAX_MESSAGE_BYTES) {
			failAt(this.next, WorkStatus.LOCAL_LENGTH_ERROR);
			return false;
		}
		if (read && readDepth == 0) {
			failAt(this.next, WorkStatus.LOCAL_OPERATION_ERROR);
			return false;
		}
		this.begun = true;
		this.messageOffset = 0;
		this.segment = 0;
		this.segmentOffset = 0;
		this.readsOutstanding[this.queue.slot(this.next)] = 0;
		if (!read && opcode != WorkOpcode.WRITE) {
			this.messageSequenceNumber++;
		}
		return true;
	}

	/** Whether the request's first segment has been cut and its last has not. */
	boolean midMessage() {
		return this.begun && this.messageOffset > 0;
	}

	/** The number of the Send being cut. */
	int messageSequenceNumber() {
		return this.messageSequenceNumber;
	}

	long messageOffset() {
		return this.messageOffset;
	}

	long remainingBytes() {
		return this.queue.totalBytes(this.next) - this.messageOffset;
	}

	/** The scatter/gather element at the cursor. */
	int segment() {
		return this.segment;
	}

	int segmentOffset() {
		return this.segmentOffset;
	}

	/** Moves the cursor within the scatter/gather list. */
	void advance(int bytes) {
		this.messageOffset += bytes;
		this.segmentOffset += bytes;
		if (this.segmentOffset == this.queue.length(this.next, this.segment)) {
			nextSegment();
		}
	}

	/** Moves the cursor to the next element. */
	void nextSegment() {
		this.segment++;
		this.segmentOffset = 0;
	}

	/** Notes a Read Request sent for the request at the cursor. */
	void readBegun() {
		this.readsOutstanding[this.queue.slot(this.next)]++;
	}

	/** Notes the end of a Read Request. */
	void readEnded(long sequence) {
		this.readsOutstanding[this.queue.slot(sequence)]--;
	}

	/** Ends the cutting of the request: its last segment ends at a stream position. */
	void endNext(long endPosition) {
		this.endPositions[this.queue.slot(this.next)] = endPosition;
		this.begun = false;
		this.next++;
	}

	/** Marks a request as failed: no further one is begun. The oldest failure counts. */
	public void failAt(long sequence, WorkStatus status) {
		if (sequence >= this.queue.head() && (this.failedSequence == NONE || sequence < this.failedSequence)) {
			this.failedSequence = sequence;
			this.failedStatus = status;
		}
	}

	/** The status that the oldest request not reported failed with, if it did. */
	public @Nullable WorkStatus failureAtHead() {
		return (this.failedSequence == this.queue.head()) ? this.failedStatus : null;
	}

	/** Whether the oldest request not reported has succeeded. */
	public boolean headEnded(long writtenPosition) {
		long head = this.queue.head();
		if (head >= this.next || head == this.failedSequence) {
			return false;
		}
		int slot = this.queue.slot(head);
		return this.endPositions[slot] <= writtenPosition && this.readsOutstanding[slot] == 0;
	}

	/** Whether everything up to the limit has been reported. */
	public boolean isDrained() {
		return this.queue.head() >= this.limit;
	}

	/** The Send with a sequence number if it is not reported yet, or -1. */
	long findSend(int msn) {
		int number = this.messageSequenceNumber;
		long sequence = this.begun ? this.next : this.next - 1;
		for (; sequence >= this.queue.head(); sequence--) {
			WorkOpcode opcode = this.queue.opcode(sequence);
			if (opcode == WorkOpcode.READ || opcode == WorkOpcode.WRITE) {
				continue;
			}
			if (number-- == msn) {
				return sequence;
			}
		}
		return NONE;
	}

	/** The Write that covers a tagged offset if it is not reported yet, or -1. */
	long findWrite(int stag, long taggedOffset) {
		long end = this.begun ? this.next + 1 : this.next;
		for (long sequence = this.queue.head(); sequence < end; sequence++) {
			long offset = taggedOffset - this.queue.remoteAddress(sequence);
			if (this.queue.opcode(sequence) == WorkOpcode.WRITE && this.queue.remoteKey(sequence) == stag && offset >= 0
					&& offset <= this.queue.totalBytes(sequence)) {
				return sequence;
			}
		}
		return NONE;
	}

	/** Forgets what was posted and the progress of it. */
	public void clear() {
		Arrays.fill(this.readsOutstanding, 0);
		this.queue.clear();
		this.next = this.queue.head();
		this.begun = false;
	}

}
