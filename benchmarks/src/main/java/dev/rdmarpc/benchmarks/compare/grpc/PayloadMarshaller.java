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

package dev.rdmarpc.benchmarks.compare.grpc;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;

/**
 * Marshals a byte array as itself, on grpc-java's fast paths: the length is known before,
 * the bytes are drained into the transport's buffer with one copy, and read out of it
 * with one copy into an array of the right size. Protobuf does the same for a
 * {@code bytes} field, and parses on top of it.
 */
public final class PayloadMarshaller implements Marshaller<byte[]> {

	@Override
	public InputStream stream(byte[] value) {
		return new PayloadStream(value);
	}

	@Override
	public byte[] parse(InputStream stream) {
		try {
			if (!(stream instanceof KnownLength)) {
				return stream.readAllBytes();
			}
			byte[] value = new byte[stream.available()];
			int read = stream.readNBytes(value, 0, value.length);
			if (read != value.length) {
				throw new IOException("message ended after " + read + " of " + value.length + " bytes");
			}
			return value;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** A payload on its way out. */
	private static final class PayloadStream extends ByteArrayInputStream implements KnownLength, Drainable {

		PayloadStream(byte[] value) {
			super(value);
		}

		@Override
		public int drainTo(OutputStream target) throws IOException {
			int length = this.count - this.pos;
			target.write(this.buf, this.pos, length);
			this.pos = this.count;
			return length;
		}

	}

}
