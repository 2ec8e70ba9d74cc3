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

/**
 * Finds the largest array of bytes in a message of which only the beginning is there, and
 * of which nothing is verified: what lies outside of that is not looked at, and nothing
 * is wrong. Looks at a few values only, however many references lead to them.
 */
final class Foresight {

	private static final int MAX_STEPS = 64;

	private static final int OFFSET_BYTES = SegmentWriter.OFFSET_BYTES;

	private final ByteBuffer begun;

	private final int end;

	private int steps;

	private int index;

	private int lengthBytes;

	/**
	 * Looks at a message.
	 * @param begun what is there of it, from position to limit, little-endian
	 * @param end index after the last byte that it will have
	 */
	Foresight(ByteBuffer begun, int end) {
		this.begun = begun;
		this.end = end;
	}

	/** Where the bytes of the array begin. */
	int index() {
		return this.index;
	}

	/** The length of the array, 0 if there is none. */
	int lengthBytes() {
		return this.lengthBytes;
	}

	/** Goes on with the value that a reference leads to, if it is there. */
	void follow(ReferenceShape shape, int slot) {
		if (this.steps++ < MAX_STEPS && isThere(slot)) {
			long target = slot + (this.begun.getInt(slot) & 0xFFFFFFFFL);
			if (target != slot && isThere(target)) {
				shape.foreseeTarget(this, (int) target);
			}
		}
	}

	/**
	 * The position of a field's slot, or -1. Where the vtable has not arrived, because it
	 * comes after what the table refers to, the table is taken for one of the same build.
	 */
	int field(int table, FieldLayout field) {
		long vtable = (long) table - this.begun.getInt(table);
		if (vtable > this.begun.limit() - OFFSET_BYTES) {
			return table + field.offset();
		}
		int entry = field.entry();
		if (!isThere(vtable) || entry >= (this.begun.getShort((int) vtable) & 0xFFFF) || !isThere(vtable + entry)) {
			return -1;
		}
		int offset = this.begun.getShort((int) vtable + entry) & 0xFFFF;
		return (offset == 0) ? -1 : table + offset;
	}

	/** There is an array of bytes. */
	void array(int position) {
		long length = this.begun.getInt(position) & 0xFFFFFFFFL;
		int from = position + OFFSET_BYTES;
		if (length > this.lengthBytes && length <= this.end - from) {
			this.index = from;
			this.lengthBytes = (int) length;
		}
	}

	private boolean isThere(long position) {
		return position >= this.begun.position() && position <= this.begun.limit() - OFFSET_BYTES;
	}

}
