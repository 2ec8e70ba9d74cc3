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

/** A primitive or its box; boxes may be absent. */
final class ScalarShape extends Shape {

	private final ScalarKind kind;

	/** Creates the shape of a primitive and its box. */
	ScalarShape(ScalarKind kind) {
		super(kind.bytes(), kind.bytes());
		this.kind = kind;
	}

	/** Which primitive. */
	ScalarKind kind() {
		return this.kind;
	}

	@Override
	boolean isInline() {
		return true;
	}

	@Override
	int valueBytes() {
		return switch (this.kind) {
			case BOOLEAN, BYTE -> 0;
			case CHAR, SHORT, INT, FLOAT -> HeapBytes.OBJECT;
			case LONG, DOUBLE -> HeapBytes.OBJECT + Long.BYTES;
		};
	}

	@Override
	boolean isElement() {
		return true;
	}

	@Override
	boolean isScalar() {
		return true;
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return this.kind.schemaType();
	}

	@Override
	void write(Object value, SegmentWriter out, ByteBuffer memory, int slot, int base) {
		this.kind.put(memory, slot, value);
	}

	@Override
	Object read(MessageReader in, int slot) {
		return this.kind.get(in.buffer(), slot);
	}

	@Override
	void verify(MessageVerifier in, int slot) {
		// any bytes are a value
	}

}
