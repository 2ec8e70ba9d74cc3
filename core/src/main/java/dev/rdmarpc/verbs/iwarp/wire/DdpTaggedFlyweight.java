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
 * The header of a tagged DDP segment (RFC 5041, section 4.2): RDMA Write and Read
 * Response. Offsets count from the control word.
 *
 * <pre>
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *                                 +-------------------------------+
 *                                 |         control word          |
 * +-------------------------------+-------------------------------+
 * |                             STag                              |
 * +---------------------------------------------------------------+
 * |                                                               |
 * +                         tagged offset                         +
 * |                                                               |
 * +---------------------------------------------------------------+
 * |                            payload                           ...
 * </pre>
 */
public final class DdpTaggedFlyweight {

	static final int CONTROL_OFFSET = 0;

	static final int STAG_OFFSET = 2;

	static final int TAGGED_OFFSET_OFFSET = 6;

	public static final int HEADER_BYTES = 14;

	private DdpTaggedFlyweight() {
	}

	public static int control(ByteBuffer buffer, int offset) {
		return buffer.getShort(offset + CONTROL_OFFSET) & 0xFFFF;
	}

	public static int stag(ByteBuffer buffer, int offset) {
		return buffer.getInt(offset + STAG_OFFSET);
	}

	public static long taggedOffset(ByteBuffer buffer, int offset) {
		return buffer.getLong(offset + TAGGED_OFFSET_OFFSET);
	}

	public static void encode(ByteBuffer buffer, int offset, boolean last, int opcode, int stag, long taggedOffset) {
		buffer.putShort(offset + CONTROL_OFFSET, (short) DdpControl.of(true, last, opcode));
		buffer.putInt(offset + STAG_OFFSET, stag);
		buffer.putLong(offset + TAGGED_OFFSET_OFFSET, taggedOffset);
	}

}
