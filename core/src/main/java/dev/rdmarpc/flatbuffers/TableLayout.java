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
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where the fields of a table type lie in the tables that this side writes.
 *
 * <pre>
 *   +-----------+---------------------------------------------------+
 *   | i32 table | fields by falling alignment, no gaps:             |
 *   |  - vtable | 8 bytes aligned, 4, 2, 1                          |
 *   +-----------+---------------------------------------------------+
 * </pre>
 *
 * <p>
 * Each field has a fixed place, whether it is absent or not; absence is told by the
 * vtable alone. So one vtable serves all tables of the type that lack the same fields.
 * Types with more than {@value #MAX_SHARED_FIELDS} fields give each table its own vtable
 * right in front of it.
 *
 * <p>
 * Immutable.
 */
final class TableLayout {

	/** Most fields of a table whose vtables are shared. */
	static final int MAX_SHARED_FIELDS = 64;

	static final int VTABLE_HEADER_BYTES = 4;

	/** Most tables that are reserved side by side. */
	private static final int MAX_RUN = 64;

	private static final AtomicInteger NEXT_ID = new AtomicInteger();

	/** The layout of tables without fields. */
	static final TableLayout EMPTY = new TableLayout(new String[0], new int[0], new int[0]);

	private final int id = NEXT_ID.getAndIncrement();

	private final String[] names;

	private final int[] sizes;

	private final int[] alignments;

	private final int[] offsets;

	private final int tableBytes;

	private final int alignment;

	private final int phase;

	private final int vtableBytes;

	private final boolean privateVtable;

	private final int strideBytes;

	private final long[] fullVtable;

	private final long allFields;

	/**
	 * Lays out a table type.
	 * @param names of the fields
	 * @param sizes of the fields, in bytes
	 * @param alignments of the fields, from 1 to 8
	 */
	TableLayout(String[] names, int[] sizes, int[] alignments) {
		this.names = names;
		this.sizes = sizes;
		this.alignments = alignments;
		this.offsets = new int[sizes.length];
		int end = SegmentWriter.OFFSET_BYTES;
		int widest = SegmentWriter.OFFSET_BYTES;
		for (int alignment = 8; alignment >= 1; alignment /= 2) {
			for (int field = 0; field < sizes.length; field++) {
				if (alignments[field] == alignment) {
					this.offsets[field] = end;
					end += sizes[field];
					widest = Math.max(widest, alignment);
				}
			}
		}
		this.tableBytes = end;
		this.alignment = widest;
		this.phase = (widest > SegmentWriter.OFFSET_BYTES) ? widest - SegmentWriter.OFFSET_BYTES : 0;
		this.vtableBytes = VTABLE_HEADER_BYTES + 2 * sizes.length;
		this.privateVtable = sizes.length > MAX_SHARED_FIELDS;
		this.strideBytes = (end + widest - 1) & -widest;
		this.fullVtable = vtable(0);
		this.allFields = (sizes.length != 0) ? -1L >>> (Long.SIZE - sizes.length) : 0;
	}

	/** A number no other layout of this process has. */
	int id() {
		return this.id;
	}

	/** Number of fields. */
	int fieldCount() {
		return this.offsets.length;
	}

	/** The offset of a field's entry from the begin of a vtable. */
	static int entry(int field) {
		return VTABLE_HEADER_BYTES + 2 * field;
	}

	/** The name of a field. */
	String name(int field) {
		return this.names[field];
	}

	/** The size of a field, in bytes. */
	int size(int field) {
		return this.sizes[field];
	}

	/** The alignment of a field, from 1 to 8. */
	int alignment(int field) {
		return this.alignments[field];
	}

	/** The offset of a field from the table's begin. */
	int offset(int field) {
		return this.offsets[field];
	}

	/** Whether each table has its own vtable, right in front of it. */
	boolean hasPrivateVtable() {
		return this.privateVtable;
	}

	/**
	 * Reserves a table.
	 * @return its index in the builder's memory
	 */
	int reserve(SegmentWriter out) {
		if (!hasPrivateVtable()) {
			return out.reserve(this.tableBytes, this.alignment, this.phase);
		}
		int padded = (this.vtableBytes + 7) & -8;
		int at = out.reserve(padded + this.tableBytes, this.alignment, this.phase) + padded;
		ByteBuffer memory = out.memory();
		memory.putLong(at - padded, 0);
		writeVtable(memory, at - this.vtableBytes, 0);
		memory.putInt(at, this.vtableBytes);
		return at;
	}

	/**
	 * How many of several tables fit into the builder's memory side by side, each a
	 * {@link #strideBytes() stride} after the one before.
	 * @param wanted how many are needed
	 * @return at most that many; less than 2 if they cannot be reserved together
	 */
	int runLength(int wanted, SegmentWriter out) {
		if (hasPrivateVtable()) {
			return 0;
		}
		return Math.min(Math.min(wanted, MAX_RUN), (out.room() - this.alignment) / this.strideBytes);
	}

	/**
	 * Reserves tables side by side, and zeroes what is between them.
	 * @param count at most {@link #runLength}
	 * @return the index of the first in the builder's memory
	 */
	int reserveRun(int count, SegmentWriter out) {
		int first = out.reserve(count * this.strideBytes, this.alignment, this.phase);
		if (this.strideBytes != this.tableBytes) {
			ByteBuffer memory = out.memory();
			int at = first + this.tableBytes;
			for (int i = 0; i < count; i++) {
				memory.putLong(at, 0);
				at += this.strideBytes;
			}
		}
		return first;
	}

	/** From the begin of a table to that of the next one, when they lie side by side. */
	int strideBytes() {
		return this.strideBytes;
	}

	/** Notes in the builder or in the table's own vtable that a field has no value. */
	void markAbsent(int field, SegmentWriter out, ByteBuffer memory, int table) {
		if (hasPrivateVtable()) {
			memory.putShort(table - this.vtableBytes + entry(field), (short) 0);
		}
		else {
			out.addAbsent(field);
		}
	}

	/** Makes all fields of a table with a vtable of its own absent. */
	void clear(ByteBuffer memory, int table) {
		for (int i = SegmentWriter.OFFSET_BYTES; i < this.tableBytes; i++) {
			memory.put(table + i, (byte) 0);
		}
		for (int field = 0; field < this.offsets.length; field++) {
			memory.putShort(table - this.vtableBytes + entry(field), (short) 0);
		}
	}

	/**
	 * Zeroes the places of fields of a table, which must be scalars or references.
	 * @param fields a bit set
	 */
	void zero(long fields, ByteBuffer memory, int table) {
		for (long left = fields; left != 0; left &= left - 1) {
			int field = Long.numberOfTrailingZeros(left);
			int at = table + this.offsets[field];
			switch (this.sizes[field]) {
				case 1 -> memory.put(at, (byte) 0);
				case 2 -> memory.putShort(at, (short) 0);
				case 4 -> memory.putInt(at, 0);
				default -> memory.putLong(at, 0);
			}
		}
	}

	/** Whether a table with a vtable of its own has that field. */
	boolean isPresent(int field, ByteBuffer memory, int table) {
		return memory.getShort(table - this.vtableBytes + entry(field)) != 0;
	}

	/** Notes in a table's own vtable that it has that field. */
	void markPresent(int field, ByteBuffer memory, int table) {
		memory.putShort(table - this.vtableBytes + entry(field), (short) this.offsets[field]);
	}

	/** All fields, a bit set; only for tables that share their vtables. */
	long allFields() {
		return this.allFields;
	}

	/** Size of a vtable. */
	int vtableBytes() {
		return this.vtableBytes;
	}

	/** The vtable of tables that lack nothing; not to be changed. */
	long[] fullVtable() {
		return this.fullVtable;
	}

	/**
	 * Makes the vtable of tables that lack some fields.
	 * @param absent the fields without value, a bit set
	 * @return its bytes, eight at a time and little-endian, zeroes at the end
	 */
	long[] vtable(long absent) {
		long[] words = new long[(this.vtableBytes + Long.BYTES - 1) / Long.BYTES];
		ByteBuffer bytes = ByteBuffer.allocate(words.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
		writeVtable(bytes, 0, absent);
		bytes.asLongBuffer().get(words);
		return words;
	}

	private void writeVtable(ByteBuffer memory, int at, long absent) {
		memory.putShort(at, (short) this.vtableBytes);
		memory.putShort(at + 2, (short) this.tableBytes);
		int entry = at + VTABLE_HEADER_BYTES;
		for (int field = 0; field < this.offsets.length; field++) {
			boolean present = field >= MAX_SHARED_FIELDS || (absent & (1L << field)) == 0;
			memory.putShort(entry, present ? (short) this.offsets[field] : 0);
			entry += 2;
		}
	}

}
