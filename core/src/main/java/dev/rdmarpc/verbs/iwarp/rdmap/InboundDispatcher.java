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

import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpTaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;

/**
 * Checks what all DDP segments have in common and hands each to the handler of its
 * opcode. Guarded by the reactor's lock.
 */
final class InboundDispatcher {

	private final SendReceiver sends;

	private final WriteReceiver writes;

	private final ReadRequester responses;

	private final ReadResponder requests;

	private final TerminateReceiver terminates;

	private final Placement placement;

	private SegmentHandler current;

	InboundDispatcher(SendReceiver sends, WriteReceiver writes, ReadRequester responses, ReadResponder requests,
			TerminateReceiver terminates, Placement placement) {
		this.sends = sends;
		this.writes = writes;
		this.responses = responses;
		this.requests = requests;
		this.terminates = terminates;
		this.placement = placement;
		this.current = sends;
	}

	/** Where the payload of the segment begun goes. */
	Placement placement() {
		return this.placement;
	}

	/** Length of the DDP header that a control word announces. */
	static int headerBytes(int control) {
		return DdpControl.isTagged(control) ? DdpTaggedFlyweight.HEADER_BYTES : DdpUntaggedFlyweight.HEADER_BYTES;
	}

	/**
	 * Whether the place of a segment is fixed by state alone, so that its payload may be
	 * placed before its CRC was checked.
	 */
	static boolean placeFixedByState(int control) {
		return switch (DdpControl.opcode(control)) {
			case DdpControl.OPCODE_SEND, DdpControl.OPCODE_SEND_INVALIDATE, DdpControl.OPCODE_SEND_SOLICITED,
					DdpControl.OPCODE_SEND_SOLICITED_INVALIDATE ->
				!DdpControl.isTagged(control);
			case DdpControl.OPCODE_READ_RESPONSE -> DdpControl.isTagged(control);
			default -> false;
		};
	}

	/** Whether a control word is that of an RDMA Write. */
	static boolean isWrite(int control) {
		return DdpControl.opcode(control) == DdpControl.OPCODE_WRITE && DdpControl.isTagged(control);
	}

	/** Begins a segment of which {@code in} has at least the DDP header. */
	void begin(ByteBuffer in, int ddpOffset, int ulpduBytes) throws ProtocolViolation {
		int control = DdpTaggedFlyweight.control(in, ddpOffset);
		boolean tagged = DdpControl.isTagged(control);
		if (!DdpControl.isDdpVersion1(control)) {
			throw ProtocolViolation.of(
					tagged ? TerminateError.DDP_TAGGED_INVALID_VERSION : TerminateError.DDP_UNTAGGED_INVALID_VERSION,
					"DDP version is not 1");
		}
		if (!DdpControl.isRdmapVersion1(control)) {
			throw ProtocolViolation.of(TerminateError.RDMAP_INVALID_VERSION, "RDMAP version is not 1");
		}
		SegmentHandler handler = handler(DdpControl.opcode(control), tagged);
		this.current = handler;
		handler.begin(in, ddpOffset, ulpduBytes);
	}

	private SegmentHandler handler(int opcode, boolean tagged) throws ProtocolViolation {
		boolean taggedOpcode = opcode == DdpControl.OPCODE_WRITE || opcode == DdpControl.OPCODE_READ_RESPONSE;
		if (opcode > DdpControl.OPCODE_TERMINATE || tagged != taggedOpcode) {
			throw ProtocolViolation.of(TerminateError.RDMAP_UNEXPECTED_OPCODE,
					"opcode " + opcode + (tagged ? " in a tagged segment" : " in an untagged segment"));
		}
		return switch (opcode) {
			case DdpControl.OPCODE_WRITE -> this.writes;
			case DdpControl.OPCODE_READ_REQUEST -> this.requests;
			case DdpControl.OPCODE_READ_RESPONSE -> this.responses;
			case DdpControl.OPCODE_TERMINATE -> this.terminates;
			default -> this.sends;
		};
	}

	/** Delivers the segment begun, which is placed and verified. */
	void end() throws ProtocolViolation {
		this.placement.clear();
		this.current.end();
	}

	/** Whether the segment begun is of a Read Response. */
	boolean isReadResponse() {
		return this.current == this.responses;
	}

	/** What to say when memory went away under the segment begun. */
	ProtocolViolation placementLost() {
		return this.current.placementLost();
	}

}
