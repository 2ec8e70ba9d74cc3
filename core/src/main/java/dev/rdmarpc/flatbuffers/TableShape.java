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

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.CodecException;
import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.UnencodableValueException;

/**
 * A record, or another value of fixed parts, as a table with a field for each part.
 *
 * <p>
 * Linked after creation, since tables may contain themselves.
 */
final class TableShape extends ReferenceShape {

	/** Stands for the accessor of a part that is never absent nor read from a value. */
	static final MethodHandle NO_ACCESSOR = MethodHandles.constant(int.class, 0);

	private final String name;

	private final String schemaName;

	private TableLayout layout = TableLayout.EMPTY;

	private FieldLayout[] fields = new FieldLayout[0];

	private FieldLayout[] references = new FieldLayout[0];

	private int heapBytes;

	private boolean keyed;

	private @Nullable TableBody body;

	/**
	 * Creates a shape without fields.
	 * @param name what to call it in messages to people
	 * @param schemaName what to call it in schemas, if that name is free
	 */
	TableShape(String name, String schemaName) {
		this.name = name;
		this.schemaName = schemaName;
	}

	/**
	 * Gives the table its fields, and values.
	 * @param parts the parts of a value, in order
	 * @param constructor takes them and returns the value
	 */
	void link(List<Part> parts, MethodHandle constructor) {
		layOut(parts);
		this.body = TableBodies.compile(fields(), parts.stream().map(Part::accessor).toList(), constructor);
	}

	/**
	 * Gives the table more fields than method handles have parameters, and values.
	 * @param parts the parts of a value, in order
	 * @param constructor takes them and returns the value
	 */
	void linkWide(List<Part> parts, WideTableBody.Constructor constructor) {
		layOut(parts);
		this.body = new WideTableBody(fields(), parts.stream().<Class<?>>map(Part::type).toList(),
				TableBodies.writer(fields(), parts.stream().map(Part::accessor).toList()), constructor);
	}

	/**
	 * Gives the table its fields, and values that a body of its own writes and reads.
	 * @param parts the parts of a value, in order
	 * @param valueBytes heap that a value takes besides its parts
	 * @param body made for the fields
	 */
	void link(List<Part> parts, int valueBytes, Function<List<FieldLayout>, TableBody> body) {
		layOut(parts);
		this.heapBytes += valueBytes;
		this.body = body.apply(fields());
	}

	/**
	 * Gives the table its fields.
	 * @param parts the parts of a value, in order
	 */
	void layOut(List<Part> parts) {
		int count = 0;
		for (Part part : parts) {
			count += part.shape().fieldCount();
		}
		String[] names = new String[count];
		int[] sizes = new int[count];
		int[] alignments = new int[count];
		int index = 0;
		for (Part part : parts) {
			for (int i = 0; i < part.shape().fieldCount(); i++) {
				names[index] = part.name();
				sizes[index] = part.shape().slotBytes(i);
				alignments[index] = part.shape().alignment(i);
				index++;
			}
		}
		TableLayout layout = new TableLayout(names, sizes, alignments);
		List<FieldLayout> fields = new ArrayList<>();
		List<FieldLayout> references = new ArrayList<>();
		index = 0;
		for (Part part : parts) {
			FieldLayout field = new FieldLayout(part.name(), index, !part.type().isPrimitive(), part.shape(), layout);
			fields.add(field);
			if (!part.shape().isInline()) {
				references.add(field);
			}
			index += part.shape().fieldCount();
		}
		this.heapBytes = heapBytes(parts);
		this.layout = layout;
		this.fields = fields.toArray(FieldLayout[]::new);
		this.references = references.toArray(FieldLayout[]::new);
	}

	/** Its first field is a key, which is compared with those of other tables. */
	void compareFirst() {
		this.keyed = true;
	}

	private static int heapBytes(List<Part> parts) {
		int bytes = HeapBytes.object(parts.stream().<Class<?>>map(Part::type).toList());
		for (Part part : parts) {
			bytes += part.type().isPrimitive() ? 0 : part.shape().valueBytes();
		}
		return bytes;
	}

	/** How it lies. */
	TableLayout layout() {
		return this.layout;
	}

	/** What it is called. */
	String name() {
		return this.name;
	}

	/** Its fields. */
	List<FieldLayout> fields() {
		return List.of(this.fields);
	}

	@Override
	boolean isElement() {
		return true;
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return schema.table(this, this.schemaName,
				() -> Arrays.stream(this.fields)
					.map((field) -> new SchemaWriter.Field(field.name(), field.shape().schemaType(schema),
							field.shape().fieldCount() > 1, field.optional() && field.shape().isScalar()))
					.toList());
	}

	@Override
	int writeTarget(Object value, SegmentWriter out) {
		return writeTable(value, out);
	}

	/** Writes a value that may be null if the accessors take null. */
	int writeTable(@Nullable Object value, SegmentWriter out) {
		TableLayout layout = this.layout;
		int at = layout.reserve(out);
		ByteBuffer memory = out.memory();
		int base = out.base();
		long outer = out.absent();
		out.absent(0);
		out.enter();
		body().write(value, out, memory, at, base);
		out.leave();
		if (!layout.hasPrivateVtable()) {
			memory.putInt(at, at + base - out.vtables().position(layout, out.absent(), out));
		}
		out.absent(outer);
		return at + base;
	}

	/**
	 * Writes values one after the other, their tables side by side as far as that goes.
	 * @param values a list or array of them
	 * @param count how many there are
	 * @param memory what their slots lie in
	 * @param slot index of the first slot in {@code memory}
	 * @param base what to add to get its position in the message
	 */
	void writeElements(Object values, int count, SegmentWriter out, ByteBuffer memory, int slot, int base) {
		if (count == 0) {
			return;
		}
		int written = 0;
		long outer = out.absent();
		out.enter();
		while (written < count) {
			int run = this.layout.runLength(count - written, out);
			int at = (run > 1) ? this.layout.reserveRun(run, out) : this.layout.reserve(out);
			int end = written + Math.max(1, run);
			ByteBuffer tables = out.memory();
			int offset = out.base();
			for (; written < end; written++) {
				int reference = slot + OFFSET_BYTES * written;
				memory.putInt(reference, at + offset - reference - base);
				writeElement(written, values, out, tables, at, offset);
				at += this.layout.strideBytes();
			}
		}
		out.leave();
		out.absent(outer);
	}

	private void writeElement(int index, Object values, SegmentWriter out, ByteBuffer memory, int at, int base) {
		Object value = (values instanceof Object[] array) ? array[index] : ((List<?>) values).get(index);
		if (value == null) {
			throw absentElement(index);
		}
		out.absent(0);
		try {
			body().write(value, out, memory, at, base);
		}
		catch (UnencodableValueException ex) {
			throw ex.within("[" + index + "]");
		}
		if (!this.layout.hasPrivateVtable()) {
			memory.putInt(at, at + base - out.vtables().position(this.layout, out.absent(), out));
		}
	}

	@Override
	@Nullable Object readTarget(MessageReader in, int position) {
		in.table();
		ByteBuffer buffer = in.buffer();
		int vtable = position - buffer.getInt(position);
		try {
			return body().read(in, position, vtable, buffer.getShort(vtable) & 0xFFFF);
		}
		catch (CodecException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw new MalformedMessageException(this.name + " rejects its content: " + ex.getMessage(), ex);
		}
	}

	@Override
	void verifyTarget(MessageVerifier in, int position) {
		int vtable = in.enterTable(position, this.layout, this.heapBytes);
		if (this.references.length > 0) {
			int vtableBytes = in.vtableBytes(vtable);
			for (FieldLayout field : this.references) {
				if (this.keyed && field.index() == 0) {
					in.enterKey();
					field.shape().verifyField(field, in, position, vtable, vtableBytes);
					in.leaveKey();
				}
				else {
					field.shape().verifyField(field, in, position, vtable, vtableBytes);
				}
			}
		}
		in.leaveTable();
	}

	@Override
	void foreseeTarget(Foresight in, int position) {
		for (FieldLayout field : this.references) {
			int slot = in.field(position, field);
			if (slot >= 0) {
				field.shape().foresee(in, slot);
			}
		}
	}

	private TableBody body() {
		TableBody body = this.body;
		if (body == null) {
			throw new IllegalStateException(this.name + " is not linked");
		}
		return body;
	}

	/**
	 * A part of a value.
	 *
	 * @param name its name
	 * @param shape how it lies
	 * @param accessor takes the value and returns the part
	 */
	record Part(String name, Shape shape, MethodHandle accessor) {

		/** The type of the part as it is declared. */
		Class<?> type() {
			return this.accessor.type().returnType();
		}

	}

}
