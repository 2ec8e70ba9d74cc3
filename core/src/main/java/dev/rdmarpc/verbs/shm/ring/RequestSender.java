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

import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.support.WorkQueue;

/**
 * Writes posted requests to the ring, one record at a time, and executes Reads itself of
 * what the peer shows.
 *
 * <p>
 * Implementation notes. A Read that is copied here happens at once, so it must not
 * overtake what the peer has to do before it: Writes and invalidations that the peer has
 * not yet consumed make it one that is asked for, and it waits for the answers to those
 * that were asked for before. When the window turns out to be closed at the end, the peer
 * is asked as well, and says what is wrong.
 */
final class RequestSender {

	/** So much is copied of a Read at a time. */
	private static final int DIRECT_BYTES = 256 * 1024;

	private final SendQueue sends;

	private final WorkQueue queue;

	private final OutboundRing ring;

	private final PieceSize pieces;

	private final ReadRequester reads;

	private final ProtectionDomain domain;

	private final SegmentCursor cursor;

	private @Nullable PeerWindows windows;

	private boolean begun;

	private boolean stalled;

	/** Whether the Read that was begun is copied here. */
	private boolean direct;

	/** Whether the Read that was begun has to be asked for. */
	private boolean asking;

	/** Up to where the ring holds what has to be done before a Read that follows. */
	private long readBarrier;

	private long directBytes;

	RequestSender(SendQueue sends, PeerAccess access, OutboundRing ring, PieceSize pieces, ReadRequester reads) {
		this.sends = sends;
		this.queue = sends.queue();
		this.ring = ring;
		this.pieces = pieces;
		this.reads = reads;
		this.domain = access.domain();
		this.cursor = new SegmentCursor(this.queue, this.domain);
	}

	/** Reads what the peer shows there without asking for it. */
	void readFrom(PeerWindows shown) {
		this.windows = shown;
	}

	/** How many bytes of the peer's memory were ever copied here. */
	long directBytes() {
		return this.directBytes;
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
		PeerWindows shown = this.windows;
		if (shown != null && !this.asking) {
			if (!this.direct && isShown(sequence, shown)) {
				if (!this.reads.isEmpty()) {
					return false;
				}
				this.direct = true;
			}
			if (this.direct && tryCopyPiece(sequence, shown)) {
				return true;
			}
			this.cursor.begin(sequence);
			this.asking = true;
			this.direct = false;
			shown.close();
		}
		return tryAskFor(sequence);
	}

	/** Whether a Read can be copied here, and the peer has done what lies before it. */
	private boolean isShown(long sequence, PeerWindows shown) throws LinkFailure {
		return this.ring.isConsumed(this.readBarrier) && shown.tryOpen(this.queue.remoteKey(sequence),
				this.queue.remoteAddress(sequence), this.queue.totalBytes(sequence));
	}

	/**
	 * Copies a piece of a Read out of the peer's memory.
	 * @return false if the window has been closed meanwhile: nothing that was copied
	 * counts
	 */
	private boolean tryCopyPiece(long sequence, PeerWindows shown) throws LinkFailure {
		long moved = this.cursor.moved();
		int count = (int) Math.min(DIRECT_BYTES, this.queue.totalBytes(sequence) - moved);
		this.cursor.copyFrom(shown.memory(), shown.offset() + (int) moved, count);
		if (!shown.isWhole()) {
			throw LinkFailure.ofNonsense("the memory that was lent was cut");
		}
		if (!shown.isStillOpen()) {
			return false;
		}
		this.directBytes += count;
		if (this.cursor.moved() == this.queue.totalBytes(sequence)) {
			shown.close();
			this.direct = false;
			this.begun = false;
			this.sends.endNext(true);
		}
		return true;
	}

	private boolean tryAskFor(long sequence) throws LinkFailure {
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
		this.asking = false;
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
		if (opcode == WorkOpcode.WRITE || opcode == WorkOpcode.SEND_WITH_INVALIDATE) {
			this.readBarrier = this.ring.tail();
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
