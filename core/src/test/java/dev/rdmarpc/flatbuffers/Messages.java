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

	static MessageFormat<Object> result(Type type) {
		return CODEC.result(method(type));
	}

	static MessageFormat<Object[]> arguments(Type... types) {
		return CODEC.arguments(method(void.class, types));
	}

	/** The message, contiguous, in a direct buffer of exactly its size. */
	static <T> ByteBuffer encode(MessageFormat<T> format, T value) {
		MessageSegments segments = new MessageSegments();
		format.encode(value, segments);
		return contiguous(segments);
	}

	static ByteBuffer contiguous(MessageSegments segments) {
		ByteBuffer message = ByteBuffer.allocateDirect(segments.totalBytes()).order(ByteOrder.LITTLE_ENDIAN);
		segments.copyTo(message);
		return message.flip();
	}

	@SuppressWarnings("unchecked")
	static <T> T roundTrip(Type type, T value) {
		MessageFormat<Object> format = result(type);
		return (T) format.decode(encode(format, value));
	}

}
