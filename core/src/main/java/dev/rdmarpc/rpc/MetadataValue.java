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

package dev.rdmarpc.rpc;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;

/** A message as a value of metadata: in Base64. */
final class MetadataValue {

	private static final int MAX_BYTES = 65_535;

	private MetadataValue() {
	}

	/**
	 * Encodes a message.
	 * @throws RuntimeException if it cannot be encoded, or is longer than any value
	 */
	static String encode(MessageFormat format, Object message) {
		MessageSegments segments = new MessageSegments();
		try {
			segments.maxBytes(MAX_BYTES);
			format.encode(message, segments);
			byte[] bytes = new byte[segments.totalBytes()];
			segments.copyTo(ByteBuffer.wrap(bytes));
			return Base64.getEncoder().encodeToString(bytes);
		}
		finally {
			segments.clear();
		}
	}

	/**
	 * Decodes a message of a peer.
	 * @throws RuntimeException whatever is wrong with it
	 */
	static Object decode(MessageFormat format, @Nullable String encoded) {
		byte[] bytes = Base64.getDecoder().decode(Objects.requireNonNull(encoded));
		ReceivedMemory received = ReceivedMemory.given();
		try {
			return Objects
				.requireNonNull(format.decode(ByteBuffer.allocateDirect(bytes.length).put(bytes).flip(), received));
		}
		finally {
			received.release();
		}
	}

}
