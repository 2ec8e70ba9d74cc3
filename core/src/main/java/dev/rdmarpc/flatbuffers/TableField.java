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

import java.util.List;

/**
 * A field of a {@link TableType}, typed by what it holds. Made by the {@code add} methods
 * of the type.
 *
 * <p>
 * Immutable once the type is in use; thread-safe.
 */
public abstract sealed class TableField {

	private final TableType owner;

	private final String name;

	private final Shape shape;

	private final int index;

	private final long bit;

	private int offset;

	private TableField(TableType owner, String name, Shape shape) {
		this.owner = owner;
		this.name = name;
		this.shape = shape;
		this.index = owner.add(this, shape.fieldCount());
		this.bit = 1L << this.index;
	}

	/** The table type it belongs to. */
	public final TableType owner() {
		return this.owner;
	}

	/** Its name. */
	public final String name() {
		return this.name;
	}

	/** Its number, which is its place in the vtable; for a union that of its value. */
	public final int index() {
		return (this instanceof OfUnion) ? this.index + 1 : this.index;
	}

	/** Its offset in the tables that are written. */
	final int offset() {
		return this.offset;
	}

	/** The number of its first slot. */
	final int firstIndex() {
		return this.index;
	}

	/** The bit of its first slot in a set of fields, if the type has at most 64. */
	final long bit() {
		return this.bit;
	}

	final Shape shape() {
		return this.shape;
	}

	/** The table types its values are of. */
	List<TableType> targets() {
		return List.of();
	}

	/** The layout of the table is known. */
	void place(TableLayout layout) {
		this.offset = layout.offset(this.index);
	}

	@Override
	public String toString() {
		return this.owner.name() + "." + this.name;
	}

	/** Holds a {@code boolean}. */
	public static final class OfBoolean extends TableField {

		OfBoolean(TableType owner, String name) {
			super(owner, name, new ScalarShape(ScalarKind.BOOLEAN));
		}

	}

	/** Holds a {@code byte}. */
	public static final class OfByte extends TableField {

		OfByte(TableType owner, String name) {
			super(owner, name, new ScalarShape(ScalarKind.BYTE));
		}

	}

	/** Holds a {@code short}. */
	public static final class OfShort extends TableField {

		OfShort(TableType owner, String name) {
			super(owner, name, new ScalarShape(ScalarKind.SHORT));
		}

	}

	/** Holds a {@code int}. */
	public static final class OfInt extends TableField {

		OfInt(TableType owner, String name) {
			super(owner, name, new ScalarShape(ScalarKind.INT));
		}

	}

	/** Holds a {@code long}. */
	public static final class OfLong extends TableField {

		OfLong(TableType owner, String name) {
			super(owner, name, new ScalarShape(ScalarKind.LONG));
		}

	}

	/** Holds a {@code float}. */
	public static final class OfFloat extends TableField {

		OfFloat(TableType owner, String name) {
			super(owner, name, new ScalarShape(ScalarKind.FLOAT));
		}

	}

	/** Holds a {@code double}. */
	public static final class OfDouble extends TableField {

		OfDouble(TableType owner, String name) {
			super(owner, name, new ScalarShape(ScalarKind.DOUBLE));
		}

	}

	/** Holds a string. */
	public static final class OfString extends TableField {

		OfString(TableType owner, String name) {
			super(owner, name, TextShape.ofStrings());
		}

	}

	/** Holds a vector of bytes. */
	public static final class OfBytes extends TableField {

		private final int alignment;

		OfBytes(TableType owner, String name, int alignment) {
			super(owner, name, new BytesShape(BytesShape.View.BUFFER));
			this.alignment = Math.max(SegmentWriter.OFFSET_BYTES, alignment);
		}

		/** The alignment of the first byte, at least that of the length before it. */
		int alignment() {
			return this.alignment;
		}

	}

	/**
	 * Holds a vector of scalars.
	 *
	 * @param <A> the array of primitives that is the vector in Java
	 */
	@SuppressWarnings("UnusedTypeParameter") // ties the values that are put to the kind
	public static final class OfArray<A> extends TableField {

		private final ScalarKind kind;

		OfArray(TableType owner, String name, ScalarKind kind) {
			super(owner, name, new PrimitiveArrayShape(kind));
			this.kind = kind;
		}

		ScalarKind kind() {
			return this.kind;
		}

	}

	/** Holds a vector of strings. */
	public static final class OfStrings extends TableField {

		OfStrings(TableType owner, String name) {
			super(owner, name, SequenceShape.of(TextShape.ofStrings()));
		}

	}

	/** Holds a table. */
	public static final class OfTable extends TableField {

		private final TableType target;

		OfTable(TableType owner, String name, TableType target) {
			super(owner, name, target.shape());
			this.target = target;
		}

		/** The type of the table. */
		public TableType target() {
			return this.target;
		}

		@Override
		List<TableType> targets() {
			return List.of(this.target);
		}

	}

	/** Holds a vector of tables. */
	public static final class OfTables extends TableField {

		private final TableType target;

		OfTables(TableType owner, String name, TableType target) {
			super(owner, name, SequenceShape.of(target.shape()));
			this.target = target;
		}

		/** The type of the tables. */
		public TableType target() {
			return this.target;
		}

		@Override
		List<TableType> targets() {
			return List.of(this.target);
		}

	}

	/** Holds a table of one of several types. */
	public static final class OfUnion extends TableField {

		private final List<TableType> members;

		private int valueOffset;

		OfUnion(TableType owner, String name, List<TableType> members) {
			super(owner, name, unionShape(owner, name, members));
			this.members = List.copyOf(members);
		}

		private static UnionShape unionShape(TableType owner, String name, List<TableType> members) {
			if (members.isEmpty() || members.size() > UnionShape.MAX_MEMBERS) {
				throw new IllegalArgumentException(members.size() + " members of the union " + name
						+ " (expected: from 1 to " + UnionShape.MAX_MEMBERS + ")");
			}
			UnionShape shape = new UnionShape(owner.name() + "." + name, owner.name() + "_" + name);
			shape.link(members.stream().<Class<?>>map(Object::getClass).toList(),
					members.stream().map(TableType::shape).toList());
			return shape;
		}

		/** The types; numbered from 1. */
		public List<TableType> members() {
			return this.members;
		}

		/** The number of a member. */
		int number(TableType member) {
			int index = this.members.indexOf(member);
			if (index < 0) {
				throw new IllegalArgumentException(member + " is no member of " + this);
			}
			return index + 1;
		}

		int valueOffset() {
			return this.valueOffset;
		}

		@Override
		void place(TableLayout layout) {
			super.place(layout);
			this.valueOffset = layout.offset(firstIndex() + 1);
		}

		@Override
		List<TableType> targets() {
			return this.members;
		}

	}

	/**
	 * Holds a message of its own, as a vector of bytes: a nested FlatBuffer.
	 */
	public static final class OfMessage extends TableField {

		OfMessage(TableType owner, String name) {
			super(owner, name, new MessageShape());
		}

	}

}
