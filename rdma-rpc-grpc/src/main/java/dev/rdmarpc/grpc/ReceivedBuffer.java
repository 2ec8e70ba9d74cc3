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

import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * Received bytes where they lie, in registered memory. Each part that is read as a buffer
 * of its own holds another reference to the memory.
 *
 * <p>
 * Not thread-safe; may be handed from thread to thread with a happens-before edge.
 */
final class ReceivedBuffer extends AbstractReadableBuffer {

	private final RegisteredBuffer memory;

	private final ByteBuffer bytes;

	private boolean closed;

	private int mark;

	/**
	 * Wraps bytes.
	 * @param memory where they lie; takes ownership
	 * @param bytes a view of its own, from position to limit
	 */
	ReceivedBuffer(RegisteredBuffer memory, ByteBuffer bytes) {
		this.memory = memory;
		this.bytes = bytes;
		this.mark = bytes.position();
	}

	@Override
	public int readableBytes() {
		return this.bytes.remaining();
	}

	@Override
	public int readUnsignedByte() {
		checkReadable(1);
		return this.bytes.get() & 0xFF;
	}

	@Override
	public void skipBytes(int length) {
		checkReadable(length);
		this.bytes.position(this.bytes.position() + length);
	}

	@Override
	public void readBytes(byte[] target, int offset, int length) {
		checkReadable(length);
		this.bytes.get(target, offset, length);
	}

	@Override
	public void readBytes(OutputStream target, int length) throws IOException {
		checkReadable(length);
		byte[] copy = new byte[Math.min(length, 8192)];
		for (int left = length; left > 0; left -= copy.length) {
			int part = Math.min(left, copy.length);
			this.bytes.get(copy, 0, part);
			target.write(copy, 0, part);
		}
	}

	@Override
	public ReadableBuffer readBytes(int length) {
		checkReadable(length);
		ByteBuffer part = this.bytes.duplicate();
		part.limit(part.position() + length);
		this.bytes.position(this.bytes.position() + length);
		return new ReceivedBuffer(this.memory.retain(), part);
	}

	@Override
	public boolean markSupported() {
		return true;
	}

	@Override
	public void mark() {
		this.mark = this.bytes.position();
	}

	@Override
	public void reset() {
		this.bytes.position(this.mark);
	}

	@Override
	public boolean byteBufferSupported() {
		return true;
	}

	@Override
	public ByteBuffer getByteBuffer() {
		return this.bytes.slice().asReadOnlyBuffer();
	}

	@Override
	public void close() {
		if (!this.closed) {
			this.closed = true;
			this.memory.release();
		}
	}

}
