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

package dev.rdmarpc.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/** Direct memory for messages to be written to, in chunks that are used again. */
final class ClaimedMemory {

	private static final int FIRST_CHUNK_BYTES = 4 * 1024;

	private static final int MAX_CHUNK_BYTES = 1024 * 1024;

	private static final int RETAINED_BYTES = 2 * MAX_CHUNK_BYTES;

	private @Nullable ByteBuffer[] chunks = new ByteBuffer[4];

	private int chunkCount;

	private int chunksInUse;

	private long bytes;

	/** See {@link MessageSegments#claimMemory}. */
	ByteBuffer claim(int minBytes) {
		while (this.chunksInUse < this.chunkCount) {
			ByteBuffer chunk = Objects.requireNonNull(this.chunks[this.chunksInUse]);
			this.chunksInUse++;
			if (chunk.capacity() >= minBytes) {
				return chunk;
			}
		}
		int bytes = (this.chunkCount == 0) ? FIRST_CHUNK_BYTES
				: Math.min(2 * Objects.requireNonNull(this.chunks[this.chunkCount - 1]).capacity(), MAX_CHUNK_BYTES);
		ByteBuffer chunk = ByteBuffer.allocateDirect(Math.max(bytes, minBytes)).order(ByteOrder.LITTLE_ENDIAN);
		if (this.chunkCount == this.chunks.length) {
			this.chunks = Arrays.copyOf(this.chunks, this.chunkCount * 2);
		}
		this.chunks[this.chunkCount] = chunk;
		this.chunkCount++;
		this.chunksInUse = this.chunkCount;
		this.bytes += chunk.capacity();
		return chunk;
	}

	/** Takes everything back, and lets go of what is too much to be kept. */
	void reclaim() {
		this.chunksInUse = 0;
		while (this.bytes > RETAINED_BYTES) {
			this.chunkCount--;
			this.bytes -= Objects.requireNonNull(this.chunks[this.chunkCount]).capacity();
			this.chunks[this.chunkCount] = null;
		}
	}

}
