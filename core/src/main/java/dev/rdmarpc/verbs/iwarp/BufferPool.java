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
 * The buffers that connections of a reactor borrow while they hold part of a frame or
 * have something to send, so that idle connections own none. Guarded by the reactor's
 * lock.
 *
 * <p>
 * Keeps a bounded number; more are left to the garbage collector.
 */
final class BufferPool {

	/** Size of a buffer for the rest of a short frame. */
	static final int SMALL_BYTES = 4 * 1024;

	/** Size of a buffer for any frame, and of the staging buffer. */
	static final int LARGE_BYTES = 128 * 1024;

	private static final int KEPT = 64;

	private final ArrayDeque<ByteBuffer> small = new ArrayDeque<>();

	private final ArrayDeque<ByteBuffer> large = new ArrayDeque<>();

	private final ArrayDeque<GatherBatch> batches = new ArrayDeque<>();

	/** Borrows a buffer of at least so many bytes, cleared. */
	ByteBuffer acquire(int bytes) {
		if (bytes > LARGE_BYTES) {
			return ByteBuffer.allocateDirect(bytes);
		}
		boolean fitsSmall = bytes <= SMALL_BYTES;
		ByteBuffer buffer = (fitsSmall ? this.small : this.large).pollLast();
		if (buffer == null) {
			buffer = ByteBuffer.allocateDirect(fitsSmall ? SMALL_BYTES : LARGE_BYTES);
		}
		return buffer.clear();
	}

	void release(ByteBuffer buffer) {
		ArrayDeque<ByteBuffer> kept = (buffer.capacity() == SMALL_BYTES) ? this.small : this.large;
		if (kept.size() < KEPT && buffer.capacity() <= LARGE_BYTES) {
			kept.addLast(buffer);
		}
	}

	/** Borrows an empty batch. */
	GatherBatch acquireBatch() {
		GatherBatch batch = this.batches.pollLast();
		return (batch != null) ? batch : new GatherBatch();
	}

	void releaseBatch(GatherBatch batch) {
		if (this.batches.size() < KEPT) {
			this.batches.addLast(batch);
		}
	}

}
