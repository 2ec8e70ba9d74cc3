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

import java.nio.ByteBuffer;

/**
 * The ring that this side writes. A record is claimed, filled and committed; what is
 * committed is seen by the peer when it is published.
 *
 * <p>
 * Implementation notes. The peer's head is read only when the known one leaves too little
 * room. The tail is written with release semantics behind the records. Publishing looks
 * behind a full fence whether the peer is asleep: the peer says so, with a full fence
 * behind it, before it looks for records a last time. So either this side sees the
 * sleeper or the sleeper sees the records.
 */
final class OutboundRing {

	private final SharedMemory memory;

	private final ByteBuffer bytes;

	private final int base;

	private final int mask;

	private long tail;

	private long published;

	private long knownHead;

	OutboundRing(SharedMemory memory) {
		this.memory = memory;
		this.bytes = memory.bytes();
		this.base = memory.ownRing();
		this.mask = memory.ringBytes() - 1;
	}

	/**
	 * Claims a record.
	 * @param least the payload that must fit
	 * @param most the payload wanted
	 * @return the payload that fits, or -1 if there is no room
	 */
	int tryClaim(int least, int most) throws LinkFailure {
		int needed = RingDescriptor.HEADER_BYTES + RingDescriptor.padded(least);
		int toEnd = this.mask + 1 - ((int) this.tail & this.mask);
		int skipped = (toEnd < needed) ? toEnd : 0;
		long free = this.mask + 1 - (this.tail - this.knownHead);
		if (free < skipped + needed) {
			free = this.mask + 1 - (this.tail - readHead());
			if (free < skipped + needed) {
				return -1;
			}
		}
		if (skipped > 0) {
			commit(RingDescriptor.PADDING, 0, 0, 0, 0, 0, skipped - RingDescriptor.HEADER_BYTES);
			free -= skipped;
			toEnd = this.mask + 1;
		}
		return (int) Math.min(most, Math.min(free, toEnd) - RingDescriptor.HEADER_BYTES);
	}

	/** Where the payload of the claimed record goes. */
	int payloadIndex() {
		return this.base + ((int) this.tail & this.mask) + RingDescriptor.HEADER_BYTES;
	}

	ByteBuffer bytes() {
		return this.bytes;
	}

	/** Ends the claimed record. */
	void commit(int kind, int flags, int sequence, int key, long address, long length, int payloadBytes) {
		int index = this.base + ((int) this.tail & this.mask);
		this.bytes.putLong(index + RingDescriptor.KIND_WORD, payloadBytes | (long) (kind | flags << 8) << 32);
		this.bytes.putLong(index + RingDescriptor.SEQUENCE_WORD, (sequence & 0xFFFF_FFFFL) | (long) key << 32);
		this.bytes.putLong(index + RingDescriptor.ADDRESS_WORD, address);
		this.bytes.putLong(index + RingDescriptor.LENGTH_WORD, length);
		this.tail += RingDescriptor.HEADER_BYTES + RingDescriptor.padded(payloadBytes);
	}

	/** How many bytes were ever committed. */
	long tail() {
		return this.tail;
	}

	/** How much is committed and not published. */
	int unpublishedBytes() {
		return (int) (this.tail - this.published);
	}

	/** Shows the peer what is committed; returns whether it has to be woken. */
	boolean publish() {
		if (this.tail == this.published) {
			return false;
		}
		this.published = this.tail;
		this.memory.publishTail(this.tail);
		return this.memory.takeSleeper(RingDescriptor.ASLEEP_FOR_DATA);
	}

	/** Whether the peer has made room since a claim has found none. */
	boolean hasMoreRoom() throws LinkFailure {
		long before = this.knownHead;
		return readHead() != before;
	}

	/** Whether the peer has consumed all that was committed up to a position. */
	boolean isConsumed(long position) throws LinkFailure {
		return this.knownHead >= position || readHead() >= position;
	}

	private long readHead() throws LinkFailure {
		long head = this.memory.peerHead();
		if (head < this.knownHead || head > this.published || head % RingDescriptor.UNIT_BYTES != 0) {
			throw LinkFailure
				.ofNonsense("head at " + head + " (expected: " + this.knownHead + " to " + this.published + ")");
		}
		this.knownHead = head;
		return head;
	}

}
