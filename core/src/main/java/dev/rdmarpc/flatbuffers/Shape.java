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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.UnencodableValueException;

/**
 * How values of one Java type lie in messages: how many bytes they take where they are
 * declared, how they are written, verified and read.
 *
 * <p>
 * A <em>slot</em> is those bytes: the value itself for scalars and structs, otherwise a
 * reference to it. Immutable once the compiler has linked it.
 */
abstract class Shape {

	private final int slotBytes;

	private final int alignment;

	/** Creates a shape with slots of that size and alignment. */
	Shape(int slotBytes, int alignment) {
		this.slotBytes = slotBytes;
		this.alignment = alignment;
	}

	/** Size of a slot. */
	final int slotBytes() {
		return this.slotBytes;
	}

	/** Alignment of a slot, from 1 to 8. */
	final int alignment() {
		return this.alignment;
	}

	/** Number of table fields it takes: two for unions, otherwise one. */
	int fieldCount() {
		return 1;
	}

	/** Size of the slot of one of its fields. */
	int slotBytes(int field) {
		return this.slotBytes;
	}

	/** Alignment of the slot of one of its fields. */
	int alignment(int field) {
		return this.alignment;
	}

	/** Whether a slot of verified bounds needs no further verification. */
	boolean isInline() {
		return false;
	}

	/**
	 * Heap that a value takes which its verification does not charge: that of small
	 * values, which need none.
	 */
	int valueBytes() {
		return 0;
	}

	/** Whether vectors can hold it as it is. */
	boolean isElement() {
		return false;
	}

	/** Whether its schema type is a scalar. */
	boolean isScalar() {
		return false;
	}

	/** Its type in the FlatBuffers schema language. */
	abstract String schemaType(SchemaWriter schema);

	/**
	 * Writes a value.
	 * @param value the value, present
	 * @param memory what the slot lies in
	 * @param slot index of the slot in {@code memory}
	 * @param base what to add to {@code slot} to get its position in the message
	 */
	abstract void write(Object value, SegmentWriter out, ByteBuffer memory, int slot, int base);

	/**
	 * Reads a verified value.
	 * @param slot position of its slot
	 */
	abstract @Nullable Object read(MessageReader in, int slot);

	/**
	 * Verifies a value.
	 * @param slot position of its slot, the bounds and alignment of which are verified
	 */
	abstract void verify(MessageVerifier in, int slot);

	/**
	 * Looks for a large array of bytes in what has arrived of a message. Nothing of it is
	 * verified.
	 * @param slot position of its slot
	 */
	void foresee(Foresight in, int slot) {
		// most values hold none
	}

	/** What the fields of absent values read as. */
	@Nullable Object absentValue() {
		return null;
	}

	/**
	 * Writes the field of a table.
	 * @param value the value, null for none
	 * @param table index of the table in {@code memory}
	 */
	void writeField(FieldLayout field, @Nullable Object value, SegmentWriter out, ByteBuffer memory, int table,
			int base) {
		if (value == null) {
			field.clear(out, memory, table);
			return;
		}
		try {
			write(value, out, memory, table + field.offset(), base);
		}
		catch (UnencodableValueException ex) {
			throw ex.within(field.name());
		}
	}

	/**
	 * Reads the field of a verified table.
	 * @param table position of the table
	 * @param vtable position of its vtable
	 * @param vtableBytes size of its vtable
	 */
	@Nullable Object readField(FieldLayout field, MessageReader in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, field.entry());
		return (offset == 0) ? absentValue() : read(in, table + offset);
	}

	/**
	 * Verifies the field of a table beyond its bounds and alignment.
	 * @param table position of the table
	 * @param vtable position of its vtable
	 * @param vtableBytes size of its vtable
	 */
	void verifyField(FieldLayout field, MessageVerifier in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, field.entry());
		if (offset != 0) {
			verify(in, table + offset);
		}
	}

}
