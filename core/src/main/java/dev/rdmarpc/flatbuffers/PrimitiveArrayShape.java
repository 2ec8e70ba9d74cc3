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

/** An array of primitives as a vector of scalars. */
final class PrimitiveArrayShape extends ReferenceShape {

	private final ScalarKind kind;

	/** Creates the shape of arrays of that primitive. */
	PrimitiveArrayShape(ScalarKind kind) {
		this.kind = kind;
	}

	@Override
	int writeTarget(Object value, SegmentWriter out) {
		return this.kind.write(value, out);
	}

	@Override
	Object readTarget(MessageReader in, int position) {
		ByteBuffer buffer = in.buffer();
		return this.kind.getAll(buffer, position + OFFSET_BYTES, in.length(position));
	}

	@Override
	void verifyTarget(MessageVerifier in, int position) {
		int count = in.vector(position, this.kind.bytes(), this.kind.bytes());
		in.allocate(HeapBytes.ARRAY + (long) count * this.kind.bytes(), position);
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return "[" + this.kind.schemaType() + "]";
	}

}
