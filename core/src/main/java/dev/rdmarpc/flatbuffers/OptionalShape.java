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
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/**
 * An optional value as a field that may be absent. A null optional is written as empty.
 */
abstract class OptionalShape extends Shape {

	private final Shape content;

	private final Object empty;

	private OptionalShape(Shape content, Object empty) {
		super(content.slotBytes(), content.alignment());
		this.content = content;
		this.empty = empty;
	}

	/** The shape of {@link Optional}. */
	static OptionalShape of(Shape content) {
		return new Objects(content);
	}

	/** The shape of an optional primitive, or null if the class is none. */
	static @Nullable OptionalShape ofPrimitive(Class<?> type) {
		if (type == OptionalInt.class) {
			return new Ints();
		}
		if (type == OptionalLong.class) {
			return new Longs();
		}
		return (type == OptionalDouble.class) ? new Doubles() : null;
	}

	/** The present content of an optional, or null. */
	abstract @Nullable Object unwrap(Object optional);

	/** The optional with that content. */
	abstract Object wrap(Object content);

	@Override
	final int fieldCount() {
		return this.content.fieldCount();
	}

	@Override
	final int slotBytes(int field) {
		return this.content.slotBytes(field);
	}

	@Override
	final int alignment(int field) {
		return this.content.alignment(field);
	}

	@Override
	final boolean isInline() {
		return this.content.isInline();
	}

	@Override
	final int valueBytes() {
		return HeapBytes.OBJECT + Long.BYTES + this.content.valueBytes();
	}

	@Override
	final boolean isElement() {
		return false;
	}

	@Override
	final Object absentValue() {
		return this.empty;
	}

	@Override
	final void writeField(FieldLayout field, @Nullable Object value, SegmentWriter out, ByteBuffer memory, int table,
			int base) {
		Object present = (value != null) ? unwrap(value) : null;
		this.content.writeField(field, present, out, memory, table, base);
	}

	@Override
	final Object readField(FieldLayout field, MessageReader in, int table, int vtable, int vtableBytes) {
		Object present = this.content.readField(field, in, table, vtable, vtableBytes);
		return (present != null) ? wrap(present) : this.empty;
	}

	@Override
	final void verifyField(FieldLayout field, MessageVerifier in, int table, int vtable, int vtableBytes) {
		this.content.verifyField(field, in, table, vtable, vtableBytes);
	}

	@Override
	final void write(Object value, SegmentWriter out, ByteBuffer memory, int slot, int base) {
		throw new UnsupportedOperationException("only fields may be optional");
	}

	@Override
	final Object read(MessageReader in, int slot) {
		throw new UnsupportedOperationException("only fields may be optional");
	}

	@Override
	final void verify(MessageVerifier in, int slot) {
		throw new UnsupportedOperationException("only fields may be optional");
	}

	@Override
	final String schemaType(SchemaWriter schema) {
		return this.content.schemaType(schema);
	}

	@Override
	final boolean isScalar() {
		return this.content.isScalar();
	}

	/** {@link Optional}. */
	private static final class Objects extends OptionalShape {

		Objects(Shape content) {
			super(content, Optional.empty());
		}

		@Override
		@Nullable Object unwrap(Object optional) {
			return ((Optional<?>) optional).orElse(null);
		}

		@Override
		Object wrap(Object content) {
			return Optional.of(content);
		}

	}

	/** {@link OptionalInt}. */
	private static final class Ints extends OptionalShape {

		Ints() {
			super(new ScalarShape(ScalarKind.INT), OptionalInt.empty());
		}

		@Override
		@Nullable Object unwrap(Object optional) {
			OptionalInt value = (OptionalInt) optional;
			return value.isPresent() ? value.getAsInt() : null;
		}

		@Override
		Object wrap(Object content) {
			return OptionalInt.of((int) content);
		}

	}

	/** {@link OptionalLong}. */
	private static final class Longs extends OptionalShape {

		Longs() {
			super(new ScalarShape(ScalarKind.LONG), OptionalLong.empty());
		}

		@Override
		@Nullable Object unwrap(Object optional) {
			OptionalLong value = (OptionalLong) optional;
			return value.isPresent() ? value.getAsLong() : null;
		}

		@Override
		Object wrap(Object content) {
			return OptionalLong.of((long) content);
		}

	}

	/** {@link OptionalDouble}. */
	private static final class Doubles extends OptionalShape {

		Doubles() {
			super(new ScalarShape(ScalarKind.DOUBLE), OptionalDouble.empty());
		}

		@Override
		@Nullable Object unwrap(Object optional) {
			OptionalDouble value = (OptionalDouble) optional;
			return value.isPresent() ? value.getAsDouble() : null;
		}

		@Override
		Object wrap(Object content) {
			return OptionalDouble.of((double) content);
		}

	}

}
