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

/**
 * The tables and vectors of a message that are begun and not ended, each inside the one
 * before.
 */
final class OpenParts {

	private final SegmentWriter out;

	private final List<OpenPart> parts = new ArrayList<>(List.of(new OpenPart()));

	private int depth;

	private OpenPart innermost = this.parts.get(0);

	/** Creates a stack without parts. */
	OpenParts(SegmentWriter out) {
		this.out = out;
	}

	/** The part begun last. */
	OpenPart innermost() {
		return this.innermost;
	}

	/** Whether only the root is open. */
	boolean isRoot() {
		return this.depth == 0;
	}

	/**
	 * Begins a table that is the root of a message.
	 * @return its position in the message
	 */
	int beginRoot(TableType type) {
		int slot = this.out.reserve(SegmentWriter.OFFSET_BYTES, SegmentWriter.OFFSET_BYTES, 0);
		ByteBuffer memory = this.out.memory();
		int base = this.out.base();
		int position = open(this.innermost, type);
		memory.putInt(slot, position - slot - base);
		return position;
	}

	/**
	 * Begins a vector of references that is the root of part of a message.
	 * @return its position
	 */
	int beginRoot(TableField vector, int count) {
		return open(this.innermost, vector, count);
	}

	/**
	 * Begins a table.
	 * @return its position in the message, to which nothing refers yet
	 */
	int begin(TableType type) {
		OpenPart part = inner();
		int position = open(part, type);
		descend(part);
		return position;
	}

	/**
	 * Begins a vector of references.
	 * @return its position in the message, to which nothing refers yet
	 */
	int begin(TableField vector, int count) {
		OpenPart part = inner();
		int position = open(part, vector, count);
		descend(part);
		return position;
	}

	private int open(OpenPart part, TableType type) {
		TableLayout layout = type.layout();
		this.out.enter();
		int at;
		try {
			at = layout.reserve(this.out);
		}
		catch (RuntimeException ex) {
			this.out.leave();
			throw ex;
		}
		part.beginTable(type, layout, this.out.memory(), at, this.out.base());
		return at + this.out.base();
	}

	private int open(OpenPart part, TableField vector, int count) {
		if (count < 0) {
			throw new IllegalArgumentException("count " + count + " (expected: at least 0)");
		}
		int at = this.out.reserveVector(count, SegmentWriter.OFFSET_BYTES, SegmentWriter.OFFSET_BYTES);
		part.beginVector(vector, count, this.out.memory(), at + SegmentWriter.OFFSET_BYTES, this.out.base());
		return at + this.out.base();
	}

	private OpenPart inner() {
		if (this.depth + 1 == this.parts.size()) {
			this.parts.add(new OpenPart());
		}
		return this.parts.get(this.depth + 1);
	}

	private void descend(OpenPart part) {
		this.innermost = part;
		this.depth++;
	}

	/**
	 * Ends the innermost part, which may be the root.
	 * @throws IllegalStateException if it lacks elements
	 */
	void end() {
		if (this.innermost.complete(this.out)) {
			this.out.leave();
		}
		this.innermost.end();
		if (this.depth > 0) {
			this.depth--;
			this.innermost = this.parts.get(this.depth);
		}
	}

	/** Forgets all parts. */
	void clear() {
		for (int i = 0; i <= this.depth; i++) {
			this.parts.get(i).end();
		}
		this.depth = 0;
		this.innermost = this.parts.get(0);
	}

}
