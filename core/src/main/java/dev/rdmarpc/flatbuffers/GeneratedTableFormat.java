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
import java.nio.ByteOrder;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;

/**
 * A message that is the buffer of a generated table, by reference.
 *
 * @param <T> the values
 */
abstract class GeneratedTableFormat<T extends @Nullable Object> implements MessageFormat<T> {

	private final GeneratedTableShape root;

	/** Creates a format for that class. */
	GeneratedTableFormat(GeneratedTableShape root) {
		this.root = root;
	}

	/** Encodes a table. */
	final void encodeTable(@Nullable Object table, MessageSegments out) {
		out.clear();
		if (table != null) {
			out.addBytes(this.root.buffer(table));
		}
	}

	/** Decodes a table. */
	final @Nullable Object decodeTable(ByteBuffer message) {
		return decodeView(message.slice().asReadOnlyBuffer());
	}

	/** Decodes a table that lies in received memory. */
	final @Nullable Object decodeTable(ByteBuffer message, ReceivedMemory memory) {
		return decodeView(memory.view(message, message.position(), message.remaining()));
	}

	private @Nullable Object decodeView(ByteBuffer part) {
		ByteBuffer view = part.order(ByteOrder.LITTLE_ENDIAN);
		if (!view.hasRemaining()) {
			return null;
		}
		MessageVerifier verifier = new MessageVerifier(1, 1);
		verifier.begin(view, 0, view.limit(), false);
		verifier.foreignRoot();
		try {
			return this.root.table(view);
		}
		catch (RuntimeException ex) {
			throw new MalformedMessageException("message cannot be read as " + this.root.name() + ": " + ex, ex);
		}
	}

	/** The only argument. */
	static final class Argument extends GeneratedTableFormat<@Nullable Object[]> {

		Argument(GeneratedTableShape root) {
			super(root);
		}

		@Override
		public void encode(@Nullable Object[] value, MessageSegments out) {
			encodeTable(value[0], out);
		}

		@Override
		public @Nullable Object[] decode(ByteBuffer message) {
			return new @Nullable Object[] { decodeTable(message) };
		}

		@Override
		public @Nullable Object[] decode(ByteBuffer message, ReceivedMemory memory) {
			return new @Nullable Object[] { decodeTable(message, memory) };
		}

	}

	/** The result. */
	static final class Result extends GeneratedTableFormat<@Nullable Object> {

		Result(GeneratedTableShape root) {
			super(root);
		}

		@Override
		public void encode(@Nullable Object value, MessageSegments out) {
			encodeTable(value, out);
		}

		@Override
		@SuppressWarnings("NullAway") // does not see that T may be nullable
		public @Nullable Object decode(ByteBuffer message) {
			return decodeTable(message);
		}

		@Override
		@SuppressWarnings("NullAway") // does not see that T may be nullable
		public @Nullable Object decode(ByteBuffer message, ReceivedMemory memory) {
			return decodeTable(message, memory);
		}

	}

}
