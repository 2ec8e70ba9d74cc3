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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ReceiveSource;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * Receives Sends of all kinds: untagged queue 0 (RFC 5041, section 5.3; RFC 5040, section
 * 5.3). Guarded by the reactor's lock.
 */
final class SendReceiver implements SegmentHandler {

	private final StreamOwner owner;

	private final PeerAccess access;

	private final ReceiveSource source;

	private final PostedReceive receive;

	private final Placement placement;

	private boolean readyToReceiveExpected;

	private int expectedMsn = 1;

	private long receivedBytes;

	private int segmentBytes;

	private int opcode;

	private boolean begun;

	private boolean last;

	private boolean swallowed;

	private int invalidateStag;

	/**
	 * Creates the receiver of a stream.
	 * @param readyToReceiveExpected whether a zero-length Send was agreed on as the
	 * initiator's first frame, which is no message (RFC 6581, section 9)
	 */
	SendReceiver(StreamOwner owner, PeerAccess access, ReceiveSource source, Placement placement,
			boolean readyToReceiveExpected) {
		this.owner = owner;
		this.access = access;
		this.source = source;
		this.receive = new PostedReceive(source.maxReceiveSegments());
		this.placement = placement;
		this.readyToReceiveExpected = readyToReceiveExpected;
	}

	@Override
	public void begin(ByteBuffer in, int ddpOffset, int ulpduBytes) throws ProtocolViolation {
		int control = DdpUntaggedFlyweight.control(in, ddpOffset);
		this.segmentBytes = ulpduBytes - DdpUntaggedFlyweight.HEADER_BYTES;
		SegmentHandler.checkExpected(in, ddpOffset, "Send", DdpControl.QUEUE_SEND, this.expectedMsn,
				this.receivedBytes);
		takeKind(DdpControl.opcode(control), DdpUntaggedFlyweight.invalidateStag(in, ddpOffset));
		this.last = DdpControl.isLast(control);
		this.swallowed = this.readyToReceiveExpected && this.segmentBytes == 0 && this.last
				&& this.opcode == DdpControl.OPCODE_SEND;
		this.readyToReceiveExpected = false;
		if (!this.swallowed) {
			place();
		}
	}

	/** How many messages have come whole, modulo 2^32. */
	int messages() {
		return this.expectedMsn;
	}

	/** All segments of a message must say the same of it (RFC 5041, section 4.3). */
	private void takeKind(int segmentOpcode, int segmentInvalidateStag) throws ProtocolViolation {
		if (this.begun && segmentOpcode != this.opcode) {
			throw ProtocolViolation.of(TerminateError.RDMAP_UNEXPECTED_OPCODE,
					"segment of opcode " + segmentOpcode + " in a Send of opcode " + this.opcode);
		}
		if (this.begun && invalidates(segmentOpcode) && segmentInvalidateStag != this.invalidateStag) {
			throw ProtocolViolation.of(TerminateError.RDMAP_UNEXPECTED_OPCODE,
					"segments of a Send name different STags to invalidate");
		}
		this.begun = true;
		this.opcode = segmentOpcode;
		this.invalidateStag = segmentInvalidateStag;
	}

	private static boolean invalidates(int opcode) {
		return opcode == DdpControl.OPCODE_SEND_INVALIDATE || opcode == DdpControl.OPCODE_SEND_SOLICITED_INVALIDATE;
	}

	private void place() throws ProtocolViolation {
		if (!this.receive.isTaken()) {
			if (!this.source.tryTakeReceive(this.receive)) {
				throw ProtocolViolation.of(TerminateError.DDP_UNTAGGED_NO_BUFFER,
						"Send found no receive posted that it may use");
			}
			if (!this.receive.permits(this.access.domain())) {
				throw placementLost();
			}
		}
		if (this.receivedBytes + this.segmentBytes > this.receive.totalBytes()) {
			throw ProtocolViolation.ofReceive(TerminateError.DDP_UNTAGGED_TOO_LONG, WorkStatus.LOCAL_LENGTH_ERROR,
					"Send of at least " + (this.receivedBytes + this.segmentBytes) + " bytes into a receive of "
							+ this.receive.totalBytes());
		}
		for (int remaining = this.segmentBytes; remaining > 0;) {
			int piece = this.receive.piece(remaining);
			if (piece > 0) {
				this.placement.add(this.receive.region(), this.receive.offset(), piece);
			}
			this.receive.advance(piece);
			remaining -= piece;
		}
		if (!this.placement.isValid()) {
			throw placementLost();
		}
	}

	@Override
	public void end() throws ProtocolViolation {
		this.receivedBytes += this.segmentBytes;
		if (!this.last) {
			return;
		}
		long length = this.receivedBytes;
		this.receivedBytes = 0;
		this.begun = false;
		this.expectedMsn++;
		if (this.swallowed) {
			return;
		}
		int invalidated = 0;
		if (invalidates(this.opcode)) {
			invalidate(this.invalidateStag);
			invalidated = this.invalidateStag;
		}
		boolean solicited = this.opcode == DdpControl.OPCODE_SEND_SOLICITED
				|| this.opcode == DdpControl.OPCODE_SEND_SOLICITED_INVALIDATE;
		long id = this.receive.id();
		this.receive.clear();
		this.owner.received(id, length, invalidated, solicited);
	}

	private void invalidate(int stag) throws ProtocolViolation {
		RegisteredMemory region = this.access.find(stag);
		if (region == null) {
			throw ProtocolViolation.of(TerminateError.RDMAP_INVALID_STAG,
					"Send with Invalidate of unknown STag " + RegisteredMemory.name(stag));
		}
		if (!region.isLentTo(this.access.queuePair())) {
			throw ProtocolViolation.of(TerminateError.RDMAP_STAG_CANNOT_BE_INVALIDATED,
					"Send with Invalidate of STag " + RegisteredMemory.name(stag));
		}
		region.invalidate();
	}

	@Override
	public ProtocolViolation placementLost() {
		return ProtocolViolation.ofReceive(TerminateError.RDMAP_LOCAL_CATASTROPHIC, WorkStatus.LOCAL_PROTECTION_ERROR,
				"receive names memory outside its region, deregistered or of another protection domain");
	}

	/** Takes away the receive that an unfinished message occupies, or {@code null}. */
	@Nullable PostedReceive unfinished() {
		return this.receive.isTaken() ? this.receive : null;
	}

}
