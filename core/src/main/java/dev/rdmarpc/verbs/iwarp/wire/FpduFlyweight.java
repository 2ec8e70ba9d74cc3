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
 * The Framing Protocol Data Unit of MPA (RFC 5044, section 4): one DDP segment as it
 * travels in the TCP stream.
 *
 * <pre>
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +-------------------------------+-------------------------------+
 * |         ULPDU length          |                               |
 * +-------------------------------+                               +
 * |                     ULPDU (DDP segment)                      ...
 * +                               +-------------------------------+
 * |                               |        pad (0 to 3 bytes)     |
 * +-------------------------------+-------------------------------+
 * |             CRC32C, least significant byte first              |
 * +---------------------------------------------------------------+
 * </pre>
 *
 * The length counts the ULPDU alone. The pad makes length field, ULPDU and pad a multiple
 * of four. The CRC field is always there, and zero when CRC is off.
 */
public final class FpduFlyweight {

	/** Offset of the u16 ULPDU length. */
	static final int LENGTH_OFFSET = 0;

	/** Offset of the ULPDU. */
	public static final int ULPDU_OFFSET = 2;

	/** Size of the CRC field. */
	public static final int CRC_BYTES = 4;

	/** The longest ULPDU the length field can express. */
	public static final int MAX_ULPDU_BYTES = 65535;

	/** The longest FPDU. */
	public static final int MAX_BYTES = totalBytes(MAX_ULPDU_BYTES);

	private FpduFlyweight() {
	}

	public static int ulpduLength(ByteBuffer buffer, int offset) {
		return buffer.getShort(offset + LENGTH_OFFSET) & 0xFFFF;
	}

	public static void ulpduLength(ByteBuffer buffer, int offset, int ulpduBytes) {
		buffer.putShort(offset + LENGTH_OFFSET, (short) ulpduBytes);
	}

	/** Pad bytes that follow a ULPDU. */
	public static int padBytes(int ulpduBytes) {
		return -(ulpduBytes + ULPDU_OFFSET) & 3;
	}

	/** Size of the whole FPDU around a ULPDU. */
	public static int totalBytes(int ulpduBytes) {
		return ULPDU_OFFSET + ulpduBytes + padBytes(ulpduBytes) + CRC_BYTES;
	}

	/** The CRC field at {@code crcOffset}, which follows the pad. */
	public static int crc(ByteBuffer buffer, int crcOffset) {
		return Integer.reverseBytes(buffer.getInt(crcOffset));
	}

	public static void crc(ByteBuffer buffer, int crcOffset, int crc) {
		buffer.putInt(crcOffset, Integer.reverseBytes(crc));
	}

}
