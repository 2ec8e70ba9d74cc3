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
 * The vector of tables or strings that a {@link GatherBuilder} adds elements to. One
 * object is used for all of them, one after the other.
 */
final class OpenVector {

	private static final ByteBuffer NONE = ByteBuffer.allocate(0);

	private @Nullable TableField field;

	private @Nullable TableType elements;

	private @Nullable TableLayout layout;

	private ByteBuffer memory = NONE;

	private int at;

	private int base;

	private int end;

	private int depth;

	private int ready;

	private int readyEnd;

	private int stride;

	/**
	 * Begins a vector.
	 * @param tables how many it is nested in
	 * @return its position in the message
	 */
	int begin(TableField ofField, int count, int tables, SegmentWriter out) {
		if (count < 0) {
			throw new IllegalArgumentException("count " + count + " (expected: at least 0)");
		}
		int index = out.reserveVector(count, SegmentWriter.OFFSET_BYTES, SegmentWriter.OFFSET_BYTES);
		this.field = ofField;
		this.elements = (ofField instanceof TableField.OfTables typed) ? typed.target() : null;
		this.layout = (this.elements != null) ? this.elements.layout() : null;
		this.depth = tables;
		this.memory = out.memory();
		this.base = out.base();
		this.at = index + SegmentWriter.OFFSET_BYTES;
		this.end = this.at + SegmentWriter.OFFSET_BYTES * count;
		this.ready = 0;
		this.readyEnd = 0;
		return index + out.base();
	}

	/** Whether the next table is reserved and referred to already. */
	boolean hasReadyTable() {
		return this.ready != this.readyEnd;
	}

	/**
	 * Takes a table that is reserved already as the next element.
	 * @return its index in the memory it was reserved in
	 */
	int takeReadyTable() {
		int table = this.ready;
		this.ready = table + this.stride;
		this.at += SegmentWriter.OFFSET_BYTES;
		return table;
	}

	/**
	 * Leaves out a table that is reserved already; something else is the next element.
	 * @return its index in the memory it was reserved in
	 */
	int skipReadyTable() {
		int table = this.ready;
		this.ready = table + this.stride;
		return table;
	}

	/** From the begin of a table that is reserved to that of the next one. */
	int strideBytes() {
		return this.stride;
	}

	/**
	 * Takes tables as the next elements, to be {@linkplain #takeReadyTable() taken} one
	 * by one.
	 * @param first index of the first, the others follow at the stride of the layout
	 * @param offset what to add to get its position in the message
	 */
	void ready(int first, int count, TableLayout ofLayout, int offset) {
		this.stride = ofLayout.strideBytes();
		this.ready = first;
		this.readyEnd = first + count * this.stride;
		ByteBuffer of = this.memory;
		int slot = this.at;
		int relative = first + offset - this.base - slot;
		int step = this.stride - SegmentWriter.OFFSET_BYTES;
		long pair = ((long) (relative + step) << Integer.SIZE) | relative;
		long pairStep = ((2L * step) << Integer.SIZE) | (2L * step);
		for (int i = 1; i < count; i += 2) {
			of.putLong(slot, pair);
			slot += 2 * SegmentWriter.OFFSET_BYTES;
			pair += pairStep;
		}
		if ((count & 1) != 0) {
			of.putInt(slot, (int) pair);
		}
	}

	/** The type of its elements, {@code null} if they are no tables. */
	@Nullable TableType elements() {
		return this.elements;
	}

	/** How its elements lie, {@code null} if they are no tables. */
	@Nullable TableLayout layout() {
		return this.layout;
	}

	/** How many tables it is nested in. */
	int depth() {
		return this.depth;
	}

	/** Whether no element is missing. */
	boolean isFull() {
		return this.at == this.end;
	}

	/** Sets the next element to refer to a position in the message. */
	void add(int target) {
		int slot = this.at;
		this.memory.putInt(slot, target - slot - this.base);
		this.at = slot + SegmentWriter.OFFSET_BYTES;
	}

	/** How many elements are missing. */
	int remaining() {
		return (this.end - this.at) / SegmentWriter.OFFSET_BYTES;
	}

	/** Forgets the vector. */
	void clear() {
		this.field = null;
		this.elements = null;
		this.layout = null;
		this.memory = NONE;
		this.at = 0;
		this.end = 0;
		this.ready = 0;
		this.readyEnd = 0;
	}

	/** Becomes what another one is. */
	void copy(OpenVector other) {
		this.field = other.field;
		this.elements = other.elements;
		this.layout = other.layout;
		this.memory = other.memory;
		this.at = other.at;
		this.base = other.base;
		this.end = other.end;
		this.depth = other.depth;
		this.ready = other.ready;
		this.readyEnd = other.readyEnd;
		this.stride = other.stride;
	}

	@Override
	public String toString() {
		return String.valueOf(this.field);
	}

}
