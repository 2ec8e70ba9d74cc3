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

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.ValuesTooLargeException;

/**
 * Checks of one received message, made before anything of it is read: offsets, lengths,
 * alignment, text, nesting, and how much work the message makes for its size.
 *
 * <p>
 * Positions are absolute indexes of the buffer; alignment counts from the message's
 * begin. Not thread-safe.
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * References only point forwards, so there are no cycles, but many references may share a
 * target, and a chain of such sharing grows exponentially; and a few bytes of a message
 * may become a large object. So each visit is charged with the bytes it visits and with
 * the heap that the reader will allocate for what is there, and the sum is limited to a
 * multiple of the message's size. What small values in tables and vectors take is charged
 * with the table or vector, whatever they are.
 *
 * <p>
 * A vtable that was checked for a table type is not checked again for tables of that type
 * with the same alignment, which is nearly all of them.
 */
final class MessageVerifier {

	/** What a message may always cost, however small it is. */
	private static final int FREE_BYTES = 64 * 1024;

	/**
	 * Bytes of a decimal number that is compared with others, at most: it may have to be
	 * multiplied by a power of ten of as many digits each time.
	 */
	static final int MAX_COMPARED_DECIMAL_BYTES = 128;

	private static final ByteBuffer NONE = ByteBuffer.allocate(0);

	private final int maxDepth;

	private final int maxAmplification;

	private ByteBuffer buffer = NONE;

	private int start;

	private int end;

	private int depth;

	private long budget;

	private long heapBytes;

	private boolean copying;

	private int keys;

	private int message;

	private final LayoutTable<CheckedVtable> vtables = new LayoutTable<>();

	/**
	 * Creates a verifier.
	 * @param maxDepth tables nested in each other, at most
	 * @param maxAmplification bytes visited or allocated per byte of the message, at most
	 */
	MessageVerifier(int maxDepth, int maxAmplification) {
		this.maxDepth = maxDepth;
		this.maxAmplification = maxAmplification;
	}

	/**
	 * Starts with a message.
	 * @param buffer little-endian; the message is its bytes from start to end
	 * @param copying whether views of it are made copies
	 */
	void begin(ByteBuffer buffer, int start, int end, boolean copying) {
		this.buffer = buffer;
		this.start = start;
		this.end = end;
		this.depth = 0;
		this.budget = (long) this.maxAmplification * (end - start) + FREE_BYTES;
		this.heapBytes = 0;
		this.copying = copying;
		this.keys = 0;
		this.message++;
	}

	/**
	 * Verifies the root reference.
	 * @return position of the root table
	 */
	int root() {
		if (this.end - this.start < 2 * SegmentWriter.OFFSET_BYTES) {
			throw malformed("message of " + (this.end - this.start) + " bytes", this.start);
		}
		return reference(this.start);
	}

	/**
	 * Verifies a reference.
	 * @param slot its position, verified
	 * @return position of its target, which has at least four bytes
	 */
	int reference(int slot) {
		long target = slot + (this.buffer.getInt(slot) & 0xFFFFFFFFL);
		if (target == slot || target > this.end - SegmentWriter.OFFSET_BYTES) {
			throw malformed("reference out of bounds", slot);
		}
		if (((target - this.start) & 3) != 0) {
			throw malformed("misaligned reference", slot);
		}
		return (int) target;
	}

	/**
	 * Verifies a vector but not its elements, nor charges what they will take.
	 * @param position position of its length, verified
	 * @return number of elements
	 */
	int vector(int position, int elementBytes, int alignment) {
		long count = this.buffer.getInt(position) & 0xFFFFFFFFL;
		int elements = position + SegmentWriter.OFFSET_BYTES;
		long bytes = count * elementBytes;
		if (bytes > this.end - elements) {
			throw malformed("vector of " + count + " elements beyond the end", position);
		}
		if (count > 0 && ((elements - this.start) & (alignment - 1)) != 0) {
			throw malformed("misaligned vector", position);
		}
		charge(SegmentWriter.OFFSET_BYTES + bytes, position);
		return (int) count;
	}

	/**
	 * Verifies a byte vector that holds a message of its own, up to its root table.
	 * @param position position of its length, verified
	 */
	void nested(int position) {
		int bytes = view(position);
		foreignRoot(position + SegmentWriter.OFFSET_BYTES, bytes);
	}

	/**
	 * Verifies a byte vector that is read as a view, or a copy of it.
	 * @param position position of its length, verified
	 * @return number of bytes
	 */
	int view(int position) {
		int bytes = vector(position, 1, 1);
		allocate(HeapBytes.VIEW + (this.copying ? bytes : 0), position);
		return bytes;
	}

	/** Verifies that the message has a root table. */
	void foreignRoot() {
		foreignRoot(this.start, this.end - this.start);
	}

	private void foreignRoot(int position, int bytes) {
		long table = (bytes < 2 * SegmentWriter.OFFSET_BYTES) ? 0 : this.buffer.getInt(position) & 0xFFFFFFFFL;
		if (table < SegmentWriter.OFFSET_BYTES || table > bytes - SegmentWriter.OFFSET_BYTES) {
			throw malformed("message without root table", position);
		}
		long vtable = table - this.buffer.getInt(position + (int) table);
		if (vtable < 0 || vtable > bytes - TableLayout.VTABLE_HEADER_BYTES
				|| vtableBytes(position + (int) vtable) > bytes - vtable) {
			throw malformed("root table without vtable", position);
		}
	}

	/**
	 * Verifies a string, and charges it.
	 * @param position position of its length, verified
	 * @return number of bytes
	 */
	int string(int position) {
		int bytes = characters(position);
		allocate(HeapBytes.STRING + 2L * bytes, position);
		return bytes;
	}

	/**
	 * Verifies a string that is not read as such.
	 * @param position position of its length, verified
	 * @return number of bytes
	 */
	int characters(int position) {
		int bytes = vector(position, 1, 1);
		int text = position + SegmentWriter.OFFSET_BYTES;
		if (text + bytes >= this.end || this.buffer.get(text + bytes) != 0) {
			throw malformed("string without terminator", position);
		}
		if (!Utf8.isValid(this.buffer, text, bytes)) {
			throw malformed("string that is not UTF-8", position);
		}
		return bytes;
	}

	/**
	 * Verifies a table up to the bounds and alignment of its fields, and goes one level
	 * deeper.
	 * @param table its position, verified
	 * @param valueBytes heap that it will take, without what its references lead to
	 * @return position of its vtable
	 */
	int enterTable(int table, TableLayout layout, int valueBytes) {
		if (++this.depth > this.maxDepth) {
			throw malformed("nested deeper than " + this.maxDepth + " tables", table);
		}
		long vtable = table - (long) this.buffer.getInt(table);
		CheckedVtable checked = checkedVtable(layout.id());
		if (checked.message != this.message || checked.vtable != vtable || checked.phase != (table & 7)) {
			checked.message = -1;
			checked.tableBytes = vtable(vtable, table, layout);
			checked.vtable = (int) vtable;
			checked.phase = table & 7;
			checked.message = this.message;
		}
		if (checked.tableBytes > this.end - table) {
			throw malformed("table of " + checked.tableBytes + " bytes beyond the end", table);
		}
		this.heapBytes += valueBytes;
		charge(SegmentWriter.OFFSET_BYTES + checked.tableBytes + valueBytes, table);
		return (int) vtable;
	}

	/** Comes back from a table. */
	void leaveTable() {
		this.depth--;
	}

	/**
	 * Goes into what is compared with others of its kind: a key, or elements of a set.
	 */
	void enterKey() {
		this.keys++;
	}

	/** Comes back from it. */
	void leaveKey() {
		this.keys--;
	}

	/**
	 * Verifies that the digits of a decimal number are not too many where they are.
	 * @param bytes how many bytes they have
	 * @param position where they are
	 */
	void decimal(int bytes, int position) {
		if (this.keys > 0 && bytes > MAX_COMPARED_DECIMAL_BYTES) {
			throw new ValuesTooLargeException("a BigDecimal of " + bytes
					+ " bytes in the key of a map or the element of a set, at byte " + (position - this.start)
					+ " (expected: at most " + MAX_COMPARED_DECIMAL_BYTES + ", about 300 digits)");
		}
	}

	private int vtable(long position, int table, TableLayout layout) {
		if (position < this.start || position > this.end - TableLayout.VTABLE_HEADER_BYTES
				|| ((position - this.start) & 1) != 0) {
			throw malformed("vtable out of bounds", table);
		}
		int vtable = (int) position;
		int vtableBytes = vtableBytes(vtable);
		int tableBytes = this.buffer.getShort(vtable + 2) & 0xFFFF;
		if (vtableBytes < TableLayout.VTABLE_HEADER_BYTES || (vtableBytes & 1) != 0 || vtableBytes > this.end - vtable
				|| tableBytes < SegmentWriter.OFFSET_BYTES) {
			throw malformed("vtable of " + vtableBytes + " bytes for a table of " + tableBytes, vtable);
		}
		charge(vtableBytes, vtable);
		for (int field = 0; field < layout.fieldCount(); field++) {
			int offset = fieldOffset(vtable, vtableBytes, TableLayout.entry(field));
			if (offset == 0) {
				continue;
			}
			if (offset < SegmentWriter.OFFSET_BYTES || offset + layout.size(field) > tableBytes) {
				throw malformed("field '" + layout.name(field) + "' out of bounds of its table", table);
			}
			if (((table - this.start + offset) & (layout.alignment(field) - 1)) != 0) {
				throw malformed("misaligned field '" + layout.name(field) + "'", table);
			}
		}
		return tableBytes;
	}

	private CheckedVtable checkedVtable(int id) {
		CheckedVtable known = this.vtables.find(id);
		return (known != null) ? known : this.vtables.add(new CheckedVtable(id));
	}

	/** The size of a vtable. */
	int vtableBytes(int vtable) {
		return this.buffer.getShort(vtable) & 0xFFFF;
	}

	/** The offset of a field from its table's begin, 0 if it is absent. */
	int fieldOffset(int vtable, int vtableBytes, int entry) {
		return (entry < vtableBytes) ? this.buffer.getShort(vtable + entry) & 0xFFFF : 0;
	}

	/** The message's memory. */
	ByteBuffer buffer() {
		return this.buffer;
	}

	/**
	 * Charges what the reader will allocate.
	 * @param position what for
	 */
	void allocate(long bytes, int position) {
		this.heapBytes += bytes;
		charge(bytes, position);
	}

	/** What the reader of the message will allocate, once all of it is verified. */
	long heapBytes() {
		return this.heapBytes;
	}

	private void charge(long bytes, int position) {
		this.budget -= bytes;
		if (this.budget < 0) {
			int size = this.end - this.start;
			throw new ValuesTooLargeException("a message of " + size + " bytes makes its reader visit and allocate"
					+ " more than " + this.maxAmplification + " bytes for each of its own, at byte "
					+ (position - this.start) + " (expected: at most that, or a larger maxAmplification)");
		}
	}

	/** Lets go of the message. */
	void end() {
		this.buffer = NONE;
	}

	/** An exception telling what is wrong where. */
	MalformedMessageException malformed(String what, int position) {
		return new MalformedMessageException(
				what + " at byte " + (position - this.start) + " of " + (this.end - this.start));
	}

	/** A vtable of this message that was checked for a table type. */
	private static final class CheckedVtable extends LayoutTable.Entry {

		private int message = -1;

		private int vtable;

		private int phase;

		private int tableBytes;

		CheckedVtable(int id) {
			super(id);
		}

	}

}
