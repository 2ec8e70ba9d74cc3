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
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;

import dev.rdmarpc.benchmarks.workloads.grpc.ParametersGrpc.Tensor;

/**
 * Marshals a tensor with one copy of its gradient on each side: the numbers are written
 * before it, without building the message first.
 */
final class TensorMarshaller implements Marshaller<Tensor> {

	private static final int HEADER_BYTES = 2 * Integer.BYTES;

	@Override
	public InputStream stream(Tensor value) {
		byte[] header = ByteBuffer.allocate(HEADER_BYTES).putInt(value.step()).putInt(value.number()).array();
		return new TensorStream(header, value.gradient());
	}

	@Override
	public Tensor parse(InputStream stream) {
		try {
			DataInputStream input = new DataInputStream(stream);
			int step = input.readInt();
			int number = input.readInt();
			byte[] gradient = new byte[stream.available()];
			input.readFully(gradient);
			return new Tensor(step, number, gradient);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** A header and a gradient on their way out; transports of gRPC drain it. */
	private static final class TensorStream extends InputStream implements KnownLength, Drainable {

		private final ByteArrayInputStream header;

		private final byte[] gradient;

		private int position;

		TensorStream(byte[] header, byte[] gradient) {
			this.header = new ByteArrayInputStream(header);
			this.gradient = gradient;
		}

		@Override
		public int available() {
			return this.header.available() + this.gradient.length - this.position;
		}

		@Override
		public int read() {
			if (this.header.available() > 0) {
				return this.header.read();
			}
			return (this.position < this.gradient.length) ? this.gradient[this.position++] & 0xff : -1;
		}

		@Override
		public int read(byte[] target, int offset, int length) {
			if (this.header.available() > 0) {
				return this.header.read(target, offset, length);
			}
			int count = Math.min(length, this.gradient.length - this.position);
			if (count <= 0) {
				return (length == 0) ? 0 : -1;
			}
			System.arraycopy(this.gradient, this.position, target, offset, count);
			this.position += count;
			return count;
		}

		@Override
		public int drainTo(OutputStream target) throws IOException {
			int length = available();
			this.header.transferTo(target);
			target.write(this.gradient, this.position, this.gradient.length - this.position);
			this.position = this.gradient.length;
			return length;
		}

	}

}
