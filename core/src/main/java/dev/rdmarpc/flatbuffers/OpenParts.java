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
import java.util.ArrayList;
import java.util.List;

import dev.rdmarpc.codec.UnencodableValueException;

/**
 * The tables and vectors of a message that are begun and not ended, each inside the one
 * before.
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * At any time one table and one vector are at hand: the innermost of each. While a vector
 * is open, the table that has it is put away, so that beginning and ending an element
 * moves nothing. The vector is put away only by what is begun inside of its elements.
 */
final class OpenParts {

	private static final int NOTHING = 0;

	private static final int TABLE = 1;

	private static final int ELEMENT = 2;

	private static final int VECTOR = 3;

	private final SegmentWriter out;

	private final OpenTable table = new OpenTable(this);

	private final OpenVector vector = new OpenVector();

	private final List<Outer> outers = new ArrayList<>();

	private int depth;

	private int deepest;

	private int open = NOTHING;

	/** Creates a stack without parts. */
	OpenParts(SegmentWriter out) {
		this.out = out;
	}

	/** The table that fields are put into; refuses all when none is open. */
	OpenTable table() {
		return this.table;
	}

	/** Whether a table is open, or an element that is one. */
	boolean isTable() {
		return this.open == TABLE || this.open == ELEMENT;
	}

	/** Whether the innermost part is the root, or there is none. */
	boolean isRoot() {
		return this.depth == 0 && this.open != ELEMENT;
	}

	/**
	 * Begins a table that is the root of a message.
	 * @return its position in the message
	 */
	int beginRoot(TableType type) {
		this.table.beginMessage();
		int slot = this.out.reserve(SegmentWriter.OFFSET_BYTES, SegmentWriter.OFFSET_BYTES, 0);
		ByteBuffer memory = this.out.memory();
		int base = this.out.base();
		int position = this.table.begin(type, type.layout(), 0, this.out);
		memory.putInt(slot, position - slot - base);
		this.open = TABLE;
		this.deepest = 1;
		return position;
	}

	/**
	 * Begins a vector of references that is the root of part of a message.
	 * @return its position
	 */
	int beginRoot(TableField field, int count) {
		this.table.beginMessage();
		int position = this.vector.begin(field, count, 0, this.out);
		this.open = VECTOR;
		this.deepest = 1;
		return position;
	}

	/** Begins a table as a field of the one that is open. */
	void begin(TableField.OfTable field) {
		this.table.check(field);
		TableType type = field.target();
		Outer outer = save();
		outer.table.refer(field, begin(type));
		this.depth++;
	}

	/** Begins a table as a union of the one that is open. */
	void begin(TableField.OfUnion field, TableType member) {
		this.table.check(field);
		int number = field.number(member);
		Outer outer = save();
		outer.table.refer(field, number, begin(member));
		this.depth++;
	}

	private int begin(TableType type) {
		int position = this.table.begin(type, type.layout(), this.table.depth(), this.out);
		this.open = TABLE;
		this.deepest = Math.max(this.deepest, this.table.depth());
		return position;
	}

	/** Begins a vector as a field of the table that is open. */
	void begin(TableField field, int count) {
		this.table.check(field);
		Outer outer = save();
		outer.table.refer(field, this.vector.begin(field, count, this.table.depth(), this.out));
		this.deepest = Math.max(this.deepest, this.table.depth() + 1);
		this.table.close();
		this.open = VECTOR;
		this.depth++;
	}

	/** Begins the next table of the vector that is open. */
	void begin() {
		OpenVector elements = this.vector;
		if (this.open != VECTOR) {
			throw misplaced("table");
		}
		if (!elements.hasReadyTable() && !reserve()) {
			return;
		}
		this.table.beginReady(elements.takeReadyTable());
		this.open = ELEMENT;
	}

	/**
	 * Reserves more than one table, or begins a single one.
	 * @return whether it was more than one
	 */
	private boolean reserve() {
		TableLayout layout = this.vector.layout();
		TableType type = this.vector.elements();
		if (layout == null || type == null || this.vector.isFull()) {
			throw misplaced("table");
		}
		if (this.table.makeReady(this.vector, type, layout, this.out)) {
			return true;
		}
		this.vector.add(this.table.begin(type, layout, this.vector.depth(), this.out));
		this.open = ELEMENT;
		return false;
	}

	/**
	 * The type of the next element of the vector of tables that is open.
	 * @throws IllegalStateException if none is open, or it is full
	 */
	TableType nextTable() {
		TableType type = this.vector.elements();
		if (this.open != VECTOR || type == null || this.vector.isFull()) {
			throw misplaced("table");
		}
		return type;
	}

	/**
	 * Checks that a vector of strings is open and not full.
	 * @throws IllegalStateException otherwise
	 */
	void checkString() {
		if (this.open != VECTOR || this.vector.elements() != null || this.vector.isFull()) {
			throw misplaced("string");
		}
	}

	/**
	 * Notes that a message becomes part of the innermost part.
	 * @param tables its depth
	 * @throws UnencodableValueException if that is too deep
	 */
	void embed(int tables) {
		int total = tables + ((this.open == VECTOR) ? this.vector.depth() : this.table.depth());
		if (total > this.out.maxDepth()) {
			throw new UnencodableValueException("nested deeper than " + this.out.maxDepth() + " tables");
		}
		this.deepest = Math.max(this.deepest, total);
	}

	/** The most tables that are nested in each other. */
	int deepest() {
		return this.deepest;
	}

	/** Adds a reference to a position in the message to the vector that is open. */
	void add(int target) {
		if (this.vector.hasReadyTable()) {
			this.table.skipReady(this.vector.skipReadyTable(), this.vector.strideBytes());
		}
		this.vector.add(target);
	}

	/**
	 * Ends the innermost part if it is an element that lacks nothing, not even its
	 * vtable: most are, and this is small enough to be inlined.
	 * @return whether it was ended
	 */
	boolean endReady() {
		if (this.open == ELEMENT && this.table.endReady()) {
			this.open = VECTOR;
			return true;
		}
		return false;
	}

	/**
	 * Ends the innermost part, which may be the root.
	 * @throws IllegalStateException if it lacks elements
	 */
	void end() {
		if (this.open == ELEMENT) {
			this.table.end(this.out);
			this.open = VECTOR;
		}
		else {
			endOuter();
		}
	}

	private void endOuter() {
		if (this.open == VECTOR && !this.vector.isFull()) {
			throw new IllegalStateException(
					"vector " + this.vector + " lacks " + this.vector.remaining() + " elements");
		}
		if (this.open == TABLE) {
			this.table.end(this.out);
		}
		if (this.depth > 0) {
			this.depth--;
			restore(this.outers.get(this.depth));
		}
		else {
			this.open = NOTHING;
		}
	}

	private Outer save() {
		if (this.depth == this.outers.size()) {
			this.outers.add(new Outer(this));
		}
		Outer outer = this.outers.get(this.depth);
		outer.table.copy(this.table);
		if (this.open == ELEMENT) {
			outer.vector.copy(this.vector);
		}
		outer.open = this.open;
		return outer;
	}

	private void restore(Outer outer) {
		this.table.copy(outer.table);
		if (outer.open == ELEMENT) {
			this.vector.copy(outer.vector);
		}
		this.open = outer.open;
	}

	/** Forgets all parts. */
	void clear() {
		this.table.clear();
		this.vector.clear();
		for (int i = 0; i < this.depth; i++) {
			this.outers.get(i).table.clear();
			this.outers.get(i).vector.clear();
		}
		this.depth = 0;
		this.open = NOTHING;
	}

	private IllegalStateException misplaced(String what) {
		return new IllegalStateException("no " + what + " fits here (expected: " + expected() + ")");
	}

	/** What may come next, for messages to people. */
	String expected() {
		return switch (this.open) {
			case TABLE, ELEMENT -> "a field of " + this.table;
			case VECTOR -> this.vector.isFull() ? "the end of " + this.vector
					: this.vector.remaining() + " more elements of " + this.vector;
			default -> "a message begun";
		};
	}

	/** What was at hand before a part was begun. */
	private static final class Outer {

		private final OpenTable table;

		private final OpenVector vector = new OpenVector();

		private int open;

		Outer(OpenParts parts) {
			this.table = new OpenTable(parts);
		}

	}

}
