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

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.UnencodableValueException;

/**
 * A class that {@code flatc} generated for a table: its own buffer is the message. Its
 * accessors read within the bounds of that.
 */
final class GeneratedTableShape extends NestedShape {

	private static final int NESTED_ALIGNMENT = 8;

	private static final int TABLE_BYTES = 64;

	private static final MethodHandle POSITION = position();

	private static final MethodHandle ASSIGN = assign();

	private final MethodHandle constructor;

	/**
	 * Creates the shape of a class.
	 * @throws ReflectiveOperationException if it is not generated or has no accessible
	 * default constructor
	 */
	GeneratedTableShape(Class<?> type) throws ReflectiveOperationException {
		super(type.getName(), TABLE_BYTES);
		if (type == Table.class) {
			throw new NoSuchMethodException("not a generated class");
		}
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

	/**
	 * The buffer whose root a table is, its message from position to limit.
	 * @throws UnencodableValueException if it is a part of another table
	 */
	private static ByteBuffer buffer(Object value) {
		Table table = (Table) value;
		ByteBuffer buffer = table.getByteBuffer();
		if (buffer == null) {
			throw new UnencodableValueException("table without a buffer");
		}
		buffer = MessageReader.littleEndian(buffer);
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

	private Table table(ByteBuffer view) {
		ByteBuffer message = view.order(ByteOrder.LITTLE_ENDIAN);
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
		return table(in.view(position));
	}

	@Override
	void writeRoot(Object value, MessageSegments out) {
		out.addBytes(buffer(value));
	}

	@Override
	Object readRoot(ByteBuffer message, ReceivedMemory memory) {
		return table(memory.view(message, message.position(), message.remaining()));
	}

}
