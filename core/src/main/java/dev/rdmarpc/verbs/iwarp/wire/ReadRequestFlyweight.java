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
 * The header of an RDMA Read Request (RFC 5040, section 4.4), which follows the untagged
 * DDP header. Offsets count from its own first byte.
 *
 * <pre>
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +---------------------------------------------------------------+
 * |                        data sink STag                         |
 * +---------------------------------------------------------------+
 * |                                                               |
 * +                    data sink tagged offset                    +
 * |                                                               |
 * +---------------------------------------------------------------+
 * |                    RDMA Read message size                     |
 * +---------------------------------------------------------------+
 * |                       data source STag                        |
 * +---------------------------------------------------------------+
 * |                                                               |
 * +                   data source tagged offset                   +
 * |                                                               |
 * +---------------------------------------------------------------+
 * </pre>
 */
public final class ReadRequestFlyweight {

	static final int SINK_STAG_OFFSET = 0;

	static final int SINK_TAGGED_OFFSET_OFFSET = 4;

	static final int SIZE_OFFSET = 12;

	static final int SOURCE_STAG_OFFSET = 16;

	static final int SOURCE_TAGGED_OFFSET_OFFSET = 20;

	public static final int HEADER_BYTES = 28;

	private ReadRequestFlyweight() {
	}

	public static int sinkStag(ByteBuffer buffer, int offset) {
		return buffer.getInt(offset + SINK_STAG_OFFSET);
	}

	public static long sinkTaggedOffset(ByteBuffer buffer, int offset) {
		return buffer.getLong(offset + SINK_TAGGED_OFFSET_OFFSET);
	}

	public static long size(ByteBuffer buffer, int offset) {
		return Integer.toUnsignedLong(buffer.getInt(offset + SIZE_OFFSET));
	}

	public static int sourceStag(ByteBuffer buffer, int offset) {
		return buffer.getInt(offset + SOURCE_STAG_OFFSET);
	}

	public static long sourceTaggedOffset(ByteBuffer buffer, int offset) {
		return buffer.getLong(offset + SOURCE_TAGGED_OFFSET_OFFSET);
	}

	public static void encode(ByteBuffer buffer, int offset, int sinkStag, long sinkTaggedOffset, long size,
			int sourceStag, long sourceTaggedOffset) {
		buffer.putInt(offset + SINK_STAG_OFFSET, sinkStag);
		buffer.putLong(offset + SINK_TAGGED_OFFSET_OFFSET, sinkTaggedOffset);
		buffer.putInt(offset + SIZE_OFFSET, (int) size);
		buffer.putInt(offset + SOURCE_STAG_OFFSET, sourceStag);
		buffer.putLong(offset + SOURCE_TAGGED_OFFSET_OFFSET, sourceTaggedOffset);
	}

}
