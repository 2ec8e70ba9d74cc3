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
import java.nio.charset.StandardCharsets;

/**
 * The MPA Request and Reply Frames that open a connection (RFC 5044, section 7.1), with
 * the enhanced data of revision 2 (RFC 6581, section 4).
 *
 * <pre>
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +---------------------------------------------------------------+
 * |                                                               |
 * +          "MPA ID Req Frame" or "MPA ID Rep Frame"             +
 * |                                                               |
 * +                                                               +
 * |                                                               |
 * +                                                               +
 * |                                                               |
 * +-+-+-+-+-------+---------------+-------------------------------+
 * |M|C|R|S| Resrv |   revision    |   private data length         |
 * +-+-+-+-+-------+---------------+-------------------------------+
 * |A|B|          IRD              |C|D|          ORD              |  if S
 * +-+-+---------------------------+-+-+---------------------------+
 * |                         private data                         ...
 * +---------------------------------------------------------------+
 * </pre>
 *
 * M markers wanted, C CRC wanted, R rejected, S enhanced; A peer-to-peer, B, C and D
 * ready to receive by zero-length Send, Write and Read. The private data length counts
 * the enhanced data too.
 */
public final class MpaFrameFlyweight {

	static final int KEY_BYTES = 16;

	static final int FLAGS_OFFSET = 16;

	static final int REVISION_OFFSET = 17;

	public static final int PRIVATE_DATA_LENGTH_OFFSET = 18;

	public static final int HEADER_BYTES = 20;

	static final int IRD_OFFSET = 20;

	static final int ORD_OFFSET = 22;

	static final int ENHANCED_BYTES = 4;

	public static final int MAX_PRIVATE_DATA_BYTES = 512;

	public static final int MAX_BYTES = HEADER_BYTES + MAX_PRIVATE_DATA_BYTES;

	public static final int FLAG_MARKERS = 0x80;

	public static final int FLAG_CRC = 0x40;

	public static final int FLAG_REJECT = 0x20;

	public static final int FLAG_ENHANCED = 0x10;

	public static final int REVISION_1 = 1;

	public static final int REVISION_2 = 2;

	public static final int IRD_PEER_TO_PEER = 0x8000;

	public static final int IRD_RTR_SEND = 0x4000;

	public static final int ORD_RTR_WRITE = 0x8000;

	public static final int ORD_RTR_READ = 0x4000;

	public static final int DEPTH_MASK = 0x3FFF;

	/** The depth that says: not negotiated. */
	public static final int DEPTH_NOT_NEGOTIATED = 0x3FFF;

	/** The greatest read depth the fields can express. */
	public static final int MAX_READ_DEPTH = 0x3FFE;

	private static final byte[] REQUEST_KEY = "MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] REPLY_KEY = "MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII);

	private MpaFrameFlyweight() {
	}

	/** Whether the first {@code available} bytes of the key are those of a request. */
	public static boolean beginsRequest(ByteBuffer buffer, int offset, int available) {
		return beginsWith(buffer, offset, available, REQUEST_KEY);
	}

	/** Whether the first {@code available} bytes of the key are those of a reply. */
	public static boolean beginsReply(ByteBuffer buffer, int offset, int available) {
		return beginsWith(buffer, offset, available, REPLY_KEY);
	}

	private static boolean beginsWith(ByteBuffer buffer, int offset, int available, byte[] key) {
		for (int i = 0; i < Math.min(available, KEY_BYTES); i++) {
			if (buffer.get(offset + i) != key[i]) {
				return false;
			}
		}
		return true;
	}

	public static int flags(ByteBuffer buffer, int offset) {
		return buffer.get(offset + FLAGS_OFFSET) & 0xFF;
	}

	public static int revision(ByteBuffer buffer, int offset) {
		return buffer.get(offset + REVISION_OFFSET) & 0xFF;
	}

	public static int privateDataLength(ByteBuffer buffer, int offset) {
		return buffer.getShort(offset + PRIVATE_DATA_LENGTH_OFFSET) & 0xFFFF;
	}

	/** The IRD field with its flags. */
	public static int ird(ByteBuffer buffer, int offset) {
		return buffer.getShort(offset + IRD_OFFSET) & 0xFFFF;
	}

	/** The ORD field with its flags. */
	public static int ord(ByteBuffer buffer, int offset) {
		return buffer.getShort(offset + ORD_OFFSET) & 0xFFFF;
	}

	/** Encodes a frame of revision 2. */
	public static ByteBuffer encodeEnhanced(boolean request, int flags, int ird, int ord, byte[] privateData) {
		ByteBuffer frame = ByteBuffer.allocate(HEADER_BYTES + ENHANCED_BYTES + privateData.length);
		encodeHeader(frame, request, flags | FLAG_ENHANCED, REVISION_2, ENHANCED_BYTES + privateData.length);
		frame.putShort((short) ird).putShort((short) ord);
		return frame.put(privateData).flip();
	}

	/** Encodes a frame without enhanced data. */
	public static ByteBuffer encode(boolean request, int flags, int revision, byte[] privateData) {
		ByteBuffer frame = ByteBuffer.allocate(HEADER_BYTES + privateData.length);
		encodeHeader(frame, request, flags, revision, privateData.length);
		return frame.put(privateData).flip();
	}

	private static void encodeHeader(ByteBuffer frame, boolean request, int flags, int revision, int length) {
		if (length > MAX_PRIVATE_DATA_BYTES) {
			throw new IllegalArgumentException("private data of " + length + " bytes");
		}
		frame.put(request ? REQUEST_KEY : REPLY_KEY);
		frame.put((byte) flags).put((byte) revision).putShort((short) length);
	}

}
