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

package dev.rdmarpc.memory;

import java.nio.ByteBuffer;

/** What released memory contains in paranoid mode, so that writes to it are noticed. */
final class FillPattern {

	private static final byte FILL = (byte) 0xDB;

	private static final long FILL_LONG = 0xDBDBDBDBDBDBDBDBL;

	private FillPattern() {
	}

	static void write(ByteBuffer memory, int offset, int lengthBytes) {
		int end = offset + lengthBytes;
		int at = offset;
		for (; at + Long.BYTES <= end; at += Long.BYTES) {
			memory.putLong(at, FILL_LONG);
		}
		for (; at < end; at++) {
			memory.put(at, FILL);
		}
	}

	/** The first offset that contains something else, or -1. */
	static int find(ByteBuffer memory, int offset, int lengthBytes) {
		int end = offset + lengthBytes;
		int at = offset;
		while (at + Long.BYTES <= end && memory.getLong(at) == FILL_LONG) {
			at += Long.BYTES;
		}
		while (at < end && memory.get(at) == FILL) {
			at++;
		}
		return (at < end) ? at : -1;
	}

}
