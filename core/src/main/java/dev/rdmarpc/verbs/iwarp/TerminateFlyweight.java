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

package dev.rdmarpc.verbs.iwarp;

import java.nio.ByteBuffer;

/**
 * The body of a Terminate (RFC 5040, section 4.8), which follows the untagged DDP header.
 * Offsets count from its own first byte.
 *
 * <pre>
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +-------+-------+---------------+-+-+-+-------------------------+
 * | layer | etype |  error code   |M|D|R|        reserved         |
 * +-------+-------+---------------+-+-+-+-------------------------+
 * | DDP segment length (if M)     |  terminated DDP header (if D) |
 * +-------------------------------+                               +
 * |                                                              ...
 * +---------------------------------------------------------------+
 * |            terminated Read Request header (if R)             ...
 * +---------------------------------------------------------------+
 * </pre>
 */
final class TerminateFlyweight {

	static final int LAYER_AND_TYPE_OFFSET = 0;

	static final int CODE_OFFSET = 1;

	static final int HEADER_CONTROL_OFFSET = 2;

	static final int CONTROL_BYTES = 4;

	static final int SEGMENT_LENGTH_OFFSET = 4;

	static final int TERMINATED_HEADER_OFFSET = 6;

	static final int SEGMENT_LENGTH_VALID = 0x8000;

	static final int DDP_HEADER_INCLUDED = 0x4000;

	static final int READ_HEADER_INCLUDED = 0x2000;

	/** The longest body: an untagged header and a Read Request header are included. */
	static final int MAX_BYTES = TERMINATED_HEADER_OFFSET + DdpUntaggedFlyweight.HEADER_BYTES
			+ ReadRequestFlyweight.HEADER_BYTES;

	private TerminateFlyweight() {
	}

	static int layer(ByteBuffer buffer, int offset) {
		return (buffer.get(offset + LAYER_AND_TYPE_OFFSET) & 0xFF) >>> 4;
	}

	static int type(ByteBuffer buffer, int offset) {
		return buffer.get(offset + LAYER_AND_TYPE_OFFSET) & 0xF;
	}

	static int code(ByteBuffer buffer, int offset) {
		return buffer.get(offset + CODE_OFFSET) & 0xFF;
	}

	static int headerControl(ByteBuffer buffer, int offset) {
		return buffer.getShort(offset + HEADER_CONTROL_OFFSET) & 0xFFFF;
	}

	static int segmentLength(ByteBuffer buffer, int offset) {
		return buffer.getShort(offset + SEGMENT_LENGTH_OFFSET) & 0xFFFF;
	}

	/** Encodes a Terminate that names no segment. */
	static int encode(ByteBuffer buffer, int offset, TerminateError error) {
		buffer.put(offset + LAYER_AND_TYPE_OFFSET, (byte) (error.layer() << 4 | error.type()));
		buffer.put(offset + CODE_OFFSET, (byte) error.code());
		buffer.putShort(offset + HEADER_CONTROL_OFFSET, (short) 0);
		return CONTROL_BYTES;
	}

	/**
	 * Encodes a Terminate that names the segment at fault.
	 * @param header its DDP header and, for a Read Request, the header behind that
	 * @param segmentBytes the DDP segment's whole length
	 * @return the length of the body
	 */
	static int encode(ByteBuffer buffer, int offset, TerminateError error, byte[] header, int segmentBytes) {
		encode(buffer, offset, error);
		boolean read = header.length > DdpUntaggedFlyweight.HEADER_BYTES;
		buffer.putShort(offset + HEADER_CONTROL_OFFSET,
				(short) (SEGMENT_LENGTH_VALID | DDP_HEADER_INCLUDED | (read ? READ_HEADER_INCLUDED : 0)));
		buffer.putShort(offset + SEGMENT_LENGTH_OFFSET, (short) segmentBytes);
		buffer.put(offset + TERMINATED_HEADER_OFFSET, header);
		return TERMINATED_HEADER_OFFSET + header.length;
	}

}
