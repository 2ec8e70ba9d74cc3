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

import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.support.PostedSends;
import dev.rdmarpc.verbs.support.WorkQueue;

/**
 * The send queue of a queue pair in shared memory: its next request is the one being
 * written to the ring. A Send or Write has ended when its last byte is in the ring, a
 * Read when all of its response is placed.
 */
public final class SendQueue extends PostedSends {

	private final boolean[] ended;

	/** Creates a send queue of which nothing is executed. */
	public SendQueue(WorkQueue queue) {
		super(queue);
		this.ended = new boolean[queue.capacity()];
	}

	/** The next request is written; it has ended if nothing has to come back. */
	void endNext(boolean hasEnded) {
		this.ended[queue().slot(next())] = hasEnded;
		passNext();
	}

	/** What a request has asked for is there. */
	void end(long sequence) {
		this.ended[queue().slot(sequence)] = true;
	}

	@Override
	protected boolean hasEnded(int slot) {
		return this.ended[slot];
	}

	/** Marks the written request with these low bits, if it is not reported yet. */
	void failAt(int lowBits, WorkStatus status) {
		long head = queue().head();
		long sequence = head + (lowBits - (int) head & 0xFFFF_FFFFL);
		if (sequence <= next() && sequence < queue().tail()) {
			failAt(sequence, status);
		}
	}

}
