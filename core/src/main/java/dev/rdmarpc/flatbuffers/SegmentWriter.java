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
import java.nio.ByteOrder;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MessageTooLargeException;
import dev.rdmarpc.codec.SegmentOwner;
import dev.rdmarpc.codec.UnencodableValueException;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * Builds a FlatBuffer front to back into {@link MessageSegments}: parents before
 * children, small things into claimed memory, large ones by reference.
 *
 * <p>
 * Nothing is copied to grow: when the memory at hand is full, building goes on in the
 * next piece. A reference is patched into the parent once the child's position is known.
 * Not thread-safe.
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * Each byte has two addresses: its index in the current memory, and its position in the
 * message. Their difference, {@link #base()}, changes whenever a referenced segment is
 * inserted or the memory is switched. Whoever reserves a block therefore keeps three
 * things to fill it later: the memory, the index and the base as they were then.
 * Alignment is that of the position in the message; indexes may be aligned differently.
 */
final class SegmentWriter {

	/** Bytes of a reference, of a length and of a table's vtable offset. */
	static final int OFFSET_BYTES = 4;

	static final int MAX_ALIGNMENT = 8;

	/** Bytes after a reserved block that may be overwritten at the time. */
	static final int SLACK_BYTES = 8;

	private static final ByteBuffer NONE = ByteBuffer.allocateDirect(0).order(ByteOrder.LITTLE_ENDIAN);

	private static final int MAX_BLOCK_BYTES = Integer.MAX_VALUE - 64;

	private static final int MAX_DIRECT_CHARS = 1 << 16;

	private int gatherThreshold;

	private int maxDepth;

	private @Nullable MessageSegments segments;

	private final @Nullable ScratchArena arena;

	private @Nullable RegisteredBuffer within;

	private ByteBuffer memory = NONE;

	private int capacity;

	private int index;

	private int segmentStart;

	private int base;

	private int depth;

	private long absent;

	private final WrittenVtables vtables = new WrittenVtables();

	/**
	 * Creates a writer.
	 * @param arena where small things are written to, {@code null} for memory claimed
	 * from the segments
	 */
	SegmentWriter(@Nullable ScratchArena arena) {
		this.arena = arena;
	}

	/**
	 * Starts a message. Whatever was begun before is forgotten.
	 * @param segments takes the message; borrowed until {@link #finish} or {@link #abort}
	 * @param gatherThreshold least number of bytes that are referenced and not copied
	 * @param maxDepth tables nested in each other, at most
	 */
	void begin(MessageSegments segments, int gatherThreshold, int maxDepth) {
		this.gatherThreshold = gatherThreshold;
		this.maxDepth = maxDepth;
		this.segments = segments;
		this.depth = 0;
		this.absent = 0;
		this.vtables.clear();
		claim(OFFSET_BYTES, 0);
	}

	private void claim(int minBytes, int position) {
		if (this.arena != null) {
			use(this.arena.claim(segments(), minBytes + SLACK_BYTES, position > 0), this.arena.buffer());
			this.index = this.arena.start();
			this.capacity = this.arena.end() - SLACK_BYTES;
		}
		else {
			use(segments().claimMemory(minBytes + SLACK_BYTES), null);
			this.index = 0;
			this.capacity = this.memory.capacity() - SLACK_BYTES;
		}
		this.segmentStart = this.index;
		this.base = position - this.index;
	}

	@SuppressWarnings("ReferenceEquality") // the same memory, not equal content
	private void use(ByteBuffer claimed, @Nullable RegisteredBuffer buffer) {
		if (this.memory != claimed) {
			this.memory = claimed;
		}
		if (this.within != buffer) {
			this.within = buffer;
		}
	}

	/** Ends the message: all of it is in the segments. */
	void finish() {
		endScratch();
		abort();
	}

	/** Lets go of the segments. */
	void abort() {
		this.segments = null;
		this.capacity = 0;
	}

	/** The memory that the last reserved block lies in. */
	ByteBuffer memory() {
		return this.memory;
	}

	/** What to add to an index in {@link #memory()} to get the position. */
	int base() {
		return this.base;
	}

	/** The position in the message of the next byte. */
	int position() {
		return this.index + this.base;
	}

	/** How many bytes can be reserved in {@link #memory()}. */
	int room() {
		return this.capacity - this.index;
	}

	/**
	 * Reserves a contiguous block whose content the caller will write completely.
	 * @param bytes its size
	 * @param alignment a power of two
	 * @param phase the block's position modulo {@code alignment}
	 * @return its index in {@link #memory()}
	 */
	int reserve(int bytes, int alignment, int phase) {
		int padding = (phase - this.index - this.base) & (alignment - 1);
		if (bytes > this.capacity - this.index - padding) {
			switchMemory(bytes + padding);
		}
		int at = this.index;
		if (padding != 0) {
			this.memory.putLong(at, 0);
		}
		this.index = at + padding + bytes;
		return at + padding;
	}

	/**
	 * Reserves a vector and writes its length. The elements begin {@link #OFFSET_BYTES}
	 * after the index returned; the caller will write them completely.
	 * @param count number of elements
	 * @param elementBytes size of each
	 * @param alignment their alignment
	 * @return the index in {@link #memory()} of its length
	 */
	int reserveVector(int count, int elementBytes, int alignment) {
		int bytes = OFFSET_BYTES + checkedBytes((long) count * elementBytes);
		int widest = Math.max(OFFSET_BYTES, alignment);
		int at = reserve(bytes, widest, widest - OFFSET_BYTES);
		this.memory.putInt(at, count);
		return at;
	}

	private void switchMemory(int minBytes) {
		MessageSegments segments = segments();
		int position = position();
		if (minBytes < 0 || minBytes > segments.maxBytes() - position || minBytes > MAX_BLOCK_BYTES) {
			throw new MessageTooLargeException(segments.maxBytes());
		}
		endScratch();
		claim(minBytes, position);
	}

	private void endScratch() {
		flush();
		if (this.arena != null) {
			this.arena.used(this.index);
		}
	}

	private void flush() {
		int bytes = this.index - this.segmentStart;
		RegisteredBuffer scratch = this.within;
		if (scratch != null) {
			segments().addKept(scratch, this.segmentStart, bytes);
		}
		else {
			segments().add(this.memory, this.segmentStart, bytes);
		}
		this.segmentStart = this.index;
	}

	private int checkedBytes(long bytes) {
		int maxBytes = segments().maxBytes();
		if (bytes > maxBytes - position() || bytes > MAX_BLOCK_BYTES) {
			throw new MessageTooLargeException(maxBytes);
		}
		return (int) bytes;
	}

	private MessageSegments segments() {
		return Objects.requireNonNull(this.segments, "no message begun");
	}

	/**
	 * Writes the characters as a FlatBuffers string.
	 * @return its position in the message
	 * @throws UnencodableValueException if they are not well-formed UTF-16
	 */
	int writeString(String value) {
		int room = 3 * Math.min(value.length(), MAX_DIRECT_CHARS);
		if (value.length() > MAX_DIRECT_CHARS || room > this.capacity - this.index - 2 * OFFSET_BYTES) {
			room = checkedBytes(Utf8.encodedBytes(value));
		}
		int at = reserve(OFFSET_BYTES + room + 1, OFFSET_BYTES, 0);
		int end;
		try {
			end = Utf8.encode(value, this.memory, at + OFFSET_BYTES);
		}
		catch (UnencodableValueException ex) {
			this.index = at;
			throw ex;
		}
		this.memory.put(end, (byte) 0);
		this.memory.putInt(at, end - at - OFFSET_BYTES);
		this.index = end + 1;
		return at + this.base;
	}

	/**
	 * Writes a byte vector, by reference if it is large.
	 * @param value must not change until the segments are cleared
	 * @param alignment of the first byte, 4 or 8
	 * @return its position in the message
	 */
	int writeBytes(byte[] value, int alignment) {
		if (value.length >= this.gatherThreshold) {
			return writeBytes(ByteBuffer.wrap(value), alignment);
		}
		int at = reserveVector(value.length, 1, alignment);
		this.memory.put(at + OFFSET_BYTES, value, 0, value.length);
		return at + this.base;
	}

	/**
	 * Writes the bytes from position to limit as a byte vector, by reference if there are
	 * many.
	 * @param value must not change until the segments are cleared
	 * @param alignment of the first byte, 4 or 8
	 * @return its position in the message
	 */
	int writeBytes(ByteBuffer value, int alignment) {
		int bytes = value.remaining();
		if (bytes < this.gatherThreshold) {
			int at = reserveVector(bytes, 1, alignment);
			this.memory.put(at + OFFSET_BYTES, value, value.position(), bytes);
			return at + this.base;
		}
		int at = reserve(OFFSET_BYTES, alignment, alignment - OFFSET_BYTES);
		this.memory.putInt(at, bytes);
		flush();
		int position = at + this.base;
		segments().add(value, value.position(), bytes);
		this.base += bytes;
		return position;
	}

	/**
	 * Writes a byte vector by reference.
	 * @param value retained until the segments are cleared
	 * @param alignment of the first byte, 4 or 8
	 * @return its position in the message
	 */
	int writeBytes(RegisteredBuffer value, int alignment) {
		int bytes = value.length();
		int at = reserve(OFFSET_BYTES, alignment, alignment - OFFSET_BYTES);
		this.memory.putInt(at, bytes);
		int position = at + this.base;
		if (bytes > 0) {
			RegisteredBuffer scratch = this.within;
			int start = this.segmentStart;
			int end = this.index;
			if (scratch != null) {
				segments().addGathered(scratch, start, end - start, value, bytes);
			}
			else {
				segments().add(this.memory, start, end - start);
				segments().add(value, 0, bytes);
			}
			this.segmentStart = end;
			this.base += bytes;
		}
		return position;
	}

	/** Writes the zero that ends a string whose content was the last segment. */
	void terminate() {
		this.memory.put(reserve(1, 1, 0), (byte) 0);
	}

	/**
	 * Writes a message within the message, by reference.
	 * @param content its segments; borrowed
	 * @param owner keeps them; takes ownership of one reference
	 * @param prefixed whether as a byte vector, with its length in front
	 * @return the position of its first byte in the message
	 */
	int embed(MessageSegments content, SegmentOwner owner, boolean prefixed) {
		segments().keep(owner);
		int prefix = prefixed ? OFFSET_BYTES : 0;
		int at = reserve(prefix, MAX_ALIGNMENT, MAX_ALIGNMENT - prefix);
		if (prefixed) {
			this.memory.putInt(at, content.totalBytes());
		}
		flush();
		int position = position();
		segments().addAll(content);
		this.base += content.totalBytes();
		return position;
	}

	/** Goes one table deeper. */
	void enter() {
		if (this.depth == this.maxDepth) {
			throw new UnencodableValueException("nested deeper than " + this.maxDepth + " tables (is there a cycle?)");
		}
		this.depth++;
	}

	/** Tables nested in each other, at most. */
	int maxDepth() {
		return this.maxDepth;
	}

	/** Comes back from a table. */
	void leave() {
		this.depth--;
	}

	/** The fields of the table being written that were absent so far, a bit set. */
	long absent() {
		return this.absent;
	}

	/** Sets what {@link #absent()} returns. */
	void absent(long fields) {
		this.absent = fields;
	}

	/** Notes that a field of the table being written has no value. */
	void addAbsent(int field) {
		this.absent |= 1L << field;
	}

	/** The vtables that the message has so far. */
	WrittenVtables vtables() {
		return this.vtables;
	}

}
