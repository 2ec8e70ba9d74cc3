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

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;

import io.grpc.internal.AbstractReadableBuffer;
import io.grpc.internal.ReadableBuffer;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * Received bytes where they lie, in registered memory. Each part that is read as a buffer
 * of its own holds another reference to the memory.
 *
 * <p>
 * Not thread-safe; may be handed from thread to thread with a happens-before edge.
 */
final class ReceivedBuffer extends AbstractReadableBuffer {

	private static final int COPY_BYTES = 8192;

	private final RegisteredBuffer memory;

	/** Read at absolute places only, by all parts. */
	private final ByteBuffer bytes;

	private final int end;

	private final @Nullable HeldPart part;

	private int position;

	private int mark;

	private boolean closed;

	/**
	 * Wraps bytes.
	 * @param memory where they lie; takes ownership
	 * @param bytes from position to limit; neither is changed nor asked later
	 */
	ReceivedBuffer(RegisteredBuffer memory, ByteBuffer bytes) {
		this(memory, bytes, null);
	}

	/**
	 * Wraps bytes of a part of a stream.
	 * @param part what it counts for until this is closed, and all that was read of it
	 */
	ReceivedBuffer(RegisteredBuffer memory, ByteBuffer bytes, @Nullable HeldPart part) {
		this(memory, bytes, bytes.position(), bytes.limit(), part);
	}

	private ReceivedBuffer(RegisteredBuffer memory, ByteBuffer bytes, int begin, int end, @Nullable HeldPart part) {
		this.memory = memory;
		this.part = part;
		this.bytes = bytes;
		this.position = begin;
		this.mark = begin;
		this.end = end;
	}

	@Override
	public int readableBytes() {
		return this.end - this.position;
	}

	/** Moves on by so many bytes and returns where they begin. */
	private int advance(int length) {
		checkReadable(length);
		int begin = this.position;
		this.position += length;
		return begin;
	}

	@Override
	public int readUnsignedByte() {
		return this.bytes.get(advance(1)) & 0xFF;
	}

	@Override
	public void skipBytes(int length) {
		advance(length);
	}

	@Override
	public void readBytes(byte[] target, int offset, int length) {
		this.bytes.get(advance(length), target, offset, length);
	}

	@Override
	public void readBytes(OutputStream target, int length) throws IOException {
		checkReadable(length);
		byte[] copy = new byte[Math.min(length, COPY_BYTES)];
		int part;
		for (int left = length; left > 0; left -= part) {
			part = Math.min(left, copy.length);
			readBytes(copy, 0, part);
			target.write(copy, 0, part);
		}
	}

	@Override
	public ReadableBuffer readBytes(int length) {
		int begin = advance(length);
		return new ReceivedBuffer(this.memory.retain(), this.bytes, begin, begin + length, HeldPart.retain(this.part));
	}

	@Override
	public boolean markSupported() {
		return true;
	}

	@Override
	public void mark() {
		this.mark = this.position;
	}

	@Override
	public void reset() {
		this.position = this.mark;
	}

	@Override
	public boolean byteBufferSupported() {
		return true;
	}

	@Override
	public ByteBuffer getByteBuffer() {
		return this.bytes.slice(this.position, readableBytes()).asReadOnlyBuffer();
	}

	@Override
	public void close() {
		if (!this.closed) {
			this.closed = true;
			// what is there from now on is somebody else's
			this.position = this.end;
			this.mark = this.end;
			this.memory.release();
			HeldPart.release(this.part);
		}
	}

}
