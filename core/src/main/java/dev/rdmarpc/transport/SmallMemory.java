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

package dev.rdmarpc.transport;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * Memory for small messages that have arrived together: a few pieces are allocated at a
 * time, which costs less than one by one.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class SmallMemory {

	private static final int PIECE_BYTES = 256;

	private static final int MOST_PIECES = 16;

	private final RegisteredMemory memory;

	private final @Nullable RegisteredBuffer[] pieces = new RegisteredBuffer[MOST_PIECES];

	private int count;

	SmallMemory(RegisteredMemory memory) {
		this.memory = memory;
	}

	/**
	 * Claims memory.
	 * @return a buffer of at least that length, owned by the caller, or {@code null} if
	 * there is none
	 */
	@Nullable RegisteredBuffer claim(int bytes) {
		if (bytes > PIECE_BYTES) {
			return this.memory.tryAllocate(bytes);
		}
		if (this.count == 0) {
			this.count = this.memory.tryAllocate(PIECE_BYTES, this.pieces, MOST_PIECES);
			if (this.count == 0) {
				return null;
			}
		}
		RegisteredBuffer piece = this.pieces[--this.count];
		this.pieces[this.count] = null;
		return piece;
	}

	/** Gives back what was not claimed; it can be used again. */
	void close() {
		while (this.count > 0) {
			RegisteredBuffer piece = this.pieces[--this.count];
			this.pieces[this.count] = null;
			if (piece != null) {
				piece.release();
			}
		}
	}

}
