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

package dev.rdmarpc.flatbuffers;

import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.ReceivedMemory;

/** Formats and messages for tests. */
final class Messages {

	static final FlatBuffersCodec CODEC = new FlatBuffersCodec();

	private Messages() {
	}

	static MethodSignature method(Type result, Type... parameters) {
		List<String> names = new ArrayList<>();
		for (int i = 0; i < parameters.length; i++) {
			names.add("p" + i);
		}
		return new MethodSignature("TestService", "call", names, List.of(parameters), result);
	}

	static MessageFormat result(Type type) {
		return CODEC.result(method(type));
	}

	static MessageFormat arguments(Type... types) {
		return CODEC.arguments(method(void.class, types));
	}

	/** The message, contiguous, in a direct buffer of exactly its size. */
	static ByteBuffer encode(MessageFormat format, Object value) {
		MessageSegments segments = new MessageSegments();
		format.encode(value, segments);
		return contiguous(segments);
	}

	static ByteBuffer contiguous(MessageSegments segments) {
		ByteBuffer message = ByteBuffer.allocateDirect(segments.totalBytes()).order(ByteOrder.LITTLE_ENDIAN);
		segments.copyTo(message);
		return message.flip();
	}

	/** What a message says that was received in memory that outlives its value. */
	static Object decode(MessageFormat format, ByteBuffer message) {
		ReceivedMemory memory = ReceivedMemory.lent();
		try {
			return format.decode(message, memory);
		}
		finally {
			memory.handOver();
		}
	}

	static Object[] decodeArguments(MessageFormat format, ByteBuffer message) {
		return (Object[]) decode(format, message);
	}

	@SuppressWarnings("unchecked")
	static <T> T roundTrip(Type type, T value) {
		MessageFormat format = result(type);
		return (T) decode(format, encode(format, value));
	}

}
