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

import dev.rdmarpc.verbs.iwarp.wire.DdpTaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * Places RDMA Writes: tagged segments into regions with remote write access (RFC 5041,
 * section 5.2). Guarded by the reactor's lock.
 *
 * <p>
 * A zero-length Write accesses nothing, so its STag is not looked at (RFC 5040, section
 * 5.1); the ready-to-receive frame of RFC 6581 is one.
 */
final class WriteReceiver implements SegmentHandler {

	private final PeerAccess access;

	private final Placement placement;

	WriteReceiver(PeerAccess access, Placement placement) {
		this.access = access;
		this.placement = placement;
	}

	@Override
	public void begin(ByteBuffer in, int ddpOffset, int ulpduBytes) throws ProtocolViolation {
		int length = ulpduBytes - DdpTaggedFlyweight.HEADER_BYTES;
		if (length == 0) {
			return;
		}
		int stag = DdpTaggedFlyweight.stag(in, ddpOffset);
		long offset = DdpTaggedFlyweight.taggedOffset(in, ddpOffset);
		RegisteredMemory region = this.access.find(stag);
		if (region == null) {
			throw violation(TerminateError.DDP_TAGGED_INVALID_STAG, stag, offset, length);
		}
		if (!this.access.includes(region)) {
			throw violation(TerminateError.DDP_TAGGED_STAG_NOT_ASSOCIATED, stag, offset, length);
		}
		if (RegisteredMemory.wraps(offset, length)) {
			throw violation(TerminateError.DDP_TAGGED_TO_WRAP, stag, offset, length);
		}
		if (!region.contains(offset, length)) {
			throw violation(TerminateError.DDP_TAGGED_BASE_OR_BOUNDS, stag, offset, length);
		}
		if (!region.remoteWritable()) {
			throw violation(TerminateError.RDMAP_ACCESS_RIGHTS, stag, offset, length);
		}
		this.placement.add(region, region.offsetOf(offset), length);
	}

	private static ProtocolViolation violation(TerminateError error, int stag, long offset, int length) {
		return ProtocolViolation.of(error, "RDMA Write of " + length + " bytes to STag " + RegisteredMemory.name(stag)
				+ " at 0x" + Long.toHexString(offset));
	}

	@Override
	public void end() {
		// A Write is not reported at its target.
	}

	@Override
	public ProtocolViolation placementLost() {
		return ProtocolViolation.of(TerminateError.DDP_TAGGED_INVALID_STAG,
				"region deregistered while an RDMA Write was being placed");
	}

}
