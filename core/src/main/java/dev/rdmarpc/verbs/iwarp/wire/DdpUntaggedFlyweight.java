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
 * The header of an untagged DDP segment (RFC 5041, section 4.3): the Send family, Read
 * Request and Terminate. Offsets count from the control word.
 *
 * <pre>
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *                                 +-------------------------------+
 *                                 |         control word          |
 * +-------------------------------+-------------------------------+
 * |        STag to invalidate (Send with Invalidate), or 0        |
 * +---------------------------------------------------------------+
 * |                         queue number                          |
 * +---------------------------------------------------------------+
 * |               message sequence number, from 1                 |
 * +---------------------------------------------------------------+
 * |                        message offset                         |
 * +---------------------------------------------------------------+
 * |                            payload                           ...
 * </pre>
 */
public final class DdpUntaggedFlyweight {

	static final int CONTROL_OFFSET = 0;

	static final int INVALIDATE_STAG_OFFSET = 2;

	static final int QUEUE_NUMBER_OFFSET = 6;

	static final int MESSAGE_SEQUENCE_NUMBER_OFFSET = 10;

	static final int MESSAGE_OFFSET_OFFSET = 14;

	public static final int HEADER_BYTES = 18;

	private DdpUntaggedFlyweight() {
	}

	public static int control(ByteBuffer buffer, int offset) {
		return buffer.getShort(offset + CONTROL_OFFSET) & 0xFFFF;
	}

	public static int invalidateStag(ByteBuffer buffer, int offset) {
		return buffer.getInt(offset + INVALIDATE_STAG_OFFSET);
	}

	public static int queueNumber(ByteBuffer buffer, int offset) {
		return buffer.getInt(offset + QUEUE_NUMBER_OFFSET);
	}

	public static int messageSequenceNumber(ByteBuffer buffer, int offset) {
		return buffer.getInt(offset + MESSAGE_SEQUENCE_NUMBER_OFFSET);
	}

	/** The message offset, to be read as unsigned. */
	public static int messageOffset(ByteBuffer buffer, int offset) {
		return buffer.getInt(offset + MESSAGE_OFFSET_OFFSET);
	}

	public static void encode(ByteBuffer buffer, int offset, boolean last, int opcode, int invalidateStag,
			int queueNumber, int messageSequenceNumber, int messageOffset) {
		buffer.putShort(offset + CONTROL_OFFSET, (short) DdpControl.of(false, last, opcode));
		buffer.putInt(offset + INVALIDATE_STAG_OFFSET, invalidateStag);
		buffer.putInt(offset + QUEUE_NUMBER_OFFSET, queueNumber);
		buffer.putInt(offset + MESSAGE_SEQUENCE_NUMBER_OFFSET, messageSequenceNumber);
		buffer.putInt(offset + MESSAGE_OFFSET_OFFSET, messageOffset);
	}

}
