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
 * The table that a {@link GatherBuilder} puts fields into. One object is used for all of
 * them, one after the other.
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * What is put has its bit set in {@link #present}, and a bit that is set leads to the
 * slow way. So all of them are set when no table is open, and for tables that keep their
 * presence in a vtable of their own.
 */
final class OpenTable {

	private static final ByteBuffer NONE = ByteBuffer.allocate(0);

	private final OpenParts parts;

	private @Nullable TableType type;

	private TableLayout layout = TableLayout.EMPTY;

	private ByteBuffer memory = NONE;

	private int at;

	private int base;

	private int depth;

	private long present = -1;

	private long lastAbsent;

	private int lastVtable;

	private boolean linked;

	private long allFields;

	/** Creates an object without a table. */
	OpenTable(OpenParts parts) {
		this.parts = parts;
	}

	/** Forgets the vtables of the message before. */
	void beginMessage() {
		this.lastVtable = -1;
	}

	/**
	 * Begins a table without fields.
	 * @param tables how many it is nested in
	 * @return its position in the message
	 * @throws UnencodableValueException if it is nested too deep
	 */
	@SuppressWarnings("ReferenceEquality") // the same memory, not equal content
	int begin(TableType ofType, TableLayout ofLayout, int tables, SegmentWriter out) {
		if (tables >= out.maxDepth()) {
			throw new UnencodableValueException("nested deeper than " + out.maxDepth() + " tables");
		}
		int index = ofLayout.reserve(out);
		int offset = out.base();
		ByteBuffer of = out.memory();
		if (this.type != ofType) {
			this.type = ofType;
			this.layout = ofLayout;
			this.lastVtable = -1;
		}
		if (this.memory != of) {
			this.memory = of;
		}
		this.depth = tables + 1;
		this.at = index;
		this.base = offset;
		this.present = 0;
		this.linked = false;
		if (ofLayout.hasPrivateVtable()) {
			ofLayout.clear(of, index);
			this.present = -1;
		}
		return index + offset;
	}

	/**
	 * Reserves several tables of the type that was begun last, and gives them the vtable
	 * that was used last.
	 * @param vector gets them as its next elements
	 * @return whether there are any, to be begun by {@link #beginReady}
	 */
	@SuppressWarnings("ReferenceEquality") // the same memory, not equal content
	boolean makeReady(OpenVector vector, TableType ofType, TableLayout ofLayout, SegmentWriter out) {
		if (this.type != ofType || this.lastVtable < 0 || vector.depth() >= out.maxDepth()) {
			return false;
		}
		int count = ofLayout.runLength(vector.remaining(), out);
		if (count < 2) {
			return false;
		}
		int first = ofLayout.reserveRun(count, out);
		int offset = out.base();
		ByteBuffer of = out.memory();
		if (this.memory != of) {
			this.memory = of;
		}
		this.base = offset;
		this.depth = vector.depth() + 1;
		this.linked = true;
		this.allFields = ofLayout.allFields();
		int vtable = first + offset - this.lastVtable;
		int index = first;
		int stride = ofLayout.strideBytes();
		for (int i = 0; i < count; i++) {
			of.putInt(index, vtable);
			vtable += stride;
			index += stride;
		}
		vector.ready(first, count, ofLayout, offset);
		return true;
	}

	/** Begins one of the tables that were reserved together. */
	void beginReady(int index) {
		this.at = index;
		this.present = 0;
	}

	/** Zeroes one of the tables that were reserved together; it is not used. */
	void skipReady(int index, int bytes) {
		for (int i = index; i < index + bytes; i++) {
			this.memory.put(i, (byte) 0);
		}
	}

	/** How many tables there are down to this one. */
	int depth() {
		return this.depth;
	}

	/** The memory it lies in. */
	ByteBuffer memory() {
		return this.memory;
	}

	/** Marks a scalar field present and returns the index to write it to. */
	int claim(TableField field) {
		long bit = field.bit();
		long before = this.present;
		if (field.owner() != this.type || (before & bit) != 0) {
			checkSlowly(field);
			mark(field.firstIndex());
		}
		else {
			this.present = before | bit;
		}
		return this.at + field.offset();
	}

	/**
	 * Checks that a field can be set.
	 * @throws IllegalArgumentException if it is a field of another type
	 * @throws IllegalStateException if it is set
	 */
	void check(TableField field) {
		if (field.owner() != this.type || (this.present & field.bit()) != 0) {
			checkSlowly(field);
		}
	}

	private void checkSlowly(TableField field) {
		if (field.owner() != this.type || !this.parts.isTable()) {
			throw new IllegalArgumentException(field + " (expected: " + this.parts.expected() + ")");
		}
		int index = field.firstIndex();
		if (this.layout.hasPrivateVtable() ? this.layout.isPresent(index, this.memory, this.at)
				: (this.present & (1L << index)) != 0) {
			throw new IllegalStateException(field + " is set already");
		}
	}

	private void mark(TableField field) {
		if (this.present != -1) {
			this.present |= field.bit();
		}
		else {
			mark(field.firstIndex());
		}
	}

	private void mark(int index) {
		if (this.layout.hasPrivateVtable()) {
			this.layout.markPresent(index, this.memory, this.at);
		}
		else {
			this.present |= 1L << index;
		}
	}

	/** Sets a field to refer to a position in the message. */
	void refer(TableField field, int target) {
		int slot = this.at + field.offset();
		this.memory.putInt(slot, target - slot - this.base);
		mark(field);
	}

	/** Sets a union to refer to a position in the message. */
	void refer(TableField.OfUnion field, int number, int target) {
		this.memory.put(this.at + field.offset(), (byte) number);
		mark(field.firstIndex());
		int slot = this.at + field.valueOffset();
		this.memory.putInt(slot, target - slot - this.base);
		mark(field.firstIndex() + 1);
	}

	/**
	 * Ends the table if it lacks no field and has the vtable of such tables already.
	 * @return whether it was ended
	 */
	boolean endReady() {
		if (this.linked && this.lastAbsent == 0 && this.present == this.allFields) {
			this.present = -1;
			return true;
		}
		return false;
	}

	/** Ends the table: gives it its vtable. */
	void end(SegmentWriter out) {
		TableLayout of = this.layout;
		long absent = ~this.present & of.allFields();
		if (!this.linked || absent != this.lastAbsent) {
			link(absent, out);
		}
		if (absent != 0) {
			of.zero(absent, this.memory, this.at);
		}
		this.present = -1;
	}

	private void link(long absent, SegmentWriter out) {
		if (this.layout.hasPrivateVtable()) {
			return;
		}
		if (absent != this.lastAbsent || this.lastVtable < 0) {
			this.lastVtable = out.vtables().position(this.layout, absent, out);
			this.lastAbsent = absent;
			this.linked = false;
		}
		this.memory.putInt(this.at, this.at + this.base - this.lastVtable);
	}

	/** Refuses further fields. */
	void close() {
		this.present = -1;
	}

	/** Forgets the table and the message. */
	void clear() {
		this.type = null;
		this.memory = NONE;
		this.present = -1;
		this.lastVtable = -1;
	}

	/** Becomes what another one is. */
	void copy(OpenTable other) {
		this.type = other.type;
		this.layout = other.layout;
		this.memory = other.memory;
		this.at = other.at;
		this.base = other.base;
		this.depth = other.depth;
		this.present = other.present;
		this.lastAbsent = other.lastAbsent;
		this.lastVtable = other.lastVtable;
		this.linked = other.linked;
		this.allFields = other.allFields;
	}

	@Override
	public String toString() {
		return String.valueOf(this.type);
	}

}
