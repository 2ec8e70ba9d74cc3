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
import java.nio.charset.StandardCharsets;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.ValuesTooLargeException;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * Reads one verified message. Reused; not thread-safe.
 */
final class MessageReader {

	private static final int MAX_RETAINED_TEXT_BYTES = 64 * 1024;

	/** Comparisons of keys of one hash code that every message may make. */
	private static final int FREE_COLLISIONS = 1 << 20;

	private static final int COLLISIONS_PER_BYTE = 2;

	/** Characters or bytes that are compared as fast as one element. */
	private static final int BYTES_SHIFT = 4;

	private static final ByteBuffer NONE = ByteBuffer.allocate(0);

	private final MessageVerifier verifier;

	private ByteBuffer buffer = NONE;

	private @Nullable ReceivedMemory memory;

	private byte[] text = new byte[256];

	private long work;

	private long collisionBudget;

	/** Creates a reader that verifies with that verifier. */
	MessageReader(MessageVerifier verifier) {
		this.verifier = verifier;
	}

	/** The verifier that goes with it. */
	MessageVerifier verifier() {
		return this.verifier;
	}

	/** The message, or a view of it that has the byte order of FlatBuffers. */
	static ByteBuffer littleEndian(ByteBuffer message) {
		return (message.order() == ByteOrder.LITTLE_ENDIAN) ? message
				: message.duplicate().order(ByteOrder.LITTLE_ENDIAN);
	}

	/** Starts with a message. */
	void begin(ByteBuffer buffer, ReceivedMemory memory) {
		this.buffer = buffer;
		this.collisionBudget = FREE_COLLISIONS + COLLISIONS_PER_BYTE * (long) buffer.remaining();
		this.memory = memory;
	}

	/**
	 * How much was read so far that comparing takes time for: tables, elements and bytes.
	 */
	long work() {
		return this.work;
	}

	/** A table is about to be read. */
	void table() {
		this.work++;
	}

	/** The number of elements of a vector, which are about to be read. */
	int elements(int position) {
		int count = length(position);
		this.work += count;
		return count;
	}

	/**
	 * Charges that a key is compared with others.
	 * @param others how many
	 * @param since what {@link #work()} was before the key was read
	 * @throws ValuesTooLargeException if keys of one hash code are too many
	 */
	void compare(int others, long since) {
		this.collisionBudget -= others * Math.max(1, this.work - since);
		if (this.collisionBudget < 0) {
			throw new ValuesTooLargeException(
					"too many keys of a set or map have the same hash code (expected: hash codes that differ)");
		}
	}

	/** Lets go of the message. */
	void end() {
		this.buffer = NONE;
		this.memory = null;
		this.verifier.end();
	}

	/** The message's memory, little-endian. */
	ByteBuffer buffer() {
		return this.buffer;
	}

	/** The offset of a field from its table's begin, 0 if it is absent. */
	int fieldOffset(int vtable, int vtableBytes, int entry) {
		return (entry < vtableBytes) ? this.buffer.getShort(vtable + entry) & 0xFFFF : 0;
	}

	/** The position a reference points to. */
	int follow(int slot) {
		return slot + this.buffer.getInt(slot);
	}

	/** The length of a vector or string. */
	int length(int position) {
		return this.buffer.getInt(position);
	}

	/** A string, given the position of its length. */
	String string(int position) {
		int bytes = length(position);
		if (bytes == 0) {
			return "";
		}
		this.work += bytes >> BYTES_SHIFT;
		byte[] text = this.text;
		if (bytes > text.length) {
			text = new byte[bytes];
			if (bytes <= MAX_RETAINED_TEXT_BYTES) {
				this.text = text;
			}
		}
		this.buffer.get(position + SegmentWriter.OFFSET_BYTES, text, 0, bytes);
		return new String(text, 0, bytes, StandardCharsets.UTF_8);
	}

	/** A copy of a byte vector, given the position of its length. */
	byte[] bytes(int position) {
		return memory().bytes(this.buffer, position + SegmentWriter.OFFSET_BYTES, comparedBytes(position));
	}

	/**
	 * A read-only view of a byte vector, in the byte order of new ones, given the
	 * position of its length.
	 */
	ByteBuffer view(int position) {
		return memory().view(this.buffer, position + SegmentWriter.OFFSET_BYTES, comparedBytes(position));
	}

	private int comparedBytes(int position) {
		int bytes = length(position);
		this.work += bytes >> BYTES_SHIFT;
		return bytes;
	}

	/** A byte vector as part of the received memory, given the position of its length. */
	RegisteredBuffer registered(int position) {
		return memory().slice(position + SegmentWriter.OFFSET_BYTES, length(position));
	}

	/** What the message was received in. */
	ReceivedMemory memory() {
		return Objects.requireNonNull(this.memory, "no message begun");
	}

}
