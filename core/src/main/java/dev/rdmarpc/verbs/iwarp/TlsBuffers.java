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
import java.util.ArrayDeque;

/**
 * Memory for TLS records on their way, which streams borrow only while they hold some:
 * connections that are silent take none. Thread-safe.
 *
 * <p>
 * Implementation notes. It is memory of the heap: the JDK encrypts and decrypts arrays in
 * place, and direct memory piece by piece through arrays of its own. That costs more than
 * the copy that a socket makes of what it reads to, or writes from, the heap.
 */
final class TlsBuffers {

	/** Four records of the greatest length, with what surrounds them. */
	static final int BUFFER_BYTES = 68 * 1024;

	/** Buffers kept for the next ones; others are garbage. */
	private static final int MOST_KEPT = 64;

	private final ArrayDeque<ByteBuffer> kept = new ArrayDeque<>();

	/** Borrows an empty buffer. */
	ByteBuffer acquire() {
		synchronized (this.kept) {
			ByteBuffer buffer = this.kept.pollLast();
			if (buffer != null) {
				return buffer.clear();
			}
		}
		return ByteBuffer.allocate(BUFFER_BYTES);
	}

	/** Takes a buffer back. */
	void release(ByteBuffer buffer) {
		synchronized (this.kept) {
			if (this.kept.size() < MOST_KEPT) {
				this.kept.addLast(buffer);
			}
		}
	}

}
