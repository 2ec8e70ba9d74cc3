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

package dev.rdmarpc.benchmarks.workloads.grpc;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.grpc.Drainable;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.benchmarks.workloads.grpc.BlobMarshaller.Blob;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * Marshals a large value: out of the memory where it is, in pieces, as protobuf does with
 * bytes that are in no array, and out of the transport's buffers with one copy.
 *
 * @param memory where values that arrive are
 */
record BlobMarshaller(RegisteredMemory memory) implements Marshaller<Blob> {

	private static final int PIECE_BYTES = 16 << 10;

	private static final int NO_VALUE = -1;

	/** Does not take the value: the stream has a reference of its own. */
	@Override
	public InputStream stream(Blob value) {
		RegisteredBuffer bytes = value.bytes();
		byte[] header = new MessageWriter(2 * Integer.BYTES + value.key().length()).put(value.key())
			.put((bytes != null) ? bytes.length() : NO_VALUE)
			.message();
		return new BlobStream(header, (bytes != null) ? bytes.retain() : null);
	}

	/** The value is owned by the caller. */
	@Override
	public Blob parse(InputStream stream) {
		try {
			DataInputStream input = new DataInputStream(stream);
			String key = new String(input.readNBytes(number(input)), StandardCharsets.UTF_8);
			int length = number(input);
			return new Blob(key, (length != NO_VALUE) ? read(stream, length) : null);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static int number(DataInputStream input) throws IOException {
		return Integer.reverseBytes(input.readInt()); // see MessageWriter.ORDER
	}

	private RegisteredBuffer read(InputStream stream, int length) throws IOException {
		RegisteredBuffer bytes = this.memory.allocate(length);
		try {
			read(stream, bytes.buffer());
			return bytes;
		}
		catch (IOException | RuntimeException ex) {
			bytes.release();
			throw ex;
		}
	}

	private static void read(InputStream stream, ByteBuffer target) throws IOException {
		if (stream instanceof HasByteBuffer pieces && pieces.byteBufferSupported()) {
			while (target.hasRemaining()) {
				ByteBuffer piece = pieces.getByteBuffer();
				if (piece == null) {
					throw new EOFException(target.remaining() + " bytes are missing");
				}
				int count = Math.min(piece.remaining(), target.remaining());
				target.put(piece.limit(piece.position() + count));
				stream.skipNBytes(count);
			}
		}
		else {
			byte[] piece = new byte[Math.min(PIECE_BYTES, target.remaining())];
			while (target.hasRemaining()) {
				int count = Math.min(piece.length, target.remaining());
				if (stream.readNBytes(piece, 0, count) != count) {
					throw new EOFException(target.remaining() + " bytes are missing");
				}
				target.put(piece, 0, count);
			}
		}
	}

	/**
	 * A large value and its key.
	 *
	 * @param key its key
	 * @param bytes the value, if there is one
	 */
	record Blob(String key, @Nullable RegisteredBuffer bytes) {

	}

	/** A header and a value on their way out; transports of gRPC drain and close it. */
	private static final class BlobStream extends InputStream implements KnownLength, Drainable {

		private final ByteArrayInputStream header;

		private final ByteBuffer left;

		private @Nullable RegisteredBuffer bytes;

		BlobStream(byte[] header, @Nullable RegisteredBuffer bytes) {
			this.header = new ByteArrayInputStream(header);
			this.bytes = bytes;
			this.left = (bytes != null) ? bytes.memory().slice(bytes.offset(), bytes.length()) : ByteBuffer.allocate(0);
		}

		@Override
		public int available() {
			return this.header.available() + this.left.remaining();
		}

		@Override
		public int read() {
			if (this.header.available() > 0) {
				return this.header.read();
			}
			return this.left.hasRemaining() ? this.left.get() & 0xff : -1;
		}

		@Override
		public int read(byte[] target, int offset, int length) {
			if (this.header.available() > 0) {
				return this.header.read(target, offset, length);
			}
			int count = Math.min(length, this.left.remaining());
			if (count == 0) {
				return (length == 0) ? 0 : -1;
			}
			this.left.get(target, offset, count);
			return count;
		}

		@Override
		public int drainTo(OutputStream target) throws IOException {
			int length = available();
			this.header.transferTo(target);
			byte[] piece = new byte[Math.min(PIECE_BYTES, this.left.remaining())];
			while (this.left.hasRemaining()) {
				int count = Math.min(piece.length, this.left.remaining());
				this.left.get(piece, 0, count);
				target.write(piece, 0, count);
			}
			return length;
		}

		@Override
		public void close() {
			RegisteredBuffer open = this.bytes;
			if (open != null) {
				this.bytes = null;
				open.release();
			}
		}

	}

}
