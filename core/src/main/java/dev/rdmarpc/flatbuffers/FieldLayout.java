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
 * A field of a table type.
 *
 * @param name its name
 * @param index its number, which is its place in the vtable
 * @param offset its offset from the begin of tables this side writes
 * @param entry the offset of its entry from the begin of a vtable
 * @param optional whether it may be absent; not so for primitives
 * @param shape how its values lie
 * @param layout the table type
 */
record FieldLayout(String name, int index, int offset, int entry, boolean optional, Shape shape, TableLayout layout) {

	/** Creates the field with that number. */
	FieldLayout(String name, int index, boolean optional, Shape shape, TableLayout layout) {
		this(name, index, layout.offset(index), TableLayout.entry(index), optional, shape, layout);
	}

	/** The offset of the second field of a union. */
	int secondOffset() {
		return this.layout.offset(this.index + 1);
	}

	/** Marks it absent and zeroes its place. */
	void clear(SegmentWriter out, ByteBuffer memory, int table) {
		for (int field = 0; field < this.shape.fieldCount(); field++) {
			this.layout.markAbsent(this.index + field, out, memory, table);
			int at = table + this.layout.offset(this.index + field);
			for (int i = 0; i < this.layout.size(this.index + field); i++) {
				memory.put(at + i, (byte) 0);
			}
		}
	}

}
