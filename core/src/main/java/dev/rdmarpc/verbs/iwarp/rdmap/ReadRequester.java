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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpTaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * The RDMA Reads this side has outstanding, and the receiver of their responses (RFC
 * 5040, section 5.2). Guarded by the reactor's lock.
 *
 * <p>
 * Responses come in the order of the requests, each in the order of its tagged offsets,
 * so a response segment is accepted only if it continues the oldest outstanding Read. The
 * sink STag and offset of a request are made up for this one Read: they are not in the
 * STag table and tell the peer nothing that would be good for anything else.
 */
final class ReadRequester implements SegmentHandler {

	private final SendQueue sendQueue;

	private final Placement placement;

	private final SplittableRandom random;

	private final int depth;

	private final long[] sequences;

	private final @Nullable RegisteredMemory[] regions;

	private final int[] offsets;

	private final int[] lengths;

	private final int[] sinkStags;

	private final long[] sinkOffsets;

	private long head;

	private long tail;

	private int receivedBytes;

	private long expectedBytes;

	private int segmentBytes;

	private boolean last;

	ReadRequester(SendQueue sendQueue, int depth, Placement placement, SplittableRandom random) {
		int capacity = Math.max(1, depth);
		this.sendQueue = sendQueue;
		this.placement = placement;
		this.random = random;
		this.depth = depth;
		this.sequences = new long[capacity];
		this.regions = new RegisteredMemory[capacity];
		this.offsets = new int[capacity];
		this.lengths = new int[capacity];
		this.sinkStags = new int[capacity];
		this.sinkOffsets = new long[capacity];
	}

	/** Whether another Read Request may be sent. */
	boolean hasRoom() {
		return this.tail - this.head < this.depth;
	}

	boolean isEmpty() {
		return this.head == this.tail;
	}

	/** Whether so much is still to come of all responses together. */
	boolean expectsBytes(int atLeast) {
		return this.expectedBytes >= atLeast;
	}

	/**
	 * Adds a Read Request to those outstanding.
	 * @param sequence the work request in the send queue
	 * @return its message sequence number
	 */
	int add(long sequence, @Nullable RegisteredMemory region, int offset, int length) {
		int slot = slot(this.tail);
		this.sequences[slot] = sequence;
		this.regions[slot] = region;
		this.offsets[slot] = offset;
		this.lengths[slot] = length;
		this.sinkStags[slot] = this.random.nextInt();
		this.sinkOffsets[slot] = this.random.nextLong() & 0x7FFF_FFFF_FFFF_F000L;
		this.expectedBytes += length;
		this.tail++;
		return (int) this.tail;
	}

	int newestSinkStag() {
		return this.sinkStags[slot(this.tail - 1)];
	}

	long newestSinkOffset() {
		return this.sinkOffsets[slot(this.tail - 1)];
	}

	/**
	 * The work request of an outstanding Read Request by message sequence number, or -1.
	 */
	long sequenceOf(int msn) {
		for (long request = this.head; request != this.tail; request++) {
			if ((int) (request + 1) == msn) {
				return this.sequences[slot(request)];
			}
		}
		return -1;
	}

	/** The work request of the oldest outstanding Read Request, or -1. */
	long oldestSequence() {
		return isEmpty() ? -1 : this.sequences[slot(this.head)];
	}

	/** The memory that the oldest Read places into, or {@code null} if there is none. */
	@Nullable RegisteredMemory sinkRegion() {
		return isEmpty() ? null : this.regions[slot(this.head)];
	}

	/** How long the payload of the segment begun is. */
	int segmentBytes() {
		return this.segmentBytes;
	}

	/** How much of the response is to follow the segment begun. */
	int bytesBehindSegment() {
		return this.last ? 0 : this.lengths[slot(this.head)] - this.receivedBytes - this.segmentBytes;
	}

	/** Where in the region that will be placed. */
	int offsetBehindSegment() {
		return this.offsets[slot(this.head)] + this.receivedBytes + this.segmentBytes;
	}

	@Override
	public void begin(ByteBuffer in, int ddpOffset, int ulpduBytes) throws ProtocolViolation {
		this.segmentBytes = ulpduBytes - DdpTaggedFlyweight.HEADER_BYTES;
		this.last = DdpControl.isLast(DdpTaggedFlyweight.control(in, ddpOffset));
		if (isEmpty()) {
			throw ProtocolViolation.of(TerminateError.RDMAP_UNEXPECTED_OPCODE,
					"Read Response without an outstanding Read");
		}
		int slot = slot(this.head);
		if (DdpTaggedFlyweight.stag(in, ddpOffset) != this.sinkStags[slot]) {
			throw ProtocolViolation.of(TerminateError.DDP_TAGGED_INVALID_STAG,
					"Read Response to another STag than that of the oldest outstanding Read");
		}
		if (DdpTaggedFlyweight.taggedOffset(in, ddpOffset) != this.sinkOffsets[slot] + this.receivedBytes) {
			throw ProtocolViolation.of(TerminateError.DDP_TAGGED_BASE_OR_BOUNDS,
					"Read Response that does not continue the oldest outstanding Read");
		}
		if (this.segmentBytes > this.lengths[slot] - this.receivedBytes) {
			throw ProtocolViolation.of(TerminateError.DDP_TAGGED_BASE_OR_BOUNDS,
					"Read Response longer than the " + this.lengths[slot] + " bytes asked for");
		}
		RegisteredMemory region = this.regions[slot];
		if (this.segmentBytes > 0 && region != null) {
			int offset = this.offsets[slot] + this.receivedBytes;
			if (!region.isValid()) {
				throw placementLost();
			}
			this.placement.add(region, offset, this.segmentBytes);
		}
	}

	@Override
	public void end() throws ProtocolViolation {
		int slot = slot(this.head);
		this.receivedBytes += this.segmentBytes;
		this.expectedBytes -= this.segmentBytes;
		if (!this.last) {
			return;
		}
		if (this.receivedBytes != this.lengths[slot]) {
			throw ProtocolViolation.of(TerminateError.DDP_TAGGED_BASE_OR_BOUNDS, "Read Response of "
					+ this.receivedBytes + " bytes where " + this.lengths[slot] + " were asked for");
		}
		this.receivedBytes = 0;
		this.regions[slot] = null;
		this.head++;
		this.sendQueue.readEnded(this.sequences[slot]);
	}

	@Override
	public ProtocolViolation placementLost() {
		this.sendQueue.failAt(oldestSequence(), WorkStatus.LOCAL_PROTECTION_ERROR);
		return ProtocolViolation.ofLocal(WorkStatus.LOCAL_PROTECTION_ERROR, "sink of an RDMA Read was deregistered");
	}

	/** Forgets everything outstanding. */
	void clear() {
		Arrays.fill(this.regions, null);
		this.head = this.tail;
		this.expectedBytes = 0;
	}

	private int slot(long request) {
		return (int) (request % this.lengths.length);
	}

}
