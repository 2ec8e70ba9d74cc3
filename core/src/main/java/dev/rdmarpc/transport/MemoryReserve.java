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

import java.util.ArrayDeque;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * A little registered memory that a loop keeps for what must be said when there is none:
 * credits, signs of life, and that a call has failed. It holds as many pieces as frames
 * are looked at between two flushes.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class MemoryReserve {

	static final int PIECE_BYTES = 256;

	static final int PIECES = 64;

	private final RegisteredMemory memory;

	private final ArrayDeque<RegisteredBuffer> pieces = new ArrayDeque<>(PIECES);

	MemoryReserve(RegisteredMemory memory) {
		this.memory = memory;
	}

	/** Fills it up, as far as there is memory. */
	void refill() {
		while (this.pieces.size() < PIECES) {
			RegisteredBuffer piece = this.memory.tryAllocate(PIECE_BYTES);
			if (piece == null) {
				return;
			}
			this.pieces.add(piece);
		}
	}

	/**
	 * Claims memory, from the reserve if it is little and there is no other.
	 * @return a buffer owned by the caller, or {@code null}
	 */
	@Nullable RegisteredBuffer claim(int bytes) {
		RegisteredBuffer buffer = this.memory.tryAllocate(bytes);
		return (buffer != null || bytes > PIECE_BYTES) ? buffer : this.pieces.poll();
	}

	/** Gives it back. */
	void close() {
		for (RegisteredBuffer piece = this.pieces.poll(); piece != null; piece = this.pieces.poll()) {
			piece.release();
		}
	}

}
