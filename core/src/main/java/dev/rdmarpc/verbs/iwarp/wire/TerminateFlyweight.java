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
 *
 * The software iWARP of Linux (siw) describes the first four bytes by a C bit-field whose
 * order differs: layer and type are swapped, and the header flags are the last bits of
 * their byte. Such control words are understood; none is made here.
 */
public final class TerminateFlyweight {

	static final int LAYER_AND_TYPE_OFFSET = 0;

	static final int CODE_OFFSET = 1;

	static final int HEADER_CONTROL_OFFSET = 2;

	public static final int CONTROL_BYTES = 4;

	static final int SEGMENT_LENGTH_OFFSET = 4;

	public static final int TERMINATED_HEADER_OFFSET = 6;

	public static final int SEGMENT_LENGTH_VALID = 0x8000;

	public static final int DDP_HEADER_INCLUDED = 0x4000;

	static final int READ_HEADER_INCLUDED = 0x2000;

	private static final int HEADER_FLAGS = SEGMENT_LENGTH_VALID | DDP_HEADER_INCLUDED | READ_HEADER_INCLUDED;

	/** The header flags as the last bits of their byte, the first of them last. */
	private static final int MIRRORED_FLAGS = 0x0700;

	/** Moves those, the bits of an {@code int} having been reversed, to their places. */
	private static final int MIRRORED_SHIFT = 8;

	/** The longest body: an untagged header and a Read Request header are included. */
	public static final int MAX_BYTES = TERMINATED_HEADER_OFFSET + DdpUntaggedFlyweight.HEADER_BYTES
			+ ReadRequestFlyweight.HEADER_BYTES;

	private TerminateFlyweight() {
	}

	public static int layer(ByteBuffer buffer, int offset) {
		return isMirrored(buffer, offset) ? low(buffer, offset) : high(buffer, offset);
	}

	public static int type(ByteBuffer buffer, int offset) {
		return isMirrored(buffer, offset) ? high(buffer, offset) : low(buffer, offset);
	}

	private static int high(ByteBuffer buffer, int offset) {
		return (buffer.get(offset + LAYER_AND_TYPE_OFFSET) & 0xFF) >>> 4;
	}

	private static int low(ByteBuffer buffer, int offset) {
		return buffer.get(offset + LAYER_AND_TYPE_OFFSET) & 0xF;
	}

	/**
	 * Whether the control word is in the order of siw. The header flags tell; without
	 * any, what has a meaning only so. What has one either way is read as the RFC says.
	 */
	private static boolean isMirrored(ByteBuffer buffer, int offset) {
		int control = buffer.getShort(offset + HEADER_CONTROL_OFFSET) & 0xFFFF;
		if (control != 0) {
			return (control & HEADER_FLAGS) == 0 && (control & MIRRORED_FLAGS) != 0;
		}
		int high = high(buffer, offset);
		int low = low(buffer, offset);
		int code = code(buffer, offset);
		return TerminateError.of(high, low, code) == null && TerminateError.of(low, high, code) != null;
	}

	public static int code(ByteBuffer buffer, int offset) {
		return buffer.get(offset + CODE_OFFSET) & 0xFF;
	}

	/** Which headers are included. */
	public static int headerControl(ByteBuffer buffer, int offset) {
		int control = buffer.getShort(offset + HEADER_CONTROL_OFFSET) & 0xFFFF;
		return isMirrored(buffer, offset) ? Integer.reverse(control & MIRRORED_FLAGS) >>> MIRRORED_SHIFT : control;
	}

	public static int segmentLength(ByteBuffer buffer, int offset) {
		return buffer.getShort(offset + SEGMENT_LENGTH_OFFSET) & 0xFFFF;
	}

	/** Encodes a Terminate that names no segment. */
	public static int encode(ByteBuffer buffer, int offset, TerminateError error) {
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
	public static int encode(ByteBuffer buffer, int offset, TerminateError error, byte[] header, int segmentBytes) {
		encode(buffer, offset, error);
		boolean read = header.length > DdpUntaggedFlyweight.HEADER_BYTES;
		buffer.putShort(offset + HEADER_CONTROL_OFFSET,
				(short) (SEGMENT_LENGTH_VALID | DDP_HEADER_INCLUDED | (read ? READ_HEADER_INCLUDED : 0)));
		buffer.putShort(offset + SEGMENT_LENGTH_OFFSET, (short) segmentBytes);
		buffer.put(offset + TERMINATED_HEADER_OFFSET, header);
		return TERMINATED_HEADER_OFFSET + header.length;
	}

}
