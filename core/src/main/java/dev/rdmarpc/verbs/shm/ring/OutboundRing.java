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
 *
 * <p>
 * The first use of a page costs each side a page fault. So a new ring is gone through in
 * its first {@value #FIRST_SPAN_BYTES} bytes as long as the peer keeps up: a record of
 * padding skips the rest. After {@value #LAPS} laps it is twice as much, until it is the
 * whole ring, whose lines are fetched faster from a cache that both processors share than
 * those of a small one from the other's.
 */
final class OutboundRing {

	/** So much of a new ring is used, if that is enough. */
	private static final int FIRST_SPAN_BYTES = 64 * 1024;

	/** So often is a part of the ring gone through before twice as much is used. */
	private static final int LAPS = 16;

	private final SharedMemory memory;

	private final ByteBuffer bytes;

	private final int base;

	private final int mask;

	private long tail;

	private long published;

	private long knownHead;

	/** How much was skipped to go on at the start of the ring. */
	private long skippedBytes;

	private long publishedSkippedBytes;

	/** How much of the ring is used, if that is enough. */
	private int span = FIRST_SPAN_BYTES;

	private int laps;

	/** Where to look next whether that is enough. */
	private long nextLook;

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
		int offset = (int) this.tail & this.mask;
		int toEnd = this.mask + 1 - offset;
		int skipped = (toEnd < needed || tryRestart(offset, needed)) ? toEnd : 0;
		long free = this.mask + 1 - (this.tail - this.knownHead);
		if (free < skipped + needed) {
			free = this.mask + 1 - (this.tail - readHead());
			if (free < skipped + needed) {
				return -1;
			}
		}
		if (skipped > 0) {
			commit(RingDescriptor.PADDING, 0, 0, 0, 0, 0, skipped - RingDescriptor.HEADER_BYTES);
			this.skippedBytes += skipped - RingDescriptor.HEADER_BYTES;
			free -= skipped;
			toEnd = this.mask + 1;
		}
		return (int) Math.min(most, Math.min(free, toEnd) - RingDescriptor.HEADER_BYTES);
	}

	/**
	 * Whether to go on at the start of the ring although there is room here. The peer has
	 * consumed nearly all; until it has skipped the rest of the ring, there is only as
	 * much room as is free at its start.
	 */
	private boolean tryRestart(int offset, int needed) throws LinkFailure {
		if (offset < this.span || this.tail < this.nextLook) {
			return false;
		}
		this.nextLook = this.tail + FIRST_SPAN_BYTES / 4;
		if (needed > offset / 2 || this.tail - readHead() > offset / 8) {
			return false;
		}
		this.laps++;
		if (this.laps == LAPS) {
			this.laps = 0;
			this.span *= 2;
		}
		return true;
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

	/** How many bytes were ever written. */
	long writtenBytes() {
		return this.tail - this.skippedBytes;
	}

	/** One past the newest record. */
	long tail() {
		return this.tail;
	}

	/** How much is committed and not published. */
	int unpublishedBytes() {
		return (int) (this.tail - this.published - (this.skippedBytes - this.publishedSkippedBytes));
	}

	/** Shows the peer what is committed; returns whether it has to be woken. */
	boolean publish() {
		if (this.tail == this.published) {
			return false;
		}
		this.published = this.tail;
		this.publishedSkippedBytes = this.skippedBytes;
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
