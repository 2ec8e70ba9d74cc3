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

import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * The send queue of a queue pair in user space: the queue of posted requests and how far
 * each one is. Everything but posting is guarded by the engine's lock.
 *
 * <p>
 * Requests pass three marks in order: {@code next} is the one being executed, the queue's
 * head the oldest not reported. In between are those that may have ended, which the
 * provider knows ({@link #hasEnded}). Requests are reported in the order they were
 * posted.
 */
public abstract class PostedSends {

	/** The greatest payload of a request; DDP's message offset has 32 bits. */
	public static final long MAX_MESSAGE_BYTES = 1L << 30;

	/** No sequence number. */
	protected static final long NONE = -1;

	private final WorkQueue queue;

	private long next;

	private long limit = Long.MAX_VALUE;

	private long failedSequence = NONE;

	private @Nullable WorkStatus failedStatus;

	/** Creates a send queue of which nothing is executed. */
	protected PostedSends(WorkQueue queue) {
		this.queue = queue;
	}

	/** What is posted. */
	public final WorkQueue queue() {
		return this.queue;
	}

	/** Whether there is a request to execute. */
	public final boolean hasNext() {
		return this.next < Math.min(this.limit, this.queue.tail()) && this.failedSequence == NONE;
	}

	/** Executes nothing that is posted from now on. */
	public final void limitToPosted() {
		this.limit = this.queue.tail();
	}

	/** The request being executed. */
	public final long next() {
		return this.next;
	}

	/** Goes on to the request behind. */
	protected final void passNext() {
		this.next++;
	}

	/**
	 * Whether the next request can be executed; if not, it is marked as failed. Its
	 * memory is looked at each time: it may have been deregistered meanwhile.
	 * @param begun whether part of it has been executed
	 * @param readDepth how many Reads may be outstanding
	 */
	public final boolean checkNext(ProtectionDomain domain, boolean begun, int readDepth) {
		boolean read = this.queue.opcode(this.next) == WorkOpcode.READ;
		if (!this.queue.permitsLocal(this.next, domain, read)) {
			failAt(this.next, WorkStatus.LOCAL_PROTECTION_ERROR);
			return false;
		}
		if (!begun && this.queue.totalBytes(this.next) > MAX_MESSAGE_BYTES) {
			failAt(this.next, WorkStatus.LOCAL_LENGTH_ERROR);
			return false;
		}
		if (!begun && read && readDepth == 0) {
			failAt(this.next, WorkStatus.LOCAL_OPERATION_ERROR);
			return false;
		}
		return true;
	}

	/** Marks a request as failed: no further one is begun. The oldest failure counts. */
	public final void failAt(long sequence, WorkStatus status) {
		if (sequence >= this.queue.head() && (this.failedSequence == NONE || sequence < this.failedSequence)) {
			this.failedSequence = sequence;
			this.failedStatus = status;
		}
	}

	/** The status that the oldest request not reported failed with, if it did. */
	public final @Nullable WorkStatus failureAtHead() {
		return (this.failedSequence == this.queue.head()) ? this.failedStatus : null;
	}

	/** Whether the oldest request not reported has succeeded. */
	public final boolean headEnded() {
		long head = this.queue.head();
		return head < this.next && head != this.failedSequence && hasEnded(this.queue.slot(head));
	}

	/** Whether the executed request in a slot has nothing to wait for. */
	protected abstract boolean hasEnded(int slot);

	/** Whether everything up to the limit has been reported. */
	public final boolean isDrained() {
		return this.queue.head() >= this.limit;
	}

	/** Forgets what was posted and how far it is. */
	public void clear() {
		this.queue.clear();
		this.next = this.queue.head();
	}

}
