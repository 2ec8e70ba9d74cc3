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

import dev.rdmarpc.memory.RegisteredBuffer;

/** Bytes as a vector of unsigned bytes. */
final class BytesShape extends ReferenceShape {

	/** An object for a slice, and its place in the list of those to be released. */
	private static final int REGISTERED_BYTES = 96;

	private final View view;

	/** Creates a shape. */
	BytesShape(View view) {
		this.view = view;
	}

	@Override
	int writeTarget(Object value, SegmentWriter out) {
		return switch (this.view) {
			case ARRAY -> out.writeBytes((byte[]) value, OFFSET_BYTES);
			case BUFFER -> out.writeBytes((ByteBuffer) value, OFFSET_BYTES);
			case REGISTERED -> out.writeBytes((RegisteredBuffer) value, OFFSET_BYTES);
		};
	}

	@Override
	Object readTarget(MessageReader in, int position) {
		return switch (this.view) {
			case ARRAY -> in.bytes(position);
			case BUFFER -> in.view(position);
			case REGISTERED -> in.registered(position);
		};
	}

	@Override
	void foreseeTarget(Foresight in, int position) {
		if (this.view == View.ARRAY) {
			in.array(position);
		}
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return "[ubyte]";
	}

	@Override
	void verifyTarget(MessageVerifier in, int position) {
		if (this.view == View.ARRAY) {
			in.allocate(HeapBytes.ARRAY + (long) in.vector(position, 1, 1), position);
		}
		else if (this.view == View.BUFFER) {
			in.view(position);
		}
		else {
			in.vector(position, 1, 1);
			in.allocate(REGISTERED_BYTES, position);
		}
	}

	/** What bytes are in Java. */
	enum View {

		/** A {@code byte[]}, read as a copy. */
		ARRAY,

		/** A {@link ByteBuffer}, read as a view of the received memory. */
		BUFFER,

		/** A {@link RegisteredBuffer}, read as part of the received memory. */
		REGISTERED

	}

}
