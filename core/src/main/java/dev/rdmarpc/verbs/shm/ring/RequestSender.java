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

import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.support.WorkQueue;

/** Writes posted requests to the ring, one record at a time. */
final class RequestSender {

	private final SendQueue sends;

	private final WorkQueue queue;

	private final OutboundRing ring;

	private final PieceSize pieces;

	private final ReadRequester reads;

	private final ProtectionDomain domain;

	private final SegmentCursor cursor;

	private boolean begun;

	private boolean stalled;

	RequestSender(SendQueue sends, PeerAccess access, OutboundRing ring, PieceSize pieces, ReadRequester reads) {
		this.sends = sends;
		this.queue = sends.queue();
		this.ring = ring;
		this.pieces = pieces;
		this.reads = reads;
		this.domain = access.domain();
		this.cursor = new SegmentCursor(this.queue, this.domain);
	}

	/** Whether the last step found no room in the ring. */
	boolean isStalled() {
		return this.stalled;
	}

	/** Writes a record; returns false if there is none to write, or no room. */
	boolean tryWrite() throws LinkFailure {
		this.stalled = false;
		if (!this.sends.hasNext()) {
			return false;
		}
		long sequence = this.sends.next();
		WorkOpcode opcode = this.queue.opcode(sequence);
		if (!tryBegin(sequence)) {
			return false;
		}
		return (opcode == WorkOpcode.READ) ? tryWriteRead(sequence) : tryWritePiece(sequence, opcode);
	}

	private boolean tryBegin(long sequence) {
		if (!this.sends.checkNext(this.domain, this.begun, this.reads.depth())) {
			return false;
		}
		if (!this.begun) {
			this.cursor.begin(sequence);
			this.begun = true;
		}
		return true;
	}

	private boolean tryWriteRead(long sequence) throws LinkFailure {
		if (!this.reads.hasRoom()) {
			return false;
		}
		if (this.ring.tryClaim(0, 0) < 0) {
			this.stalled = true;
			return false;
		}
		this.ring.commit(RingDescriptor.READ_REQUEST, 0, (int) sequence, this.queue.remoteKey(sequence),
				this.queue.remoteAddress(sequence), this.queue.totalBytes(sequence), 0);
		this.reads.add(sequence);
		this.begun = false;
		this.sends.endNext(false);
		return true;
	}

	private boolean tryWritePiece(long sequence, WorkOpcode opcode) throws LinkFailure {
		long moved = this.cursor.moved();
		long remaining = this.queue.totalBytes(sequence) - moved;
		int count = this.ring.tryClaim(this.pieces.least(remaining), this.pieces.most(remaining));
		if (count < 0) {
			this.stalled = true;
			return false;
		}
		this.cursor.copyTo(this.ring.bytes(), this.ring.payloadIndex(), count);
		boolean last = count == remaining;
		int flags = last ? RingDescriptor.LAST : 0;
		int key = this.queue.remoteKey(sequence);
		if (opcode == WorkOpcode.WRITE) {
			this.ring.commit(RingDescriptor.WRITE, flags, (int) sequence, key,
					this.queue.remoteAddress(sequence) + moved, 0, count);
		}
		else {
			this.ring.commit(RingDescriptor.SEND, flags | flags(opcode), (int) sequence, key, 0, 0, count);
		}
		if (last) {
			this.begun = false;
			this.sends.endNext(true);
		}
		return true;
	}

	private static int flags(WorkOpcode opcode) {
		return switch (opcode) {
			case SEND_SOLICITED -> RingDescriptor.SOLICITED;
			case SEND_WITH_INVALIDATE -> RingDescriptor.INVALIDATE;
			default -> 0;
		};
	}

}
