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

package dev.rdmarpc.tools.ping;

import java.nio.ByteBuffer;

import dev.rdmarpc.verbs.RemoteRegion;

/**
 * The layout of the one message of the protocol: memory that the responder may use.
 *
 * <pre>
 *   0                               8               12              16
 *  +-------------------------------+---------------+---------------+
 *  |            address            |      key      |  length bytes |
 *  +-------------------------------+---------------+---------------+
 * </pre>
 *
 * All integers are big-endian. Source: the traffic of {@code rping}, see its manual page.
 */
final class AdvertisementDescriptor {

	/** Number of bytes. */
	static final int LENGTH_BYTES = 16;

	private static final int ADDRESS_OFFSET = 0;

	private static final int KEY_OFFSET = 8;

	private static final int SIZE_OFFSET = 12;

	private AdvertisementDescriptor() {
	}

	/** Puts an advertisement into a big-endian buffer. */
	static void encode(ByteBuffer buffer, int offset, RemoteRegion region) {
		buffer.putLong(offset + ADDRESS_OFFSET, region.address());
		buffer.putInt(offset + KEY_OFFSET, region.key());
		buffer.putInt(offset + SIZE_OFFSET, (int) region.lengthBytes());
	}

	/** Takes an advertisement from a big-endian buffer. */
	static RemoteRegion decode(ByteBuffer buffer, int offset) {
		return new RemoteRegion(buffer.getLong(offset + ADDRESS_OFFSET), buffer.getInt(offset + KEY_OFFSET),
				Integer.toUnsignedLong(buffer.getInt(offset + SIZE_OFFSET)));
	}

}
