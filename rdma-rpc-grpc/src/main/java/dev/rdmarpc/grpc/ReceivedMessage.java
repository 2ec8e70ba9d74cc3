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
import java.io.InputStream;
import java.nio.ByteBuffer;

import io.grpc.Detachable;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.grpc.internal.ReadableBuffer;
import io.grpc.internal.StreamListener;
import org.jspecify.annotations.Nullable;

/**
 * A received message for gRPC's marshallers, read where it lies; to be closed by who
 * takes it. Is its own producer, which hands it out once.
 *
 * <p>
 * Not thread-safe; may be handed from thread to thread with a happens-before edge.
 */
final class ReceivedMessage extends InputStream
		implements KnownLength, HasByteBuffer, Detachable, StreamListener.MessageProducer {

	private ReadableBuffer bytes;

	private boolean taken;

	/**
	 * Creates a message.
	 * @param bytes takes ownership
	 */
	ReceivedMessage(ReadableBuffer bytes) {
		this.bytes = bytes;
	}

	@Override
	public @Nullable InputStream next() {
		if (this.taken) {
			return null;
		}
		this.taken = true;
		return this;
	}

	@Override
	public int available() {
		return this.bytes.readableBytes();
	}

	@Override
	public int read() {
		return (this.bytes.readableBytes() == 0) ? -1 : this.bytes.readUnsignedByte();
	}

	@Override
	public int read(byte[] target, int offset, int length) {
		int left = this.bytes.readableBytes();
		if (left == 0 && length > 0) {
			return -1;
		}
		int count = Math.min(left, length);
		this.bytes.readBytes(target, offset, count);
		return count;
	}

	@Override
	public long skip(long count) {
		int skipped = (int) Math.max(0, Math.min(this.bytes.readableBytes(), count));
		this.bytes.skipBytes(skipped);
		return skipped;
	}

	@Override
	public boolean markSupported() {
		return this.bytes.markSupported();
	}

	@Override
	public void mark(int limit) {
		this.bytes.mark();
	}

	@Override
	public void reset() {
		this.bytes.reset();
	}

	@Override
	public boolean byteBufferSupported() {
		return this.bytes.byteBufferSupported();
	}

	@Override
	public @Nullable ByteBuffer getByteBuffer() {
		return (this.bytes.readableBytes() == 0) ? null : this.bytes.getByteBuffer();
	}

	/** The message in a stream of its own; what is left here has ended. */
	@Override
	public InputStream detach() {
		ReadableBuffer detached = this.bytes;
		this.bytes = detached.readBytes(0);
		return new ReceivedMessage(detached);
	}

	@Override
	public void close() throws IOException {
		this.bytes.close();
	}

}
