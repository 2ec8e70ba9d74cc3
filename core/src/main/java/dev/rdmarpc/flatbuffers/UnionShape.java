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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.UnencodableValueException;

/**
 * A sealed interface of records as a union: a field for the member's number, counted from
 * 1 in the order of {@code permits}, and a field for its table. A member that is a sealed
 * interface itself is a table with a union of its own, so that what is added at the end
 * of one {@code permits} changes no number of another.
 */
final class UnionShape extends Shape {

	/** Most members of a union. */
	static final int MAX_MEMBERS = 255;

	private final String name;

	private final String schemaName;

	private List<TableShape> members = List.of();

	/** The classes of values, and the number of the member that each belongs to. */
	private Class<?>[] types = new Class<?>[0];

	private int[] numbers = new int[0];

	/**
	 * Creates a shape without members.
	 * @param name what to call it in messages to people
	 * @param schemaName what to call it in schemas, if that name is free
	 */
	UnionShape(String name, String schemaName) {
		super(1, 1);
		this.name = name;
		this.schemaName = schemaName;
	}

	/**
	 * Gives it its members.
	 * @param types their classes
	 * @param members their shapes
	 */
	void link(List<Class<?>> types, List<TableShape> members) {
		Map<Class<?>, Integer> numbers = new LinkedHashMap<>();
		for (int i = 0; i < types.size(); i++) {
			int number = i + 1;
			SealedTypes.records(types.get(i)).forEach((each) -> numbers.putIfAbsent(each, number));
		}
		this.types = numbers.keySet().toArray(Class<?>[]::new);
		this.numbers = numbers.values().stream().mapToInt(Integer::intValue).toArray();
		this.members = List.copyOf(members);
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
	boolean isElement() {
		return false;
	}

	@Override
	void writeField(FieldLayout field, @Nullable Object value, SegmentWriter out, ByteBuffer memory, int table,
			int base) {
		if (value == null) {
			field.clear(out, memory, table);
			return;
		}
		int number = number(value);
		memory.put(table + field.offset(), (byte) number);
		try {
			this.members.get(number - 1).write(value, out, memory, table + field.secondOffset(), base);
		}
		catch (UnencodableValueException ex) {
			throw ex.within(field.name());
		}
	}

	private int number(Object value) {
		for (int i = 0; i < this.types.length; i++) {
			if (this.types[i] == value.getClass()) {
				return this.numbers[i];
			}
		}
		throw new UnencodableValueException(value.getClass().getName() + " is no member of " + this.name);
	}

	@Override
	@Nullable Object readField(FieldLayout field, MessageReader in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, field.entry());
		int number = (offset == 0) ? 0 : in.buffer().get(table + offset) & 0xFF;
		if (number == 0) {
			return null;
		}
		int value = table + in.fieldOffset(vtable, vtableBytes, field.entry() + 2);
		return this.members.get(number - 1).read(in, value);
	}

	@Override
	void verifyField(FieldLayout field, MessageVerifier in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, field.entry());
		int number = (offset == 0) ? 0 : in.buffer().get(table + offset) & 0xFF;
		if (number == 0) {
			return;
		}
		if (number > this.members.size()) {
			throw new MalformedMessageException("field '" + field.name() + "' has the unknown member " + number + " of "
					+ this.name + " (expected: 1 to " + this.members.size() + "; does the peer have a newer version?)");
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
		return schema.union(this, this.schemaName, () -> this.members.stream().map((each) -> each.schemaType(schema)));
	}

}
