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

import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * The Reads of the peer that this side has not answered completely, oldest first. The
 * memory is looked at before each piece.
 */
final class ReadResponder {

	private final PeerAccess access;

	private final OutboundRing ring;

	private final PieceSize pieces;

	private final int[] keys;

	private final int[] numbers;

	private final long[] addresses;

	private final long[] lengths;

	private int first;

	private int count;

	private boolean stalled;

	private boolean refusing;

	ReadResponder(PeerAccess access, OutboundRing ring, PieceSize pieces, int depth) {
		this.access = access;
		this.ring = ring;
		this.pieces = pieces;
		this.keys = new int[depth];
		this.numbers = new int[depth];
		this.addresses = new long[depth];
		this.lengths = new long[depth];
	}

	boolean isEmpty() {
		return this.count == 0;
	}

	/** Whether the last step found no room in the ring. */
	boolean isStalled() {
		return this.stalled;
	}

	/**
	 * Whether a Read that waits for its turn will be refused: nothing behind it counts.
	 */
	boolean isRefusing() {
		return this.refusing;
	}

	/** Takes a request, the open record. */
	void add(InboundRing inbound) throws LinkFailure {
		if (this.count == this.keys.length) {
			throw LinkFailure.ofNonsense("more than " + this.keys.length + " Reads at once");
		}
		int slot = (this.first + this.count) % this.keys.length;
		this.keys[slot] = inbound.key();
		this.numbers[slot] = inbound.sequence();
		this.addresses[slot] = inbound.address();
		this.lengths[slot] = inbound.length();
		this.count++;
		this.refusing |= !this.access.permitsRead(this.keys[slot], this.addresses[slot], this.lengths[slot]);
	}

	/**
	 * Writes a piece of the oldest response; returns false if there is none, or no room.
	 */
	boolean tryWrite() throws LinkFailure {
		this.stalled = false;
		if (this.count == 0) {
			return false;
		}
		int slot = this.first;
		long address = this.addresses[slot];
		long remaining = this.lengths[slot];
		RegisteredMemory region = this.access.check(this.keys[slot], address, remaining, false, this.numbers[slot]);
		int piece = this.ring.tryClaim(this.pieces.least(remaining), this.pieces.most(remaining));
		if (piece < 0) {
			this.stalled = true;
			return false;
		}
		this.ring.bytes().put(this.ring.payloadIndex(), region.memory(), region.offsetOf(address), piece);
		boolean last = piece == remaining;
		this.ring.commit(RingDescriptor.READ_RESPONSE, last ? RingDescriptor.LAST : 0, this.numbers[slot], 0, 0, 0,
				piece);
		this.addresses[slot] = address + piece;
		this.lengths[slot] = remaining - piece;
		if (last) {
			this.first = (this.first + 1) % this.keys.length;
			this.count--;
			this.refusing &= this.count > 0;
		}
		return true;
	}

}
