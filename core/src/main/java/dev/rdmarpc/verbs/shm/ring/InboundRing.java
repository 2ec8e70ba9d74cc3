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
 * The ring that the peer writes. A record is opened, which reads its header once and
 * checks it, and released.
 *
 * <p>
 * Implementation notes. The peer's tail is read only when all known records are consumed.
 * The head is written with release semantics behind the last use of a record, when a
 * quarter of the ring is consumed or nothing is left. A peer that waits for room says so
 * and looks once more in the order described at {@link OutboundRing}.
 */
final class InboundRing {

	private final SharedMemory memory;

	private final ByteBuffer bytes;

	private final int base;

	private final int mask;

	private long head;

	private long publishedHead;

	private long knownTail;

	private int kind;

	private int flags;

	private int sequence;

	private int key;

	private long address;

	private long length;

	private int payloadBytes;

	InboundRing(SharedMemory memory) {
		this.memory = memory;
		this.bytes = memory.bytes();
		this.base = memory.peerRing();
		this.mask = memory.ringBytes() - 1;
	}

	/** Whether a record is there that the peer has published. */
	boolean hasRecord() throws LinkFailure {
		return this.head != this.knownTail || look();
	}

	/** Whether the peer has published something since the last record. */
	boolean look() throws LinkFailure {
		long tail = this.memory.peerTail();
		if (tail == this.knownTail) {
			return this.head != tail;
		}
		if (tail < this.knownTail || tail - this.head > this.mask + 1 || tail % RingDescriptor.UNIT_BYTES != 0) {
			throw LinkFailure.ofNonsense(
					"tail at " + tail + " (expected: " + this.knownTail + " to " + (this.head + this.mask + 1) + ")");
		}
		this.knownTail = tail;
		return true;
	}

	/** Opens the record at the head; there is one. */
	void open() throws LinkFailure {
		int offset = (int) this.head & this.mask;
		int index = this.base + offset;
		long kindWord = this.bytes.getLong(index + RingDescriptor.KIND_WORD);
		long sequenceWord = this.bytes.getLong(index + RingDescriptor.SEQUENCE_WORD);
		this.address = this.bytes.getLong(index + RingDescriptor.ADDRESS_WORD);
		this.length = this.bytes.getLong(index + RingDescriptor.LENGTH_WORD);
		this.payloadBytes = (int) kindWord;
		this.kind = (int) (kindWord >>> 32) & 0xFF;
		this.flags = (int) (kindWord >>> 40) & 0xFF;
		this.sequence = (int) sequenceWord;
		this.key = (int) (sequenceWord >>> 32);
		long most = Math.min(this.mask + 1 - offset, this.knownTail - this.head) - RingDescriptor.HEADER_BYTES;
		if (this.payloadBytes < 0 || this.payloadBytes > most) {
			throw LinkFailure.ofNonsense("record of " + this.payloadBytes + " bytes (expected: 0 to " + most + ")");
		}
	}

	int kind() {
		return this.kind;
	}

	boolean hasFlag(int flag) {
		return (this.flags & flag) != 0;
	}

	int sequence() {
		return this.sequence;
	}

	int key() {
		return this.key;
	}

	long address() {
		return this.address;
	}

	long length() {
		return this.length;
	}

	int payloadBytes() {
		return this.payloadBytes;
	}

	int payloadIndex() {
		return this.base + ((int) this.head & this.mask) + RingDescriptor.HEADER_BYTES;
	}

	ByteBuffer bytes() {
		return this.bytes;
	}

	/** Ends the use of the open record; returns whether the peer has to be woken. */
	boolean release() {
		this.head += RingDescriptor.HEADER_BYTES + RingDescriptor.padded(this.payloadBytes);
		return this.head - this.publishedHead > this.mask >> 2 && publish();
	}

	/** Gives the peer the room; returns whether it has to be woken. */
	boolean publish() {
		if (this.head == this.publishedHead) {
			return false;
		}
		this.publishedHead = this.head;
		this.memory.publishHead(this.head);
		return this.memory.takeSleeper(RingDescriptor.ASLEEP_FOR_ROOM);
	}

}
