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

import java.math.BigInteger;

import dev.rdmarpc.codec.MalformedMessageException;

/** A {@link BigInteger} as its two's complement, most significant byte first. */
final class BigIntegerShape extends ReferenceShape {

	private final boolean decimal;

	/**
	 * Creates the shape.
	 * @param decimal whether they are the digits of decimal numbers
	 */
	BigIntegerShape(boolean decimal) {
		this.decimal = decimal;
	}

	@Override
	int writeTarget(Object value, SegmentWriter out) {
		return out.writeBytes(((BigInteger) value).toByteArray(), OFFSET_BYTES);
	}

	@Override
	Object readTarget(MessageReader in, int position) {
		byte[] bytes = in.bytes(position);
		if (bytes.length == 0) {
			throw new MalformedMessageException("integer without bytes");
		}
		return new BigInteger(bytes);
	}

	@Override
	void verifyTarget(MessageVerifier in, int position) {
		int bytes = in.vector(position, 1, 1);
		if (this.decimal) {
			in.decimal(bytes, position);
		}
		in.allocate(2 * (long) bytes + 40 + 2 * HeapBytes.ARRAY, position);
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return "[ubyte]";
	}

}
