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
import java.nio.charset.StandardCharsets;

/**
 * The data of a ping, as {@code rping} makes it: {@code "rdma-ping-N: "}, then letters
 * that begin one further with each ping, and a zero at the end. There is no zero before
 * the end, because {@code rping} sends its data back as a string.
 */
final class PingData {

	/** The least number of bytes. */
	static final int MIN_BYTES = 16;

	/** The greatest number of bytes; that of {@code rping} is 64 KiB. */
	static final int MAX_BYTES = 16 << 20;

	private static final char FIRST = 'A';

	private static final char LAST = 'z';

	private PingData() {
	}

	/** Fills the first bytes of a buffer with the data of a ping, counted from 0. */
	static void fill(ByteBuffer buffer, int sizeBytes, long ping) {
		byte[] prefix = ("rdma-ping-" + ping + ": ").getBytes(StandardCharsets.US_ASCII);
		int offset = Math.min(prefix.length, sizeBytes - 1);
		buffer.put(0, prefix, 0, offset);
		int letter = (int) (FIRST + ping % (LAST - FIRST + 1));
		for (; offset < sizeBytes - 1; offset++) {
			buffer.put(offset, (byte) letter);
			letter = (letter < LAST) ? letter + 1 : FIRST;
		}
		buffer.put(sizeBytes - 1, (byte) 0);
	}

	/** Overwrites the first bytes of a buffer, so that what is there later came later. */
	static void clear(ByteBuffer buffer, int sizeBytes) {
		for (int i = 0; i < sizeBytes; i++) {
			buffer.put(i, (byte) 0);
		}
	}

	/**
	 * Fails unless the first bytes of two buffers are the same, naming the first that is
	 * not.
	 */
	static void check(ByteBuffer expected, ByteBuffer actual, int sizeBytes, String what) {
		int different = expected.slice(0, sizeBytes).mismatch(actual.slice(0, sizeBytes));
		if (different >= 0) {
			throw PingException.of("%s is wrong: byte %d of %d is 0x%02x (expected: 0x%02x)", what, different,
					sizeBytes, actual.get(different), expected.get(different));
		}
	}

}
