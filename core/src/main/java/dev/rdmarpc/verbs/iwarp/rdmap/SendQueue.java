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

import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.support.PostedSends;
import dev.rdmarpc.verbs.support.WorkQueue;

/**
 * The send queue of a queue pair of iWARP: its next request is the one being cut into
 * segments. A Send or Write has ended when the stream position at which its last segment
 * ends was handed to the socket, a Read when all its responses are placed.
 */
public final class SendQueue extends PostedSends {

	private final long[] endPositions;

	private final int[] readsOutstanding;

	private long writtenPosition;

	private long messageOffset;

	private int segment;

	private int segmentOffset;

	private boolean begun;

	private int messageSequenceNumber;

	private volatile boolean latencyFavored;

	/** Creates a send queue of which nothing is executed. */
	public SendQueue(WorkQueue queue) {
		super(queue);
		this.endPositions = new long[queue.capacity()];
		this.readsOutstanding = new int[queue.capacity()];
	}

	/** Notes up to which stream position the socket has taken the bytes. */
	public void written(long position) {
		this.writtenPosition = position;
	}

	/** Says whether small messages are not to wait for large ones; from any thread. */
	public void favorLatency(boolean favored) {
		this.latencyFavored = favored;
	}

	boolean favorsLatency() {
		return this.latencyFavored;
	}

	WorkOpcode opcode() {
		return queue().opcode(next());
	}

	/**
	 * Begins the next request unless it is begun.
	 * @return false if it cannot be executed; it is marked as failed
	 */
	boolean begin(ProtectionDomain domain, int readDepth) {
		if (!checkNext(domain, this.begun, readDepth)) {
			return false;
		}
		if (this.begun) {
			return true;
		}
		this.begun = true;
		this.messageOffset = 0;
		this.segment = 0;
		this.segmentOffset = 0;
		this.readsOutstanding[queue().slot(next())] = 0;
		WorkOpcode opcode = opcode();
		if (opcode != WorkOpcode.READ && opcode != WorkOpcode.WRITE) {
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
		return queue().totalBytes(next()) - this.messageOffset;
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
		if (this.segmentOffset == queue().length(next(), this.segment)) {
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
		this.readsOutstanding[queue().slot(next())]++;
	}

	/** Notes the end of a Read Request. */
	void readEnded(long sequence) {
		this.readsOutstanding[queue().slot(sequence)]--;
	}

	/** Ends the cutting of the request: its last segment ends at a stream position. */
	void endNext(long endPosition) {
		this.endPositions[queue().slot(next())] = endPosition;
		this.begun = false;
		passNext();
	}

	@Override
	protected boolean hasEnded(int slot) {
		return this.endPositions[slot] <= this.writtenPosition && this.readsOutstanding[slot] == 0;
	}

	/** The Send with a sequence number if it is not reported yet, or -1. */
	long findSend(int msn) {
		int number = this.messageSequenceNumber;
		long sequence = this.begun ? next() : next() - 1;
		for (; sequence >= queue().head(); sequence--) {
			WorkOpcode opcode = queue().opcode(sequence);
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
		long end = this.begun ? next() + 1 : next();
		for (long sequence = queue().head(); sequence < end; sequence++) {
			long offset = taggedOffset - queue().remoteAddress(sequence);
			if (queue().opcode(sequence) == WorkOpcode.WRITE && queue().remoteKey(sequence) == stag && offset >= 0
					&& offset <= queue().totalBytes(sequence)) {
				return sequence;
			}
		}
		return NONE;
	}

	@Override
	public void clear() {
		Arrays.fill(this.readsOutstanding, 0);
		super.clear();
		this.begun = false;
	}

}
