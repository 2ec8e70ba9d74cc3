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
import java.util.List;
import java.util.function.Function;

/** Reads what a {@link MessageWriter} has written. */
final class MessageReader {

	private final byte[] bytes;

	private final ByteBuffer buffer;

	MessageReader(byte[] message) {
		this.bytes = message;
		this.buffer = ByteBuffer.wrap(message).order(MessageWriter.ORDER);
	}

	int number() {
		return this.buffer.getInt();
	}

	long longNumber() {
		return this.buffer.getLong();
	}

	String string() {
		int length = number();
		int position = skip(length);
		return new String(this.bytes, position, length, StandardCharsets.UTF_8);
	}

	float[] floats() {
		float[] values = new float[number()];
		this.buffer.asFloatBuffer().get(values);
		skip(values.length * Float.BYTES);
		return values;
	}

	<T> List<T> list(Function<MessageReader, T> read) {
		int size = number();
		List<T> values = new ArrayList<>(size);
		for (int i = 0; i < size; i++) {
			values.add(read.apply(this));
		}
		return values;
	}

	/** Returns where what is skipped begins. */
	private int skip(int length) {
		int position = this.buffer.position();
		this.buffer.position(position + length);
		return position;
	}

}
