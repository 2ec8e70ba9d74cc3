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

package dev.rdmarpc.grpc;

import java.nio.ByteBuffer;
import java.util.Arrays;

import io.grpc.internal.CompositeReadableBuffer;
import io.grpc.internal.ReadableBuffer;
import io.grpc.internal.ReadableBuffers;

/**
 * The parts of a message that arrive one after another. Small ones are copied together:
 * each would take an object of its own and keep the memory of a whole frame, and the
 * sender decides how small they are. Larger ones stay where they lie.
 *
 * <p>
 * Confined to the tasks of its call.
 */
final class PartialMessage {

	/** A part with less is copied. */
	private static final int SMALL_BYTES = 2048;

	private static final int FIRST_BYTES = 256;

	private static final byte[] NONE = {};

	private final int totalBytes;

	/** All but what is being copied together. */
	private final CompositeReadableBuffer parts = new CompositeReadableBuffer();

	/** Small parts, to which others are added. */
	private byte[] copied = NONE;

	private int copiedBytes;

	/**
	 * Creates a message of which nothing has arrived.
	 * @param totalBytes as many as it will have
	 */
	PartialMessage(int totalBytes) {
		this.totalBytes = totalBytes;
	}

	/** Whether a part of so many bytes is to be {@linkplain #copy copied}. */
	static boolean isSmall(int bytes) {
		return bytes < SMALL_BYTES;
	}

	/** How many have arrived. */
	int bytes() {
		return this.parts.readableBytes() + this.copiedBytes;
	}

	/** Adds a copy of bytes of a part. */
	void copy(ReadableBuffer part, int bytes) {
		int needed = this.copiedBytes + bytes;
		if (needed > this.copied.length) {
			long grown = Math.max(needed, Math.max(FIRST_BYTES, 2L * this.copied.length));
			long most = (long) this.totalBytes - this.parts.readableBytes();
			this.copied = Arrays.copyOf(this.copied, (int) Math.min(grown, most));
		}
		part.readBytes(this.copied, this.copiedBytes, bytes);
		this.copiedBytes = needed;
	}

	/**
	 * Adds a part where it lies.
	 * @param part takes ownership
	 */
	void add(ReadableBuffer part) {
		closeCopied();
		this.parts.addBuffer(part);
	}

	/** What is copied from here on lies elsewhere. */
	private void closeCopied() {
		if (this.copiedBytes > 0) {
			byte[] tight = (this.copied.length > 2 * this.copiedBytes) ? Arrays.copyOf(this.copied, this.copiedBytes)
					: this.copied;
			this.parts.addBuffer(ReadableBuffers.wrap(ByteBuffer.wrap(tight, 0, this.copiedBytes)));
			this.copied = NONE;
			this.copiedBytes = 0;
		}
	}

	/** The message, of which all parts have arrived; gives ownership. */
	ReadableBuffer complete() {
		closeCopied();
		return this.parts;
	}

	/** Gives all parts back. */
	void close() {
		this.parts.close();
	}

}
