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
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * The arena owns one reference to its chunk and each message one to each chunk that it
 * uses. A count of one therefore says that all messages in it are gone, and the chunk is
 * used from the front again; nobody else can add a reference then. What a message does
 * not use after all is the next one's.
 */
final class FrameArena {

	/** Size of chunks, in bytes, unless something larger must be contiguous. */
	static final int CHUNK_BYTES = 16 * 1024;

	/** The least room in which a message begins, in bytes. */
	private static final int MIN_ROOM_BYTES = 512;

	private final RegisteredMemory memory;

	private @Nullable RegisteredBuffer chunk;

	private @Nullable ByteBuffer view;

	private int start;

	private int end;

	/** Creates an arena without memory yet. */
	FrameArena(RegisteredMemory memory) {
		this.memory = memory;
	}

	/**
	 * Hands out what is left of the chunk, or a new one.
	 * @param message gets a reference to the chunk to keep
	 * @param minBytes least number of bytes needed
	 * @return the memory: absolute access from {@link #start()} to {@link #end()}
	 */
	ByteBuffer claim(MessageSegments message, int minBytes) {
		RegisteredBuffer current = this.chunk;
		if (current != null && current.references() == 1) {
			this.start = current.offset();
		}
		if (current == null || this.end - this.start < Math.max(minBytes, MIN_ROOM_BYTES)
				|| (minBytes <= CHUNK_BYTES && current.capacity() > 2 * CHUNK_BYTES)) {
			current = replaceChunk(Math.max(minBytes, CHUNK_BYTES));
		}
		message.keep(current.retain());
		return Objects.requireNonNull(this.view);
	}

	private RegisteredBuffer replaceChunk(int bytes) {
		RegisteredBuffer created = this.memory.allocate(bytes);
		close();
		this.chunk = created;
		this.view = created.memory();
		this.start = created.offset();
		this.end = this.start + created.capacity();
		return created;
	}

	/** The chunk that was claimed last. */
	RegisteredBuffer chunk() {
		return Objects.requireNonNull(this.chunk);
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
		RegisteredBuffer current = this.chunk;
		this.chunk = null;
		this.view = null;
		this.start = 0;
		this.end = 0;
		if (current != null) {
			current.release();
		}
	}

}
