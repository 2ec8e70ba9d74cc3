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

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.UnencodableValueException;

/**
 * A value that is a message of its own. As a part of something it is a vector of bytes
 * that holds it (a nested FlatBuffer); as a root it is the message.
 *
 * <p>
 * Its schema is not known here, so a received one is verified no further than its root.
 */
abstract class NestedShape extends ReferenceShape {

	private final String name;

	private final int heapBytes;

	/**
	 * Creates a shape.
	 * @param name what to call it in messages to people
	 * @param heapBytes heap that a value takes
	 */
	NestedShape(String name, int heapBytes) {
		this.name = name;
		this.heapBytes = heapBytes;
	}

	/** What it is called. */
	final String name() {
		return this.name;
	}

	/**
	 * Appends a value to an empty message.
	 * @throws UnencodableValueException if it is no message of its own
	 */
	abstract void writeRoot(Object value, MessageSegments out);

	/** Makes a value of a message with a verified root. */
	abstract Object readRoot(ByteBuffer message, ReceivedMemory memory);

	@Override
	final void verifyTarget(MessageVerifier in, int position) {
		in.nested(position);
		in.allocate(this.heapBytes, position);
	}

	@Override
	final String schemaType(SchemaWriter schema) {
		return "[ubyte]";
	}

}
