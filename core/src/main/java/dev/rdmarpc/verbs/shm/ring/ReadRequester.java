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

/** The Reads of this side that the peer has not answered yet, oldest first. */
final class ReadRequester {

	private final SendQueue sends;

	private final SegmentCursor cursor;

	private final long[] sequences;

	private int first;

	private int count;

	private boolean begun;

	ReadRequester(SendQueue sends, PeerAccess access, int depth) {
		this.sends = sends;
		this.cursor = new SegmentCursor(sends.queue(), access.domain());
		this.sequences = new long[depth];
	}

	int depth() {
		return this.sequences.length;
	}

	boolean hasRoom() {
		return this.count < this.sequences.length;
	}

	/** Whether no answer is to come. */
	boolean isEmpty() {
		return this.count == 0;
	}

	/** Notes a Read that has been asked for; there is room. */
	void add(long sequence) {
		this.sequences[(this.first + this.count) % this.sequences.length] = sequence;
		this.count++;
	}

	/** Places part of a response, the open record. */
	void place(InboundRing ring) throws LinkFailure {
		if (this.count == 0 || ring.sequence() != (int) this.sequences[this.first]) {
			throw LinkFailure.ofNonsense("response to a Read that is not the oldest");
		}
		long sequence = this.sequences[this.first];
		if (!this.begun) {
			this.cursor.begin(sequence);
			this.begun = true;
		}
		long remaining = this.sends.queue().totalBytes(sequence) - this.cursor.moved();
		int length = ring.payloadBytes();
		boolean last = ring.hasFlag(RingDescriptor.LAST);
		if (last ? length != remaining : (length == 0 || length >= remaining)) {
			throw LinkFailure.ofNonsense(length + " bytes of a Read of which " + remaining + " are left");
		}
		if (!this.cursor.isPermitted(true)) {
			this.sends.failAt(sequence, WorkStatus.LOCAL_PROTECTION_ERROR);
			throw LinkFailure.ofLocal(WorkStatus.LOCAL_PROTECTION_ERROR);
		}
		this.cursor.copyFrom(ring.bytes(), ring.payloadIndex(), length);
		if (last) {
			this.begun = false;
			this.first = (this.first + 1) % this.sequences.length;
			this.count--;
			this.sends.end(sequence);
		}
	}

}
