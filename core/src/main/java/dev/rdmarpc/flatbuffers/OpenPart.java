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

/**
 * A table or vector that a {@link GatherBuilder} has begun and not ended. Reused.
 */
final class OpenPart {

	private static final ByteBuffer NONE = ByteBuffer.allocate(0);

	private @Nullable TableType type;

	private @Nullable TableField vector;

	private TableLayout layout = new TableLayout(new int[0], new int[0]);

	private ByteBuffer memory = NONE;

	private int at;

	private int base;

	private long present;

	private int remaining;

	/** Becomes a table without fields that was just reserved. */
	void beginTable(TableType type, TableLayout layout, ByteBuffer memory, int at, int base) {
		this.type = type;
		this.vector = null;
		this.layout = layout;
		this.memory = memory;
		this.at = at;
		this.base = base;
		this.present = 0;
		layout.clear(memory, at);
	}

	/** Becomes a vector of references, the first of which lies at that index. */
	void beginVector(TableField vector, int count, ByteBuffer memory, int at, int base) {
		this.type = null;
		this.vector = vector;
		this.memory = memory;
		this.at = at;
		this.base = base;
		this.remaining = count;
		for (int i = 0; i < count; i++) {
			memory.putInt(at + SegmentWriter.OFFSET_BYTES * i, 0);
		}
	}

	/** Lets go of the memory. */
	void end() {
		this.type = null;
		this.vector = null;
		this.memory = NONE;
	}

	/** The memory it lies in. */
	ByteBuffer memory() {
		return this.memory;
	}

	/** What to add to an index to get the position in the message. */
	int base() {
		return this.base;
	}

	/** Marks a scalar field present and returns the index to write it to. */
	int claim(TableField field) {
		int slot = slot(field);
		mark(field.firstIndex());
		return slot;
	}

	/**
	 * The index of a field, or of a union's number, which must not have been set.
	 * @throws IllegalArgumentException if it is a field of another type
	 * @throws IllegalStateException if it is set
	 */
	int slot(TableField field) {
		if (field.owner() != this.type) {
			throw new IllegalArgumentException(field + " (expected: " + expected() + ")");
		}
		if (isPresent(field.firstIndex())) {
			throw new IllegalStateException(field + " is set already");
		}
		return this.at + field.offset();
	}

	private boolean isPresent(int index) {
		return this.layout.hasPrivateVtable() ? this.layout.isPresent(index, this.memory, this.at)
				: (this.present & (1L << index)) != 0;
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
		mark(field.firstIndex());
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
	 * The vector that this is, if it lacks elements.
	 * @throws IllegalStateException otherwise
	 */
	TableField vector() {
		TableField field = this.vector;
		if (field == null || this.remaining == 0) {
			throw new IllegalStateException("no element fits here (expected: " + expected() + ")");
		}
		return field;
	}

	/** Sets the next element to refer to a position in the message. */
	void referElement(int target) {
		this.memory.putInt(this.at, target - this.at - this.base);
		this.at += SegmentWriter.OFFSET_BYTES;
		this.remaining--;
	}

	/**
	 * Completes it: gives a table its vtable.
	 * @return whether it is a table
	 * @throws IllegalStateException if elements are missing
	 */
	boolean complete(SegmentWriter out) {
		if (this.vector != null && this.remaining > 0) {
			throw new IllegalStateException("vector " + this.vector + " lacks " + this.remaining + " elements");
		}
		if (this.type != null && !this.layout.hasPrivateVtable()) {
			int vtable = out.vtable(this.layout, ~this.present & this.layout.allFields());
			this.memory.putInt(this.at, this.at + this.base - vtable);
		}
		return this.type != null;
	}

	/** What may come next, for messages to people. */
	private String expected() {
		if (this.vector != null) {
			return (this.remaining > 0) ? this.remaining + " more elements of " + this.vector
					: "the end of " + this.vector;
		}
		return (this.type != null) ? "a field of " + this.type : "a message begun";
	}

}
