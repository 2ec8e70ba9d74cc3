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
import java.util.Arrays;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MessageTooLargeException;
import dev.rdmarpc.codec.UnencodableValueException;

/**
 * Builds a FlatBuffer front to back into {@link MessageSegments}: parents before
 * children, small things into claimed memory, large ones by reference.
 *
 * <p>
 * The size need not be known beforehand and nothing is copied to grow: when the memory at
 * hand is full, building goes on in the next piece. A reference from parent to child is
 * patched into the parent once the child's position is known.
 *
 * <p>
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
final class GatherBuilder {

	/** Bytes of a reference, of a vector's length and of a table's vtable offset. */
	static final int OFFSET_BYTES = 4;

	private static final ByteBuffer NONE = ByteBuffer.allocateDirect(0).order(ByteOrder.LITTLE_ENDIAN);

	private static final int VTABLE_VARIANTS = 8;

	private static final int MAX_DIRECT_CHARS = 1 << 16;

	private int gatherThreshold;

	private int maxDepth;

	private @Nullable MessageSegments segments;

	private ByteBuffer memory = NONE;

	private int capacity;

	private int index;

	private int segmentStart;

	private int base;

	private int depth;

	private long absent;

	private int message;

	private @Nullable Variants[] variants = new Variants[16];

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
		this.memory = segments.claimMemory(OFFSET_BYTES);
		this.capacity = this.memory.capacity();
		this.index = 0;
		this.segmentStart = 0;
		this.base = 0;
		this.depth = 0;
		this.absent = 0;
		this.message++;
	}

	/** Ends the message: all of it is in the segments. */
	void finish() {
		flush();
		abort();
	}

	/** Lets go of the segments. */
	void abort() {
		this.segments = null;
		this.memory = NONE;
		this.capacity = 0;
	}

	/** The memory that the last reserved block lies in. */
	ByteBuffer memory() {
		return this.memory;
	}

	/**
	 * What to add to an index in {@link #memory()} to get the position in the message.
	 */
	int base() {
		return this.base;
	}

	/** The position in the message of the next byte. */
	int position() {
		return this.index + this.base;
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
		ByteBuffer memory = this.memory;
		int at = this.index;
		for (int i = 0; i < padding; i++) {
			memory.put(at + i, (byte) 0);
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
		int at = (alignment <= OFFSET_BYTES) ? reserve(bytes, OFFSET_BYTES, 0)
				: reserve(bytes, alignment, alignment - OFFSET_BYTES);
		this.memory.putInt(at, count);
		return at;
	}

	private void switchMemory(int minBytes) {
		MessageSegments segments = segments();
		int position = position();
		if (minBytes < 0 || minBytes > segments.maxBytes() - position) {
			throw new MessageTooLargeException(segments.maxBytes());
		}
		flush();
		this.memory = segments.claimMemory(minBytes);
		this.capacity = this.memory.capacity();
		this.index = 0;
		this.segmentStart = 0;
		this.base = position;
	}

	private void flush() {
		segments().add(this.memory, this.segmentStart, this.index - this.segmentStart);
		this.segmentStart = this.index;
	}

	private int checkedBytes(long bytes) {
		int maxBytes = segments().maxBytes();
		if (bytes > maxBytes - position() || bytes > Integer.MAX_VALUE - 64) {
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
		int end = Utf8.encode(value, this.memory, at + OFFSET_BYTES);
		this.memory.put(end, (byte) 0);
		this.memory.putInt(at, end - at - OFFSET_BYTES);
		this.index = end + 1;
		return at + this.base;
	}

	/**
	 * Writes encoded text as a FlatBuffers string.
	 * @param value well-formed UTF-8
	 * @return its position in the message
	 */
	int writeString(byte[] value) {
		int at = reserve(OFFSET_BYTES + value.length + 1, OFFSET_BYTES, 0);
		this.memory.putInt(at, value.length);
		this.memory.put(at + OFFSET_BYTES, value, 0, value.length);
		this.memory.put(at + OFFSET_BYTES + value.length, (byte) 0);
		return at + this.base;
	}

	/**
	 * Writes a byte vector, by reference if it is large.
	 * @param value must not change until the segments are cleared
	 * @return its position in the message
	 */
	int writeBytes(byte[] value) {
		if (value.length >= this.gatherThreshold) {
			return writeBytes(ByteBuffer.wrap(value), 1);
		}
		int at = reserveVector(value.length, 1, 1);
		this.memory.put(at + OFFSET_BYTES, value, 0, value.length);
		return at + this.base;
	}

	/**
	 * Writes the bytes from position to limit as a byte vector, by reference if there are
	 * many.
	 * @param value must not change until the segments are cleared
	 * @param alignment of the first byte, from 1 to 8
	 * @return its position in the message
	 */
	int writeBytes(ByteBuffer value, int alignment) {
		int bytes = value.remaining();
		if (bytes < this.gatherThreshold) {
			int at = reserveVector(bytes, 1, alignment);
			this.memory.put(at + OFFSET_BYTES, value, value.position(), bytes);
			return at + this.base;
		}
		MessageSegments segments = segments();
		int at = reserveVector(0, 1, alignment);
		this.memory.putInt(at, bytes);
		int position = at + this.base;
		flush();
		segments.add(value, value.position(), bytes);
		this.base += bytes;
		return position;
	}

	/** Goes one table deeper. */
	void enter() {
		if (++this.depth > this.maxDepth) {
			throw new UnencodableValueException("nested deeper than " + this.maxDepth + " tables (is there a cycle?)");
		}
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

	/**
	 * The position of the vtable of a table type, written if this message has none yet
	 * for that set of absent fields.
	 * @param layout the table type
	 * @param absent its fields without value, a bit set
	 */
	int vtable(TableLayout layout, long absent) {
		int id = layout.id();
		Variants known = (id < this.variants.length) ? this.variants[id] : null;
		if (known == null) {
			known = createVariants(id);
		}
		if (known.message != this.message) {
			known.message = this.message;
			known.count = 0;
		}
		for (int i = 0; i < known.count; i++) {
			if (known.absent[i] == absent) {
				return known.positions[i];
			}
		}
		int position = layout.writeVtable(this, absent);
		if (known.count < VTABLE_VARIANTS) {
			known.absent[known.count] = absent;
			known.positions[known.count] = position;
			known.count++;
		}
		return position;
	}

	private Variants createVariants(int id) {
		if (id >= this.variants.length) {
			this.variants = Arrays.copyOf(this.variants, Math.max(id + 1, this.variants.length * 2));
		}
		Variants created = new Variants();
		this.variants[id] = created;
		return created;
	}

	/** The vtables that one message has for one table type. */
	private static final class Variants {

		private final long[] absent = new long[VTABLE_VARIANTS];

		private final int[] positions = new int[VTABLE_VARIANTS];

		private int message;

		private int count;

	}

}
