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

package dev.rdmarpc.boot.autoconfigure;

import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whether {@code rdma.rpc.codec.gather-threshold} decides what a message refers to: only
 * what is referenced in place shows what is written to it after it was encoded.
 */
class GatherThresholdTests {

	private static final byte BEFORE = 'b';

	private static final byte AFTER = 'Z';

	@ParameterizedTest
	@CsvSource({ "default, 511, false", "default, 512, true", "100B, 99, false", "100B, 100, true", "4KB, 512, false",
			"4KB, 4095, false", "4KB, 4096, true" })
	void bytesFromTheThresholdOnAreReferencedWhereTheyAre(String threshold, int bytes, boolean referenced) {
		String[] properties = threshold.equals("default") ? new String[0]
				: new String[] { "rdma.rpc.codec.gather-threshold=" + threshold };
		RdmaContextRunner.create().withPropertyValues(properties).run((context) -> {
			MessageCodec codec = context.getBean(MessageCodec.class);
			int expected = referenced ? bytes : 0;

			byte[] array = new byte[bytes];
			Arrays.fill(array, BEFORE);
			assertThat(bytesSeenChanging(codec, byte[].class, array, ByteBuffer.wrap(array))).as("byte[]")
				.isEqualTo(expected);

			ByteBuffer buffer = filled(ByteBuffer.allocateDirect(bytes));
			assertThat(bytesSeenChanging(codec, ByteBuffer.class, buffer.duplicate(), buffer)).as("ByteBuffer")
				.isEqualTo(expected);

			RegisteredBuffer registered = context.getBean(RegisteredMemory.class).allocate(bytes);
			filled(registered.buffer());
			assertThat(bytesSeenChanging(codec, RegisteredBuffer.class, registered, registered.buffer()))
				.as("RegisteredBuffer, always")
				.isEqualTo(bytes);
			registered.release();
		});
	}

	private static ByteBuffer filled(ByteBuffer buffer) {
		for (int i = buffer.position(); i < buffer.limit(); i++) {
			buffer.put(i, BEFORE);
		}
		return buffer;
	}

	/**
	 * Encodes a value, then changes its memory, and counts how much of that the message
	 * shows.
	 */
	private static long bytesSeenChanging(MessageCodec codec, Type type, Object value, ByteBuffer memory) {
		MessageFormat format = codec.arguments(
				new MethodSignature("Store", "put", List.of("key", "value"), List.of(int.class, type), void.class));
		MessageSegments segments = new MessageSegments();
		try {
			format.encode(new Object[] { 7, value }, segments);
			for (int i = memory.position(); i < memory.limit(); i++) {
				assertThat(memory.get(i)).isEqualTo(BEFORE);
				memory.put(i, AFTER);
			}
			ByteBuffer message = ByteBuffer.allocate(segments.totalBytes());
			segments.copyTo(message);
			int seen = 0;
			for (byte each : message.array()) {
				seen += (each == AFTER) ? 1 : 0;
			}
			return seen;
		}
		finally {
			segments.clear();
		}
	}

}
