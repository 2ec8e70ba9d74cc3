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
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * Turns the ended work of a queue pair into completions, in the order it was posted, as
 * far as the completion queue has room. What does not fit is reported by a later call.
 * Guarded by the engine's lock.
 */
public final class WorkReporter {

	private final QueuePair queuePair;

	private final CompletionSource source;

	private final Completions completions;

	private final PostedSends sendQueue;

	private final @Nullable WorkQueue receives;

	private boolean unfinishedReceive;

	private long unfinishedReceiveId;

	private WorkStatus unfinishedReceiveStatus = WorkStatus.FLUSHED;

	/**
	 * Creates the reporter of a queue pair.
	 * @param receives its own receives, or {@code null} if it uses a shared queue
	 */
	public WorkReporter(QueuePair queuePair, Completions completions, PostedSends sendQueue,
			@Nullable WorkQueue receives) {
		this.queuePair = queuePair;
		this.source = CompletionSource.of(queuePair);
		this.completions = completions;
		this.sendQueue = sendQueue;
		this.receives = receives;
	}

	/** Whose completions these are, until the queue pair closes. */
	CompletionSource source() {
		return this.source;
	}

	/** Whether the receives are those of a shared queue. */
	public boolean sharesReceives() {
		return this.receives == null;
	}

	/** Takes over the receive of a Send that will never be complete. */
	public void takeUnfinished(PostedReceive receive, WorkStatus status) {
		this.unfinishedReceive = true;
		this.unfinishedReceiveId = receive.id();
		this.unfinishedReceiveStatus = status;
		receive.clear();
	}

	/**
	 * Reports the requests of the send queue that have succeeded; returns false if the
	 * room did not suffice.
	 */
	public boolean reportEnded() {
		WorkQueue sends = this.sendQueue.queue();
		while (this.sendQueue.headEnded()) {
			if (!complete(sends, WorkStatus.SUCCESS)) {
				return false;
			}
		}
		return true;
	}

	/** Reports all that is posted as ended; returns false if the room did not suffice. */
	public boolean flush() {
		return flushReceives() && reportEnded() && flushSends();
	}

	/**
	 * Reports the receive of a Send that will never be complete, if there is one; returns
	 * false if the room did not suffice.
	 */
	public boolean flushUnfinished() {
		if (this.unfinishedReceive) {
			if (!this.completions.hasRoom()) {
				return false;
			}
			this.unfinishedReceive = false;
			this.completions.add(this.unfinishedReceiveId, this.unfinishedReceiveStatus, WorkOpcode.RECEIVE, 0, 0,
					false, CompletionSource.once(this.queuePair));
		}
		return true;
	}

	private boolean flushReceives() {
		if (!flushUnfinished()) {
			return false;
		}
		WorkQueue own = this.receives;
		while (own != null && !own.isEmpty()) {
			if (!complete(own, WorkStatus.FLUSHED)) {
				return false;
			}
		}
		return true;
	}

	private boolean flushSends() {
		WorkQueue sends = this.sendQueue.queue();
		while (!sends.isEmpty()) {
			WorkStatus failed = this.sendQueue.failureAtHead();
			if (!complete(sends, (failed != null) ? failed : WorkStatus.FLUSHED)) {
				return false;
			}
		}
		return true;
	}

	private boolean complete(WorkQueue queue, WorkStatus status) {
		long sequence = queue.head();
		boolean success = status == WorkStatus.SUCCESS;
		if (!success || queue.isSignaled(sequence)) {
			if (!this.completions.hasRoom()) {
				return false;
			}
			this.completions.add(queue.id(sequence), status, queue.opcode(sequence),
					success ? queue.totalBytes(sequence) : 0, 0, false, this.source);
		}
		queue.release();
		return true;
	}

	/** Completes the receive that a Send has filled; there is room. */
	public void completeReceive(long id, long bytes, int invalidatedKey, boolean solicited) {
		this.completions.add(id, WorkStatus.SUCCESS, WorkOpcode.RECEIVE, bytes, invalidatedKey, solicited, this.source);
	}

	/**
	 * Forgets what is posted to the queue pair without reporting it; that does not
	 * include the receive it has taken from a shared queue.
	 */
	public void clear() {
		this.sendQueue.clear();
		if (this.receives != null) {
			this.unfinishedReceive = false;
			this.receives.clear();
		}
	}

	/** Where ends of work requests are told; whoever tells them holds its lock. */
	public interface Completions {

		/** Whether one more can be told. */
		boolean hasRoom();

		/** Tells an end; the caller has asked for room. */
		void add(long id, WorkStatus status, WorkOpcode opcode, long byteLength, int invalidatedKey, boolean solicited,
				CompletionSource source);

	}

}
