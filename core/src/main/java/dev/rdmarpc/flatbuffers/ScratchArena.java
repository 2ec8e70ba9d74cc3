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

package dev.rdmarpc.flatbuffers;

import java.nio.ByteBuffer;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * Registered memory for the small parts of messages, handed out from front to back of a
 * chunk. A chunk lives as long as a message that has parts in it.
 *
 * <p>
 * Not thread-safe, but messages may be released by any thread.
 */
final class ScratchArena {

	/** Size of the first chunk, in bytes. Messages that need more make it larger. */
	static final int CHUNK_BYTES = 16 * 1024;

	/** The least room in which a message begins, in bytes. */
	private static final int MIN_ROOM_BYTES = 512;

	/** The largest chunk, in bytes, unless something larger must be contiguous. */
	private static final int MAX_CHUNK_BYTES = 8 * CHUNK_BYTES;

	private final RegisteredMemory memory;

	private @Nullable ScratchChunk chunk;

	private @Nullable ByteBuffer view;

	private int front;

	private int start;

	private int end;

	private int chunkBytes = CHUNK_BYTES;

	/** Creates an arena without memory yet. */
	ScratchArena(RegisteredMemory memory) {
		this.memory = memory;
	}

	/**
	 * Hands out what is left of the chunk, or a new one.
	 * @param message gets a reference to the chunk to keep
	 * @param minBytes least number of bytes needed
	 * @param more whether the message has a chunk already
	 * @return the memory: absolute access from {@link #start()} to {@link #end()}
	 */
	ByteBuffer claim(MessageSegments message, int minBytes, boolean more) {
		ScratchChunk current = this.chunk;
		if (current != null && current.isUnused()) {
			this.start = this.front;
		}
		if (current == null || this.end - this.start < Math.max(minBytes, MIN_ROOM_BYTES)
				|| (this.end - this.front > MAX_CHUNK_BYTES && !more)) {
			if (more) {
				this.chunkBytes = Math.min(2 * this.chunkBytes, MAX_CHUNK_BYTES);
			}
			current = replaceChunk(Math.max(minBytes, this.chunkBytes));
		}
		message.keep(current.use());
		return Objects.requireNonNull(this.view);
	}

	private ScratchChunk replaceChunk(int bytes) {
		RegisteredBuffer buffer = this.memory.allocate(bytes);
		close();
		ScratchChunk created = new ScratchChunk(buffer);
		this.chunk = created;
		this.view = buffer.memory();
		this.front = buffer.offset();
		this.start = this.front;
		this.end = this.front + buffer.capacity();
		return created;
	}

	/** The memory that was claimed last. */
	RegisteredBuffer buffer() {
		return Objects.requireNonNull(this.chunk).buffer();
	}

	/** Index of the first byte that may be written. */
	int start() {
		return this.start;
	}

	/** Index after the last byte that may be written. */
	int end() {
		return this.end;
	}

	/**
	 * Ends a message, or its part in this chunk: what comes next begins after it.
	 * @param index after the last byte written
	 */
	void used(int index) {
		this.start = Math.min(this.end, (index + 7) & -8);
	}

	/** Gives the chunk back; messages in it keep it alive. */
	void close() {
		ScratchChunk current = this.chunk;
		this.chunk = null;
		this.view = null;
		this.front = 0;
		this.start = 0;
		this.end = 0;
		if (current != null) {
			current.retire();
		}
	}

}
