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

/** A {@code byte[]} or {@link ByteBuffer} as a vector of unsigned bytes. */
final class BytesShape extends ReferenceShape {

	private final boolean view;

	/**
	 * Creates a shape.
	 * @param view whether values are {@code ByteBuffer}s, read as views of the message,
	 * and not arrays
	 */
	BytesShape(boolean view) {
		this.view = view;
	}

	@Override
	int writeTarget(Object value, GatherBuilder out) {
		return this.view ? out.writeBytes((ByteBuffer) value, 1) : out.writeBytes((byte[]) value);
	}

	@Override
	Object readTarget(MessageReader in, int position) {
		return this.view ? in.view(position) : in.bytes(position);
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return "[ubyte]";
	}

	@Override
	void verifyTarget(MessageVerifier in, int position) {
		in.vector(position, 1, 1);
	}

}
