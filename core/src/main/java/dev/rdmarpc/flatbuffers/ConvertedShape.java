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
 * The shape of another type, whose values are made from, and into, what they are in
 * trees.
 */
final class ConvertedShape extends Shape {

	private final Shape shape;

	private final Conversion conversion;

	private final int treeBytes;

	private final @Nullable Object absent;

	/**
	 * Creates a shape.
	 * @param shape how values lie; not that of a union
	 * @param treeBytes heap that a value takes in a tree besides its own
	 * @param absent what the fields of absent values read as
	 */
	ConvertedShape(Shape shape, Conversion conversion, int treeBytes, @Nullable Object absent) {
		super(shape.slotBytes(), shape.alignment());
		this.shape = shape;
		this.conversion = conversion;
		this.treeBytes = treeBytes;
		this.absent = absent;
	}

	@Override
	boolean isInline() {
		return this.shape.isInline();
	}

	@Override
	int valueBytes() {
		return this.shape.valueBytes() + this.treeBytes;
	}

	@Override
	boolean isElement() {
		return this.shape.isElement();
	}

	@Override
	boolean isScalar() {
		return this.shape.isScalar();
	}

	@Override
	@Nullable Object absentValue() {
		return this.absent;
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return this.shape.schemaType(schema);
	}

	@Override
	void write(Object value, SegmentWriter out, ByteBuffer memory, int slot, int base) {
		this.shape.write(this.conversion.fromTree(value), out, memory, slot, base);
	}

	@Override
	@Nullable Object read(MessageReader in, int slot) {
		Object value = this.shape.read(in, slot);
		return (value != null) ? this.conversion.toTree(value) : null;
	}

	@Override
	void verify(MessageVerifier in, int slot) {
		this.shape.verify(in, slot);
	}

	@Override
	void foresee(Foresight in, int slot) {
		this.shape.foresee(in, slot);
	}

	/** What values are in trees. */
	interface Conversion {

		/**
		 * The value that something in a tree stands for.
		 * @throws UnencodableValueException saying what it is and what was expected
		 */
		Object fromTree(Object tree);

		/** What a value is in a tree. */
		@Nullable Object toTree(Object value);

	}

}
