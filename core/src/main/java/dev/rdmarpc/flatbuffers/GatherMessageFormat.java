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

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.UnencodableValueException;

/**
 * A message that is a {@link GatherMessage}, by reference. Its schema is not known here,
 * so a received one is verified no further than its root.
 *
 * @param <T> the values
 */
abstract class GatherMessageFormat<T extends @Nullable Object> implements MessageFormat<T> {

	/** Encodes a message. */
	final void encodeMessage(@Nullable Object value, MessageSegments out) {
		out.clear();
		if (value == null) {
			return;
		}
		GatherMessage message = (GatherMessage) value;
		if (message.vector() != null) {
			throw new UnencodableValueException("a vector is no message (expected: one with a root table)");
		}
		boolean complete = false;
		try {
			message.addTo(out);
			complete = true;
		}
		finally {
			if (!complete) {
				out.clear();
			}
		}
	}

	/** Decodes a message. */
	final @Nullable Object decodeMessage(ByteBuffer message, ReceivedMemory memory) {
		if (!message.hasRemaining()) {
			return null;
		}
		MessageVerifier verifier = new MessageVerifier(1, 1);
		verifier.begin(message, message.position(), message.limit(), false);
		verifier.foreignRoot();
		return MessageReader.message(memory, message.position(), message.remaining());
	}

	@Override
	public final T decode(ByteBuffer message) {
		throw new UnsupportedOperationException("messages are received in registered memory");
	}

	/** The only argument. */
	static final class Argument extends GatherMessageFormat<@Nullable Object[]> {

		@Override
		public void encode(@Nullable Object[] value, MessageSegments out) {
			encodeMessage(value[0], out);
		}

		@Override
		public @Nullable Object[] decode(ByteBuffer message, ReceivedMemory memory) {
			return new @Nullable Object[] { decodeMessage(message, memory) };
		}

	}

	/** The result. */
	static final class Result extends GatherMessageFormat<@Nullable Object> {

		@Override
		public void encode(@Nullable Object value, MessageSegments out) {
			encodeMessage(value, out);
		}

		@Override
		@SuppressWarnings("NullAway") // does not see that T may be nullable
		public @Nullable Object decode(ByteBuffer message, ReceivedMemory memory) {
			return decodeMessage(message, memory);
		}

	}

}
