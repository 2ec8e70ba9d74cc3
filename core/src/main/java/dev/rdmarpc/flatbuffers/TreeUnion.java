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
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.UnencodableValueException;

/** A union whose values are the names of members, with trees. */
final class TreeUnion extends Shape {

	private final String name;

	private final List<String> names;

	private final List<TableShape> members;

	/**
	 * Creates a shape.
	 * @param names of its members
	 * @param members their tables
	 */
	TreeUnion(String name, List<String> names, List<TableShape> members) {
		super(1, 1);
		this.name = name;
		this.names = names;
		this.members = members;
	}

	@Override
	int fieldCount() {
		return 2;
	}

	@Override
	int slotBytes(int field) {
		return (field == 0) ? 1 : ReferenceShape.OFFSET_BYTES;
	}

	@Override
	int alignment(int field) {
		return slotBytes(field);
	}

	@Override
	int valueBytes() {
		return HeapBytes.OBJECT + HeapBytes.ENTRY + HeapBytes.BUCKET;
	}

	@Override
	void writeField(FieldLayout field, @Nullable Object value, SegmentWriter out, ByteBuffer memory, int table,
			int base) {
		if (value == null) {
			field.clear(out, memory, table);
			return;
		}
		Member member = (Member) value;
		int index = (member.type() instanceof String type) ? this.names.indexOf(type) : -1;
		if (index < 0) {
			throw new UnencodableValueException(
					((member.type() != null) ? "'" + member.type() + "' is no member of " : "no member of ") + this.name
							+ " (expected: " + TreeValues.names(this.names) + ")")
				.within(field.name() + TreeBody.UNION_TYPE);
		}
		if (member.value() == null) {
			throw new UnencodableValueException("null (expected: a map, of " + member.type() + ")")
				.within(field.name());
		}
		memory.put(table + field.offset(), (byte) (index + 1));
		try {
			this.members.get(index).write(member.value(), out, memory, table + field.secondOffset(), base);
		}
		catch (UnencodableValueException ex) {
			throw ex.within(field.name());
		}
	}

	@Override
	@Nullable Object readField(FieldLayout field, MessageReader in, int table, int vtable, int vtableBytes) {
		int number = number(in.fieldOffset(vtable, vtableBytes, field.entry()), in.buffer(), table);
		if (number == 0) {
			return null;
		}
		int value = table + in.fieldOffset(vtable, vtableBytes, field.entry() + 2);
		return new Member(this.names.get(number - 1), this.members.get(number - 1).read(in, value));
	}

	private static int number(int offset, ByteBuffer buffer, int table) {
		return (offset == 0) ? 0 : buffer.get(table + offset) & 0xFF;
	}

	@Override
	void verifyField(FieldLayout field, MessageVerifier in, int table, int vtable, int vtableBytes) {
		int number = number(in.fieldOffset(vtable, vtableBytes, field.entry()), in.buffer(), table);
		if (number == 0) {
			return;
		}
		if (number > this.members.size()) {
			throw new MalformedMessageException("field '" + field.name() + "' has the unknown member " + number + " of "
					+ this.name + " (expected: 1 to " + this.members.size() + ")");
		}
		int value = in.fieldOffset(vtable, vtableBytes, field.entry() + 2);
		if (value == 0) {
			throw in.malformed("union '" + field.name() + "' without value", table);
		}
		this.members.get(number - 1).verify(in, table + value);
	}

	@Override
	void write(Object value, SegmentWriter out, ByteBuffer memory, int slot, int base) {
		throw new UnsupportedOperationException("only fields may be unions");
	}

	@Override
	Object read(MessageReader in, int slot) {
		throw new UnsupportedOperationException("only fields may be unions");
	}

	@Override
	void verify(MessageVerifier in, int slot) {
		throw new UnsupportedOperationException("only fields may be unions");
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return schema.union(this, this.name, () -> this.members.stream().map((each) -> each.schemaType(schema)));
	}

	/**
	 * A value.
	 *
	 * @param type the name of its member
	 * @param value its tree
	 */
	record Member(@Nullable Object type, @Nullable Object value) {

	}

}
