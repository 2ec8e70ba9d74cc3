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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads what a {@link MessageWriter} has written. */
final class MessageReader {

	private final byte[] bytes;

	private final ByteBuffer buffer;

	MessageReader(byte[] message) {
		this.bytes = message;
		this.buffer = ByteBuffer.wrap(message);
	}

	int number() {
		return this.buffer.getInt();
	}

	byte[] array() {
		byte[] value = new byte[number()];
		this.buffer.get(value);
		return value;
	}

	String string() {
		int length = number();
		int position = this.buffer.position();
		this.buffer.position(position + length);
		return new String(this.bytes, position, length, StandardCharsets.UTF_8);
	}

	List<String> strings() {
		int size = number();
		List<String> values = new ArrayList<>(size);
		for (int i = 0; i < size; i++) {
			values.add(string());
		}
		return values;
	}

	Map<String, byte[]> map() {
		int size = number();
		Map<String, byte[]> values = new HashMap<>(2 * size);
		for (int i = 0; i < size; i++) {
			values.put(string(), array());
		}
		return values;
	}

}
