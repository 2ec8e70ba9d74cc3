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
import java.nio.charset.StandardCharsets;

import dev.rdmarpc.codec.MalformedMessageException;

/**
 * An enum constant as its name. Names may be reordered and added to; a receiver that does
 * not know a name rejects the message.
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * Names are found without making strings: a table of at least twice as many places as
 * there are constants, open addressing, compared byte by byte.
 */
final class EnumShape extends ReferenceShape {

	private static final int MAX_NAME_IN_MESSAGE = 64;

	private final Class<?> type;

	private final Enum<?>[] constants;

	private final byte[][] names;

	private final int[] places;

	/** Creates the shape of an enum class. */
	EnumShape(Class<?> type) {
		this.type = type;
		this.constants = (Enum<?>[]) type.getEnumConstants();
		this.names = new byte[this.constants.length][];
		this.places = new int[Integer.highestOneBit(Math.max(1, this.constants.length)) * 4];
		for (int i = 0; i < this.constants.length; i++) {
			this.names[i] = this.constants[i].name().getBytes(StandardCharsets.UTF_8);
			int place = place(ByteBuffer.wrap(this.names[i]), 0, this.names[i].length);
			while (this.places[place] != 0) {
				place = (place + 1) & (this.places.length - 1);
			}
			this.places[place] = i + 1;
		}
	}

	private int place(ByteBuffer memory, int index, int bytes) {
		int hash = bytes;
		for (int i = 0; i < bytes; i++) {
			hash = hash * 31 + memory.get(index + i);
		}
		return (hash ^ (hash >>> 16)) & (this.places.length - 1);
	}

	@Override
	boolean isElement() {
		return true;
	}

	@Override
	@SuppressWarnings("EnumOrdinal") // an index into an array of this process
	int writeTarget(Object value, SegmentWriter out) {
		byte[] name = this.names[((Enum<?>) value).ordinal()];
		int at = out.reserve(OFFSET_BYTES + name.length + 1, OFFSET_BYTES, 0);
		ByteBuffer memory = out.memory();
		memory.putInt(at, name.length);
		memory.put(at + OFFSET_BYTES, name, 0, name.length);
		memory.put(at + OFFSET_BYTES + name.length, (byte) 0);
		return at + out.base();
	}

	@Override
	Object readTarget(MessageReader in, int position) {
		ByteBuffer memory = in.buffer();
		int bytes = in.length(position);
		int place = place(memory, position + OFFSET_BYTES, bytes);
		while (this.places[place] != 0) {
			int constant = this.places[place] - 1;
			if (isName(constant, memory, position + OFFSET_BYTES, bytes)) {
				return this.constants[constant];
			}
			place = (place + 1) & (this.places.length - 1);
		}
		String name = in.string(position);
		throw new MalformedMessageException(this.type.getName() + " has no constant '"
				+ ((name.length() <= MAX_NAME_IN_MESSAGE) ? name : name.substring(0, MAX_NAME_IN_MESSAGE) + "...")
				+ "'");
	}

	private boolean isName(int constant, ByteBuffer memory, int index, int bytes) {
		byte[] name = this.names[constant];
		if (name.length != bytes) {
			return false;
		}
		for (int i = 0; i < bytes; i++) {
			if (name[i] != memory.get(index + i)) {
				return false;
			}
		}
		return true;
	}

	@Override
	void verifyTarget(MessageVerifier in, int position) {
		in.characters(position);
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return "string";
	}

}
