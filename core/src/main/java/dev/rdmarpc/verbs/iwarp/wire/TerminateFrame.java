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

package dev.rdmarpc.verbs.iwarp.wire;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * A Terminate in its FPDU: the last thing that is sent on a connection (RFC 5040, section
 * 4.8), or the only one (RFC 6581, section 8).
 */
public final class TerminateFrame {

	/** The longest. */
	public static final int MAX_BYTES = FpduFlyweight
		.totalBytes(DdpUntaggedFlyweight.HEADER_BYTES + TerminateFlyweight.MAX_BYTES);

	private TerminateFrame() {
	}

	/** Makes a frame that names no segment. */
	public static ByteBuffer of(TerminateError error, boolean crcEnabled) {
		ByteBuffer frame = ByteBuffer.allocate(MAX_BYTES);
		append(frame, error, new byte[0], 0, crcEnabled);
		return frame.flip();
	}

	/**
	 * Appends a frame.
	 * @param target zeroed, with room for {@link #MAX_BYTES}
	 * @param error what it says
	 * @param header the headers of the segment at fault, or none
	 * @param segmentBytes the length of that segment
	 * @param crcEnabled whether the CRC is computed
	 */
	public static void append(ByteBuffer target, TerminateError error, byte[] header, int segmentBytes,
			boolean crcEnabled) {
		int start = target.position();
		int ddp = start + FpduFlyweight.ULPDU_OFFSET;
		int body = ddp + DdpUntaggedFlyweight.HEADER_BYTES;
		DdpUntaggedFlyweight.encode(target, ddp, true, DdpControl.OPCODE_TERMINATE, 0, DdpControl.QUEUE_TERMINATE, 1,
				0);
		int bodyBytes = (header.length == 0) ? TerminateFlyweight.encode(target, body, error)
				: TerminateFlyweight.encode(target, body, error, header, segmentBytes);
		int ulpduBytes = DdpUntaggedFlyweight.HEADER_BYTES + bodyBytes;
		FpduFlyweight.ulpduLength(target, start, ulpduBytes);
		int end = start + FpduFlyweight.totalBytes(ulpduBytes);
		if (crcEnabled) {
			CRC32C crc = new CRC32C();
			crc.update(target.limit(end - FpduFlyweight.CRC_BYTES).position(start));
			target.clear();
			FpduFlyweight.crc(target, end - FpduFlyweight.CRC_BYTES, (int) crc.getValue());
		}
		target.position(end);
	}

}
