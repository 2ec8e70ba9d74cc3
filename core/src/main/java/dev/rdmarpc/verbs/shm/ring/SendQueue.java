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

package dev.rdmarpc.verbs.shm.ring;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.support.WorkQueue;

/**
 * The send queue of a queue pair: the queue of posted requests and how far each one is.
 *
 * <p>
 * Requests pass three marks in order: {@code next} is the one being written to the ring,
 * the queue's head the oldest not reported. A Send or Write has ended when its last byte
 * is in the ring, a Read when all of its response is placed. Requests are reported in the
 * order they were posted.
 */
public final class SendQueue {

	/** The greatest payload of a request. */
	public static final long MAX_MESSAGE_BYTES = 1L << 30;

	private static final long NONE = -1;

	private final WorkQueue queue;

	private final boolean[] ended;

	private long next;

	private long limit = Long.MAX_VALUE;

	private long failedSequence = NONE;

	private @Nullable WorkStatus failedStatus;

	/** Creates a send queue of which nothing is executed. */
	public SendQueue(WorkQueue queue) {
		this.queue = queue;
		this.ended = new boolean[queue.capacity()];
	}

	/** What is posted. */
	public WorkQueue queue() {
		return this.queue;
	}

	/** Whether there is a request to write to the ring. */
	boolean hasNext() {
		return this.next < Math.min(this.limit, this.queue.tail()) && this.failedSequence == NONE;
	}

	/** Executes nothing that is posted from now on. */
	public void limitToPosted() {
		this.limit = this.queue.tail();
	}

	long next() {
		return this.next;
	}

	/** The next request is written; it has ended if nothing has to come back. */
	void endNext(boolean hasEnded) {
		this.ended[this.queue.slot(this.next)] = hasEnded;
		this.next++;
	}

	/** What a request has asked for is there. */
	void end(long sequence) {
		this.ended[this.queue.slot(sequence)] = true;
	}

	/** Marks a request as failed: no further one is begun. The oldest failure counts. */
	public void failAt(long sequence, WorkStatus status) {
		if (sequence >= this.queue.head() && (this.failedSequence == NONE || sequence < this.failedSequence)) {
			this.failedSequence = sequence;
			this.failedStatus = status;
		}
	}

	/** Marks the written request with these low bits, if it is not reported yet. */
	void failAt(int lowBits, WorkStatus status) {
		long head = this.queue.head();
		long sequence = head + (lowBits - (int) head & 0xFFFF_FFFFL);
		if (sequence <= this.next && sequence < this.queue.tail()) {
			failAt(sequence, status);
		}
	}

	/** The status that the oldest request not reported failed with, if it did. */
	public @Nullable WorkStatus failureAtHead() {
		return (this.failedSequence == this.queue.head()) ? this.failedStatus : null;
	}

	/** Whether the oldest request not reported has succeeded. */
	public boolean headEnded() {
		long head = this.queue.head();
		return head < this.next && head != this.failedSequence && this.ended[this.queue.slot(head)];
	}

	/** Whether everything up to the limit has been reported. */
	public boolean isDrained() {
		return this.queue.head() >= this.limit;
	}

	/** Forgets what was posted. */
	public void clear() {
		this.queue.clear();
		this.next = this.queue.head();
	}

}
