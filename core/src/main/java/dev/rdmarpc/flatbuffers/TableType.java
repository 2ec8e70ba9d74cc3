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

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A type of tables: names and types of their fields, in order. What a {@code table}
 * declaration is in a schema.
 *
 * <pre class="code">
 * final class Entry {
 *
 *   static final TableType TYPE = TableType.named("Entry");
 *
 *   static final TableField.OfLong INDEX = TYPE.addLong("index");
 *
 *   static final TableField.OfBytes DATA = TYPE.addBytes("data");
 *
 * }
 * </pre>
 *
 * <p>
 * Fields are added until the type is used for the first time, and by one thread; from
 * then on it is immutable and thread-safe. Table types may contain each other and
 * themselves.
 */
public final class TableType {

	private static final int MAX_FIELDS = 1000;

	private final String name;

	private final TableShape shape;

	private final List<TableField> fields = new ArrayList<>();

	private int slots;

	private volatile @Nullable TableLayout layout;

	private TableType(String name) {
		this.name = name;
		this.shape = new TableShape(name, name);
	}

	/**
	 * Begins a type without fields.
	 * @param name its name in schemas and messages to people
	 */
	public static TableType named(String name) {
		if (!name.equals(SchemaWriter.identifier(name)) || name.isEmpty() || Character.isDigit(name.charAt(0))) {
			throw new IllegalArgumentException("name '" + name + "' (expected: an identifier of schemas)");
		}
		return new TableType(name);
	}

	/** Its name. */
	public String name() {
		return this.name;
	}

	/** Its fields, in order. */
	public synchronized List<TableField> fields() {
		return List.copyOf(this.fields);
	}

	/** Adds a {@code bool}. */
	public TableField.OfBoolean addBoolean(String field) {
		return new TableField.OfBoolean(this, field);
	}

	/** Adds a {@code byte}. */
	public TableField.OfByte addByte(String field) {
		return new TableField.OfByte(this, field);
	}

	/** Adds a {@code short}. */
	public TableField.OfShort addShort(String field) {
		return new TableField.OfShort(this, field);
	}

	/** Adds an {@code int}. */
	public TableField.OfInt addInt(String field) {
		return new TableField.OfInt(this, field);
	}

	/** Adds a {@code long}. */
	public TableField.OfLong addLong(String field) {
		return new TableField.OfLong(this, field);
	}

	/** Adds a {@code float}. */
	public TableField.OfFloat addFloat(String field) {
		return new TableField.OfFloat(this, field);
	}

	/** Adds a {@code double}. */
	public TableField.OfDouble addDouble(String field) {
		return new TableField.OfDouble(this, field);
	}

	/** Adds a {@code string}. */
	public TableField.OfString addString(String field) {
		return new TableField.OfString(this, field);
	}

	/** Adds a vector of strings. */
	public TableField.OfStrings addStrings(String field) {
		return new TableField.OfStrings(this, field);
	}

	/** Adds a vector of bytes, {@code [ubyte]}. */
	public TableField.OfBytes addBytes(String field) {
		return addBytes(field, 1);
	}

	/**
	 * Adds a vector of bytes whose first byte is aligned.
	 * @param alignment 1, 2, 4 or 8
	 */
	public TableField.OfBytes addBytes(String field, int alignment) {
		if (alignment < 1 || alignment > SegmentWriter.MAX_ALIGNMENT || Integer.bitCount(alignment) != 1) {
			throw new IllegalArgumentException("alignment " + alignment + " (expected: 1, 2, 4 or 8)");
		}
		return new TableField.OfBytes(this, field, alignment);
	}

	/** Adds a vector of {@code bool}. */
	public TableField.OfArray<boolean[]> addBooleans(String field) {
		return new TableField.OfArray<>(this, field, ScalarKind.BOOLEAN);
	}

	/** Adds a vector of {@code short}. */
	public TableField.OfArray<short[]> addShorts(String field) {
		return new TableField.OfArray<>(this, field, ScalarKind.SHORT);
	}

	/** Adds a vector of {@code int}. */
	public TableField.OfArray<int[]> addInts(String field) {
		return new TableField.OfArray<>(this, field, ScalarKind.INT);
	}

	/** Adds a vector of {@code long}. */
	public TableField.OfArray<long[]> addLongs(String field) {
		return new TableField.OfArray<>(this, field, ScalarKind.LONG);
	}

	/** Adds a vector of {@code float}. */
	public TableField.OfArray<float[]> addFloats(String field) {
		return new TableField.OfArray<>(this, field, ScalarKind.FLOAT);
	}

	/** Adds a vector of {@code double}. */
	public TableField.OfArray<double[]> addDoubles(String field) {
		return new TableField.OfArray<>(this, field, ScalarKind.DOUBLE);
	}

	/** Adds a table. */
	public TableField.OfTable addTable(String field, TableType type) {
		return new TableField.OfTable(this, field, type);
	}

	/** Adds a vector of tables. */
	public TableField.OfTables addTables(String field, TableType type) {
		return new TableField.OfTables(this, field, type);
	}

	/** Adds a union of table types, which takes two fields. */
	public TableField.OfUnion addUnion(String field, TableType... members) {
		return new TableField.OfUnion(this, field, List.of(members));
	}

	/**
	 * Adds a nested FlatBuffer: a vector of bytes, aligned to 8, that holds a message of
	 * any type.
	 */
	public TableField.OfMessage addMessage(String field) {
		return new TableField.OfMessage(this, field);
	}

	/** Takes a new field and returns its number. */
	synchronized int add(TableField field, int slotCount) {
		if (this.layout != null) {
			throw new IllegalStateException(this.name + " is in use (expected: all fields before)");
		}
		if (this.slots + slotCount > MAX_FIELDS) {
			throw new IllegalStateException(this.name + " has more than " + MAX_FIELDS + " fields");
		}
		int index = this.slots;
		this.fields.add(field);
		this.slots += slotCount;
		return index;
	}

	/** How the tables lie; from now on the type is in use. */
	TableLayout layout() {
		TableLayout known = this.layout;
		return (known != null) ? known : use();
	}

	private TableLayout use() {
		TableLayout created;
		synchronized (this) {
			TableLayout known = this.layout;
			if (known != null) {
				return known;
			}
			this.shape.layOut(this.fields.stream()
				.map((field) -> new TableShape.Part(field.name(), field.shape(), TableShape.NO_ACCESSOR))
				.toList());
			created = this.shape.layout();
			this.fields.forEach((field) -> field.place(created));
			this.layout = created;
		}
		this.fields.forEach((field) -> field.targets().forEach(TableType::layout));
		return created;
	}

	/** The shape of its values; without fields until the type is in use. */
	TableShape shape() {
		return this.shape;
	}

	@Override
	public String toString() {
		return this.name;
	}

}
