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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.ReadRequestFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * Serves the peer's RDMA Reads: receives Read Requests on untagged queue 1 and hands
 * their responses, in order, to the outbound stream (RFC 5040, sections 4.4 and 5.2).
 * Guarded by the reactor's lock.
 *
 * <p>
 * Regions are checked when the request arrives and again before each segment of the
 * response. A request that is refused keeps its turn, so that the responses before it are
 * sent before the Terminate. The source of a zero-length Read is not looked at.
 */
final class ReadResponder implements SegmentHandler {

	private final PeerAccess access;

	private final int depth;

	private final @Nullable RegisteredMemory[] regions;

	private final int[] offsets;

	private final int[] lengths;

	private final int[] sinkStags;

	private final long[] sinkOffsets;

	private final @Nullable ProtocolViolation[] violations;

	private final byte[][] headers;

	private long head;

	private long tail;

	private int sentBytes;

	private boolean refused;

	ReadResponder(PeerAccess access, int depth) {
		int capacity = Math.max(1, depth);
		this.access = access;
		this.depth = depth;
		this.regions = new RegisteredMemory[capacity];
		this.offsets = new int[capacity];
		this.lengths = new int[capacity];
		this.sinkStags = new int[capacity];
		this.sinkOffsets = new long[capacity];
		this.violations = new ProtocolViolation[capacity];
		this.headers = new byte[capacity][DdpUntaggedFlyweight.HEADER_BYTES + ReadRequestFlyweight.HEADER_BYTES];
	}

	@Override
	public void begin(ByteBuffer in, int ddpOffset, int ulpduBytes) throws ProtocolViolation {
		checkEnvelope(in, ddpOffset, ulpduBytes);
		int request = ddpOffset + DdpUntaggedFlyweight.HEADER_BYTES;
		long size = ReadRequestFlyweight.size(in, request);
		long sinkOffset = ReadRequestFlyweight.sinkTaggedOffset(in, request);
		int slot = slot(this.tail);
		this.regions[slot] = null;
		this.offsets[slot] = 0;
		this.lengths[slot] = 0;
		if (size > 0) {
			int stag = ReadRequestFlyweight.sourceStag(in, request);
			long source = ReadRequestFlyweight.sourceTaggedOffset(in, request);
			RegisteredMemory region = this.access.find(stag);
			TerminateError error = check(region, source, size, sinkOffset);
			if (region == null || error != null) {
				String what = "RDMA Read of " + size + " bytes from STag " + RegisteredMemory.name(stag) + " at 0x"
						+ Long.toHexString(source);
				in.get(ddpOffset, this.headers[slot]);
				this.violations[slot] = ProtocolViolation.ofResponse(
						(error != null) ? error : TerminateError.RDMAP_INVALID_STAG, this.headers[slot].clone(), what);
				return;
			}
			this.regions[slot] = region;
			this.offsets[slot] = region.offsetOf(source);
			this.lengths[slot] = (int) size;
		}
		this.sinkStags[slot] = ReadRequestFlyweight.sinkStag(in, request);
		this.sinkOffsets[slot] = sinkOffset;
		in.get(ddpOffset, this.headers[slot]);
	}

	private void checkEnvelope(ByteBuffer in, int ddpOffset, int ulpduBytes) throws ProtocolViolation {
		SegmentHandler.checkExpected(in, ddpOffset, "Read Request", DdpControl.QUEUE_READ_REQUEST,
				(int) (this.tail + 1), 0);
		if (this.tail - this.head >= this.depth) {
			throw ProtocolViolation.of(TerminateError.DDP_UNTAGGED_NO_BUFFER,
					"more than " + this.depth + " Read Requests outstanding");
		}
		int length = ulpduBytes - DdpUntaggedFlyweight.HEADER_BYTES;
		if (length != ReadRequestFlyweight.HEADER_BYTES
				|| !DdpControl.isLast(DdpUntaggedFlyweight.control(in, ddpOffset))) {
			throw ProtocolViolation.of(TerminateError.DDP_UNTAGGED_TOO_LONG,
					"Read Request of " + length + " bytes (expected: " + ReadRequestFlyweight.HEADER_BYTES + ")");
		}
	}

	private @Nullable TerminateError check(@Nullable RegisteredMemory region, long source, long size, long sinkOffset) {
		if (region == null) {
			return TerminateError.RDMAP_INVALID_STAG;
		}
		if (!this.access.includes(region)) {
			return TerminateError.RDMAP_STAG_NOT_ASSOCIATED;
		}
		if (RegisteredMemory.wraps(source, size) || RegisteredMemory.wraps(sinkOffset, size)) {
			return TerminateError.RDMAP_TO_WRAP;
		}
		if (!region.contains(source, size)) {
			return TerminateError.RDMAP_BASE_OR_BOUNDS;
		}
		return region.remoteReadable() ? null : TerminateError.RDMAP_ACCESS_RIGHTS;
	}

	@Override
	public void end() {
		this.refused = this.violations[slot(this.tail)] != null;
		this.tail++;
	}

	/** Whether a request was refused, after which nothing more may be accepted. */
	boolean hasRefused() {
		return this.refused;
	}

	@Override
	public ProtocolViolation placementLost() {
		throw new IllegalStateException("a Read Request places nothing");
	}

	boolean isEmpty() {
		return this.head == this.tail;
	}

	/** Whether a response was begun and is not finished. */
	boolean midMessage() {
		return this.sentBytes > 0;
	}

	/** The memory that the next segment comes from, or {@code null} if it is empty. */
	@Nullable RegisteredMemory region() {
		return this.regions[slot(this.head)];
	}

	/**
	 * Checks that the next segment may be sent.
	 * @throws ProtocolViolation if the request was refused, or its source was
	 * deregistered
	 */
	void checkNext() throws ProtocolViolation {
		ProtocolViolation refused = this.violations[slot(this.head)];
		if (refused != null) {
			throw refused;
		}
		RegisteredMemory region = region();
		if (region != null && !region.isValid()) {
			throw ProtocolViolation.ofResponse(TerminateError.RDMAP_INVALID_STAG, this.headers[slot(this.head)].clone(),
					"source of an RDMA Read was deregistered");
		}
	}

	/** Where in the region the next segment begins. */
	int offset() {
		return this.offsets[slot(this.head)] + this.sentBytes;
	}

	int remainingBytes() {
		return this.lengths[slot(this.head)] - this.sentBytes;
	}

	int sinkStag() {
		return this.sinkStags[slot(this.head)];
	}

	long sinkOffset() {
		return this.sinkOffsets[slot(this.head)] + this.sentBytes;
	}

	/** Moves on by a segment. */
	void sent(int bytes) {
		this.sentBytes += bytes;
		int slot = slot(this.head);
		if (this.sentBytes == this.lengths[slot]) {
			this.sentBytes = 0;
			this.regions[slot] = null;
			this.head++;
		}
	}

	/** Forgets everything outstanding. */
	void clear() {
		Arrays.fill(this.regions, null);
		Arrays.fill(this.violations, null);
		this.head = this.tail;
		this.sentBytes = 0;
	}

	private int slot(long request) {
		return (int) (request % this.lengths.length);
	}

}
