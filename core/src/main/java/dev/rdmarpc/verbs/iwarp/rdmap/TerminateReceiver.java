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

import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpTaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.iwarp.wire.TerminateFlyweight;

/**
 * Receives the peer's Terminate on untagged queue 2 and finds the work that it is about
 * (RFC 5040, section 4.8). Guarded by the reactor's lock.
 */
final class TerminateReceiver implements SegmentHandler {

	private final StreamOwner owner;

	private final SendQueue sendQueue;

	private final ReadRequester requester;

	private int layer;

	private int type;

	private int code;

	private long sequence;

	TerminateReceiver(StreamOwner owner, SendQueue sendQueue, ReadRequester requester) {
		this.owner = owner;
		this.sendQueue = sendQueue;
		this.requester = requester;
	}

	@Override
	public void begin(ByteBuffer in, int ddpOffset, int ulpduBytes) throws ProtocolViolation {
		SegmentHandler.checkExpected(in, ddpOffset, "Terminate", DdpControl.QUEUE_TERMINATE, 1, 0);
		int body = ddpOffset + DdpUntaggedFlyweight.HEADER_BYTES;
		int bodyBytes = ulpduBytes - DdpUntaggedFlyweight.HEADER_BYTES;
		if (bodyBytes < TerminateFlyweight.CONTROL_BYTES
				|| !DdpControl.isLast(DdpUntaggedFlyweight.control(in, ddpOffset))) {
			throw ProtocolViolation.of(TerminateError.DDP_UNTAGGED_TOO_LONG, "Terminate of " + bodyBytes
					+ " bytes (expected: one segment of at least " + TerminateFlyweight.CONTROL_BYTES + ")");
		}
		this.layer = TerminateFlyweight.layer(in, body);
		this.type = TerminateFlyweight.type(in, body);
		this.code = TerminateFlyweight.code(in, body);
		this.sequence = -1;
		boolean included = (TerminateFlyweight.headerControl(in, body) & TerminateFlyweight.DDP_HEADER_INCLUDED) != 0;
		if (included && bodyBytes >= TerminateFlyweight.TERMINATED_HEADER_OFFSET + DdpTaggedFlyweight.HEADER_BYTES) {
			this.sequence = find(in, body + TerminateFlyweight.TERMINATED_HEADER_OFFSET,
					bodyBytes - TerminateFlyweight.TERMINATED_HEADER_OFFSET);
		}
	}

	/** Finds the request that a copied header belongs to, or -1. */
	private long find(ByteBuffer in, int header, int length) {
		int control = DdpUntaggedFlyweight.control(in, header);
		if (DdpControl.isTagged(control)) {
			return (DdpControl.opcode(control) == DdpControl.OPCODE_WRITE) ? this.sendQueue
				.findWrite(DdpTaggedFlyweight.stag(in, header), DdpTaggedFlyweight.taggedOffset(in, header)) : -1;
		}
		if (length < DdpUntaggedFlyweight.HEADER_BYTES) {
			return -1;
		}
		int msn = DdpUntaggedFlyweight.messageSequenceNumber(in, header);
		return switch (DdpUntaggedFlyweight.queueNumber(in, header)) {
			case DdpControl.QUEUE_READ_REQUEST -> this.requester.sequenceOf(msn);
			case DdpControl.QUEUE_SEND -> this.sendQueue.findSend(msn);
			default -> -1;
		};
	}

	@Override
	public void end() {
		WorkStatus status = TerminateError.requesterStatus(this.layer, this.type, this.code);
		long failed = this.sequence;
		boolean readError = this.layer == TerminateError.RDMAP_INVALID_STAG.layer();
		if (failed < 0 && readError) {
			failed = this.requester.oldestSequence();
		}
		this.owner.terminated(status, failed,
				"peer terminated the connection: " + TerminateError.describe(this.layer, this.type, this.code));
	}

	@Override
	public ProtocolViolation placementLost() {
		throw new IllegalStateException("a Terminate places nothing");
	}

}
