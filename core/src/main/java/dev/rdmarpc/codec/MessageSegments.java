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
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * An encoded message: an ordered list of pieces of memory whose concatenation is the
 * message. Made to be kept and used again; once warm it allocates nothing.
 *
 * <p>
 * Codecs write small things into memory claimed from here ({@link #claimMemory}) and
 * append what they wrote; large things they append where they are. The transport copies
 * slices of the whole ({@link #copyTo(int, ByteBuffer)}) or walks the segments.
 *
 * <p>
 * Ownership: claimed memory belongs to this object and is valid until {@link #clear()}.
 * Appended foreign memory is borrowed until then and must not change.
 *
 * <p>
 * Not thread-safe; may be handed from thread to thread with a happens-before edge.
 */
public final class MessageSegments {

	private static final int FIRST_CHUNK_BYTES = 4 * 1024;

	private static final int MAX_CHUNK_BYTES = 1024 * 1024;

	private static final int RETAINED_BYTES = 2 * MAX_CHUNK_BYTES;

	private static final int INITIAL_SEGMENTS = 4;

	private @Nullable ByteBuffer[] memory = new ByteBuffer[INITIAL_SEGMENTS];

	private int[] offsets = new int[INITIAL_SEGMENTS];

	private int[] lengths = new int[INITIAL_SEGMENTS];

	private int segmentCount;

	private int totalBytes;

	private int maxBytes = Integer.MAX_VALUE;

	private @Nullable ByteBuffer[] chunks = new ByteBuffer[INITIAL_SEGMENTS];

	private int chunkCount;

	private int chunksInUse;

	private @Nullable Object workspace;

	/**
	 * The largest message this object takes, in bytes.
	 * @return the limit, {@link Integer#MAX_VALUE} unless set
	 */
	public int maxBytes() {
		return this.maxBytes;
	}

	/**
	 * Limits the size of messages from here on, {@link #clear()} notwithstanding.
	 * @param maxBytes the limit, at least 0
	 */
	public MessageSegments maxBytes(int maxBytes) {
		if (maxBytes < 0) {
			throw new IllegalArgumentException("maxBytes " + maxBytes + " (expected: at least 0)");
		}
		this.maxBytes = maxBytes;
		return this;
	}

	/** Number of bytes of the message. */
	public int totalBytes() {
		return this.totalBytes;
	}

	/** Number of segments. */
	public int segmentCount() {
		return this.segmentCount;
	}

	/** The memory of a segment; absolute access only, positions mean nothing. */
	public ByteBuffer segmentMemory(int index) {
		return Objects.requireNonNull(this.memory[Objects.checkIndex(index, this.segmentCount)]);
	}

	/** The offset of a segment within its memory, in bytes. */
	public int segmentOffset(int index) {
		return this.offsets[Objects.checkIndex(index, this.segmentCount)];
	}

	/** The length of a segment, in bytes. */
	public int segmentLength(int index) {
		return this.lengths[Objects.checkIndex(index, this.segmentCount)];
	}

	/**
	 * Copies the whole message to the target's position, which advances.
	 * @throws java.nio.BufferOverflowException if it does not fit
	 */
	public void copyTo(ByteBuffer target) {
		if (target.remaining() < this.totalBytes) {
			throw new java.nio.BufferOverflowException();
		}
		copyTo(0, target);
	}

	/**
	 * Copies a slice of the message to the target's position, which advances: as many
	 * bytes as the target has room for or the message has left.
	 * @param fromOffset first byte of the slice, from 0 to {@link #totalBytes()}
	 * @return number of bytes copied
	 */
	public int copyTo(int fromOffset, ByteBuffer target) {
		Objects.checkFromToIndex(fromOffset, this.totalBytes, this.totalBytes);
		int skip = fromOffset;
		int start = target.position();
		for (int i = 0; i < this.segmentCount && target.hasRemaining(); i++) {
			int length = this.lengths[i];
			if (skip >= length) {
				skip -= length;
				continue;
			}
			int bytes = Math.min(length - skip, target.remaining());
			int position = target.position();
			target.put(position, segmentMemory(i), this.offsets[i] + skip, bytes);
			target.position(position + bytes);
			skip = 0;
		}
		return target.position() - start;
	}

	/**
	 * Appends the bytes between position and limit of a buffer, which is borrowed.
	 * @throws MessageTooLargeException if the message exceeds {@link #maxBytes()}
	 */
	public void addBytes(ByteBuffer bytes) {
		add(bytes, bytes.position(), bytes.remaining());
	}

	/**
	 * Appends part of a buffer. Continues the last segment if it ends where this begins.
	 * @param memory the memory, borrowed
	 * @param offset first byte, absolute
	 * @param lengthBytes number of bytes
	 * @throws MessageTooLargeException if the message exceeds {@link #maxBytes()}
	 */
	@SuppressWarnings("ReferenceEquality") // the same memory, not equal content
	public void add(ByteBuffer memory, int offset, int lengthBytes) {
		Objects.checkFromIndexSize(offset, lengthBytes, memory.capacity());
		if (lengthBytes > this.maxBytes - this.totalBytes) {
			throw new MessageTooLargeException(this.maxBytes);
		}
		if (lengthBytes == 0) {
			return;
		}
		this.totalBytes += lengthBytes;
		int last = this.segmentCount - 1;
		if (last >= 0 && this.memory[last] == memory && this.offsets[last] + this.lengths[last] == offset) {
			this.lengths[last] += lengthBytes;
			return;
		}
		if (this.segmentCount == this.memory.length) {
			growSegments();
		}
		this.memory[this.segmentCount] = memory;
		this.offsets[this.segmentCount] = offset;
		this.lengths[this.segmentCount] = lengthBytes;
		this.segmentCount++;
	}

	private void growSegments() {
		int capacity = this.segmentCount * 2;
		this.memory = Arrays.copyOf(this.memory, capacity);
		this.offsets = Arrays.copyOf(this.offsets, capacity);
		this.lengths = Arrays.copyOf(this.lengths, capacity);
	}

	/**
	 * Hands out memory for a codec to write to. It appears in the message only through
	 * {@link #add}.
	 * @param minBytes least number of bytes needed
	 * @return a direct, little-endian buffer of at least that capacity, exclusively the
	 * codec's until {@link #clear()}; absolute access only
	 */
	public ByteBuffer claimMemory(int minBytes) {
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
		return chunk;
	}

	/**
	 * The codec's own state that travels with this object, so that it is reused without
	 * thread-locals.
	 * @param type its class
	 * @param factory makes one when there is none of that class yet
	 */
	public <W> W workspace(Class<W> type, Supplier<W> factory) {
		Object present = this.workspace;
		if (type.isInstance(present)) {
			return type.cast(present);
		}
		W created = factory.get();
		this.workspace = created;
		return created;
	}

	/** Empties the message and lets go of foreign memory. */
	public void clear() {
		Arrays.fill(this.memory, 0, this.segmentCount, null);
		this.segmentCount = 0;
		this.totalBytes = 0;
		this.chunksInUse = 0;
		long retained = 0;
		for (int i = 0; i < this.chunkCount; i++) {
			retained += Objects.requireNonNull(this.chunks[i]).capacity();
			if (retained > RETAINED_BYTES) {
				Arrays.fill(this.chunks, i, this.chunkCount, null);
				this.chunkCount = i;
			}
		}
	}

}
