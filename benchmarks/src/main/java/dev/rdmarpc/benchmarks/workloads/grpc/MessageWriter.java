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
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Writes messages of the gRPC stubs: numbers of four bytes, and strings, arrays and
 * collections behind their length. It costs less than protobuf, which writes tags and
 * variable lengths on top.
 */
final class MessageWriter {

	private byte[] bytes;

	private ByteBuffer buffer;

	MessageWriter(int expectedBytes) {
		this.bytes = new byte[expectedBytes];
		this.buffer = ByteBuffer.wrap(this.bytes);
	}

	MessageWriter put(int value) {
		reserve(Integer.BYTES);
		this.buffer.putInt(value);
		return this;
	}

	MessageWriter put(byte[] value) {
		put(value.length);
		reserve(value.length);
		this.buffer.put(value);
		return this;
	}

	MessageWriter put(String value) {
		return put(value.getBytes(StandardCharsets.UTF_8));
	}

	MessageWriter put(List<String> values) {
		put(values.size());
		values.forEach(this::put);
		return this;
	}

	MessageWriter put(Map<String, byte[]> values) {
		put(values.size());
		values.forEach((name, value) -> put(name).put(value));
		return this;
	}

	private void reserve(int more) {
		if (this.buffer.remaining() < more) {
			int position = this.buffer.position();
			this.bytes = Arrays.copyOf(this.bytes, Math.max(2 * this.bytes.length, position + more));
			this.buffer = ByteBuffer.wrap(this.bytes).position(position);
		}
	}

	byte[] message() {
		int length = this.buffer.position();
		return (length == this.bytes.length) ? this.bytes : Arrays.copyOf(this.bytes, length);
	}

}
