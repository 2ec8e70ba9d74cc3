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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.UnencodableValueException;

/** A value that lies elsewhere; its slot is a reference. */
abstract class ReferenceShape extends Shape {

	/** Bytes of a reference and of a vector's length. */
	static final int OFFSET_BYTES = SegmentWriter.OFFSET_BYTES;

	ReferenceShape() {
		super(OFFSET_BYTES, OFFSET_BYTES);
	}

	@Override
	final void write(Object value, SegmentWriter out, ByteBuffer memory, int slot, int base) {
		int target = writeTarget(value, out);
		memory.putInt(slot, target - slot - base);
	}

	@Override
	final @Nullable Object read(MessageReader in, int slot) {
		return readTarget(in, in.follow(slot));
	}

	@Override
	final void verify(MessageVerifier in, int slot) {
		verifyTarget(in, in.reference(slot));
	}

	@Override
	final void foresee(Foresight in, int slot) {
		in.follow(this, slot);
	}

	/**
	 * Looks for a large array of bytes in the value.
	 * @param position where it may be, if the message is what it should be
	 */
	void foreseeTarget(Foresight in, int position) {
		// most values hold none
	}

	/** What is thrown when an element of a vector is null. */
	static UnencodableValueException absentElement(int index) {
		return new UnencodableValueException("null element (expected: a value, or declare Optional elements)")
			.within("[" + index + "]");
	}

	/**
	 * Writes the value.
	 * @return its position in the message
	 */
	abstract int writeTarget(Object value, SegmentWriter out);

	/** Reads the verified value at a position. */
	abstract @Nullable Object readTarget(MessageReader in, int position);

	/** Verifies the value at a position that has at least four bytes. */
	abstract void verifyTarget(MessageVerifier in, int position);

}
