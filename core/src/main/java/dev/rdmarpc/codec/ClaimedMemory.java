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

/**
 * Direct memory for a message to be written to. The first chunk is kept and used again,
 * others go back to the {@link ChunkPool}, so that an idle object holds little.
 */
final class ClaimedMemory {

	private static final int FIRST_CHUNK_BYTES = 4 * 1024;

	private static final int SECOND_CHUNK_BYTES = 64 * 1024;

	private static final int MAX_CHUNK_BYTES = 1024 * 1024;

	private @Nullable ByteBuffer first;

	private boolean firstInUse;

	private @Nullable ByteBuffer[] others = new ByteBuffer[4];

	private int otherCount;

	/** See {@link MessageSegments#claimMemory}. */
	ByteBuffer claim(int minBytes) {
		if (!this.firstInUse && minBytes <= FIRST_CHUNK_BYTES) {
			this.firstInUse = true;
			ByteBuffer chunk = this.first;
			if (chunk == null) {
				chunk = ByteBuffer.allocateDirect(FIRST_CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
				this.first = chunk;
			}
			return chunk;
		}
		int bytes = (this.otherCount == 0) ? SECOND_CHUNK_BYTES : MAX_CHUNK_BYTES;
		ByteBuffer chunk = ChunkPool.take(Math.max(bytes, minBytes));
		if (this.otherCount == this.others.length) {
			this.others = Arrays.copyOf(this.others, this.otherCount * 2);
		}
		this.others[this.otherCount] = chunk;
		this.otherCount++;
		return chunk;
	}

	/** Takes everything back. */
	void reclaim() {
		this.firstInUse = false;
		while (this.otherCount > 0) {
			this.otherCount--;
			ChunkPool.giveBack(Objects.requireNonNull(this.others[this.otherCount]));
			this.others[this.otherCount] = null;
		}
	}

}
