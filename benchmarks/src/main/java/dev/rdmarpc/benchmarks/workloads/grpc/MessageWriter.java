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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Writes messages of the gRPC stubs: numbers of four and eight bytes, and strings, floats
 * and lists behind their length. It costs less than protobuf, which writes tags and
 * variable lengths on top.
 */
final class MessageWriter {

	/** That of protobuf's floats, and of most processors. */
	static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

	private byte[] bytes;

	private ByteBuffer buffer;

	/** A message of that length is not copied once more. */
	MessageWriter(int expectedBytes) {
		this.bytes = new byte[expectedBytes];
		this.buffer = ByteBuffer.wrap(this.bytes).order(ORDER);
	}

	MessageWriter put(int value) {
		reserve(Integer.BYTES);
		this.buffer.putInt(value);
		return this;
	}

	MessageWriter put(long value) {
		reserve(Long.BYTES);
		this.buffer.putLong(value);
		return this;
	}

	MessageWriter put(String value) {
		byte[] text = value.getBytes(StandardCharsets.UTF_8);
		put(text.length);
		reserve(text.length);
		this.buffer.put(text);
		return this;
	}

	MessageWriter put(float[] values) {
		put(values.length);
		reserve(values.length * Float.BYTES);
		this.buffer.asFloatBuffer().put(values);
		this.buffer.position(this.buffer.position() + values.length * Float.BYTES);
		return this;
	}

	<T> MessageWriter put(List<T> values, BiConsumer<MessageWriter, T> write) {
		put(values.size());
		for (T value : values) {
			write.accept(this, value);
		}
		return this;
	}

	private void reserve(int more) {
		if (this.buffer.remaining() < more) {
			int position = this.buffer.position();
			this.bytes = Arrays.copyOf(this.bytes, Math.max(2 * this.bytes.length, position + more));
			this.buffer = ByteBuffer.wrap(this.bytes).order(ORDER).position(position);
		}
	}

	byte[] message() {
		int length = this.buffer.position();
		return (length == this.bytes.length) ? this.bytes : Arrays.copyOf(this.bytes, length);
	}

}
