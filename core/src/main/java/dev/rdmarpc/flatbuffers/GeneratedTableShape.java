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
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import com.google.flatbuffers.Table;

import dev.rdmarpc.codec.UnencodableValueException;

/**
 * A class that {@code flatc} generated for a table. As a part of something it is a vector
 * of bytes that holds the table's own buffer (a nested FlatBuffer); as a root its buffer
 * is the message.
 *
 * <p>
 * Its schema is not known here, so a received one is verified no further than its root;
 * its accessors read within the bounds of its own buffer.
 */
final class GeneratedTableShape extends ReferenceShape {

	private static final int NESTED_ALIGNMENT = 8;

	private static final int TABLE_BYTES = 64;

	private static final MethodHandle POSITION = position();

	private static final MethodHandle ASSIGN = assign();

	private final Class<?> type;

	private final MethodHandle constructor;

	/**
	 * Creates the shape of a class.
	 * @throws ReflectiveOperationException if it is not generated or has no accessible
	 * default constructor
	 */
	GeneratedTableShape(Class<?> type) throws ReflectiveOperationException {
		if (type == Table.class) {
			throw new NoSuchMethodException("not a generated class");
		}
		this.type = type;
		this.constructor = MethodHandles.privateLookupIn(type, MethodHandles.lookup())
			.findConstructor(type, MethodType.methodType(void.class))
			.asType(MethodType.methodType(Table.class));
	}

	private static MethodHandle position() {
		try {
			return MethodHandles.privateLookupIn(Table.class, MethodHandles.lookup())
				.findGetter(Table.class, "bb_pos", int.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static MethodHandle assign() {
		try {
			return MethodHandles.privateLookupIn(Table.class, MethodHandles.lookup())
				.findVirtual(Table.class, "__reset", MethodType.methodType(void.class, int.class, ByteBuffer.class));
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** The class's name. */
	String name() {
		return this.type.getName();
	}

	/**
	 * The buffer whose root a table is, its message from position to limit.
	 * @throws UnencodableValueException if it is a part of another table
	 */
	ByteBuffer buffer(Object value) {
		Table table = (Table) value;
		ByteBuffer buffer = table.getByteBuffer();
		if (buffer == null) {
			throw new UnencodableValueException("table without a buffer");
		}
		if (buffer.order() != ByteOrder.LITTLE_ENDIAN) {
			buffer = buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
		}
		int root = buffer.position();
		if (buffer.remaining() < 2 * OFFSET_BYTES || root + buffer.getInt(root) != position(table)) {
			throw new UnencodableValueException(
					"table that is not the root of its buffer (expected: a table with a buffer of its own)");
		}
		return buffer;
	}

	private static int position(Table table) {
		try {
			return (int) POSITION.invokeExact(table);
		}
		catch (Throwable ex) {
			throw TableBodies.rethrow(ex);
		}
	}

	/**
	 * The root table of a verified message.
	 * @param message the message is all of it; little-endian
	 */
	Table table(ByteBuffer message) {
		try {
			Table table = (Table) this.constructor.invokeExact();
			ASSIGN.invokeExact(table, message.getInt(0), message);
			return table;
		}
		catch (Throwable ex) {
			throw TableBodies.rethrow(ex);
		}
	}

	@Override
	int writeTarget(Object value, SegmentWriter out) {
		return out.writeBytes(buffer(value), NESTED_ALIGNMENT);
	}

	@Override
	Object readTarget(MessageReader in, int position) {
		return table(in.view(position).order(ByteOrder.LITTLE_ENDIAN));
	}

	@Override
	void verifyTarget(MessageVerifier in, int position) {
		in.nested(position);
		in.allocate(TABLE_BYTES, position);
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return "[ubyte]";
	}

}
