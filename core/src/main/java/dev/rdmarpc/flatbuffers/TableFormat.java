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
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.CodecException;
import dev.rdmarpc.codec.HeapBudget;
import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.UnencodableValueException;

/**
 * A message with a root table.
 *
 * @param <T> the values
 */
abstract class TableFormat<T extends @Nullable Object> implements MessageFormat<T> {

	private static final ByteBuffer NO_FIELDS = ByteBuffer.allocateDirect(12)
		.order(ByteOrder.LITTLE_ENDIAN)
		.putInt(0, 8)
		.putShort(4, (short) 4)
		.putShort(6, (short) 4)
		.putInt(8, 4);

	private final TableShape root;

	private final FlatBuffersOptions options;

	private final MessageReaders readers;

	private final HeapBudget heap;

	/** Creates a format for that root table. */
	TableFormat(TableShape root, FlatBuffersOptions options, MessageReaders readers) {
		this.root = root;
		this.options = options;
		this.readers = readers;
		this.heap = readers.heap();
	}

	/**
	 * Encodes a root table.
	 * @param table the value that the root table is made of
	 */
	final void encodeRoot(@Nullable Object table, MessageSegments out) {
		out.clear();
		SegmentWriter builder = out.workspace(SegmentWriter.class, () -> new SegmentWriter(null));
		boolean finished = false;
		try {
			builder.begin(out, this.options.gatherThreshold(), this.options.maxDepth());
			int slot = builder.reserve(SegmentWriter.OFFSET_BYTES, SegmentWriter.OFFSET_BYTES, 0);
			ByteBuffer memory = builder.memory();
			memory.putInt(slot, this.root.writeTable(table, builder));
			builder.finish();
			finished = true;
		}
		catch (CodecException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw new UnencodableValueException(this.root.name() + " cannot be encoded: " + ex, ex);
		}
		finally {
			if (!finished) {
				builder.abort();
				out.clear();
			}
		}
	}

	/**
	 * Decodes a root table.
	 * @param memory what it was received in, {@code null} if it is not registered
	 */
	final @Nullable Object decodeRoot(ByteBuffer message, @Nullable ReceivedMemory memory) {
		ByteBuffer buffer = (message.order() == ByteOrder.LITTLE_ENDIAN) ? message
				: message.duplicate().order(ByteOrder.LITTLE_ENDIAN);
		MessageReader reader = this.readers.acquire();
		long taken = 0;
		try {
			MessageVerifier verifier = reader.verifier();
			verifier.begin(buffer, buffer.position(), buffer.limit(), memory != null && !memory.isLent());
			int position = verifier.root();
			this.root.verifyTarget(verifier, position);
			taken = this.heap.take(verifier.heapBytes());
			if (memory != null) {
				memory.charge(this.heap, taken);
				taken = 0;
			}
			reader.begin(buffer, memory);
			return this.root.readTarget(reader, position);
		}
		catch (CodecException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw new MalformedMessageException("message cannot be read as " + this.root.name() + ": " + ex, ex);
		}
		finally {
			this.readers.release(reader);
			this.heap.giveBack(taken);
		}
	}

	@Override
	public final T decode(ByteBuffer message) {
		return read(message, null);
	}

	@Override
	public final T decode(ByteBuffer message, ReceivedMemory memory) {
		return read(message, memory);
	}

	/**
	 * Decodes a message.
	 * @param memory what it was received in, {@code null} if it is not registered
	 */
	abstract T read(ByteBuffer message, @Nullable ReceivedMemory memory);

	/** Arguments as the fields of a table. An empty message has none of them. */
	static final class Arguments extends TableFormat<@Nullable Object[]> {

		Arguments(TableShape root, FlatBuffersOptions options, MessageReaders readers) {
			super(root, options, readers);
		}

		@Override
		public void encode(@Nullable Object[] value, MessageSegments out) {
			encodeRoot(value, out);
		}

		@Override
		@Nullable Object[] read(ByteBuffer message, @Nullable ReceivedMemory memory) {
			return (@Nullable Object[]) Objects
				.requireNonNull(decodeRoot(message.hasRemaining() ? message : NO_FIELDS, memory));
		}

	}

	/** One argument that is the root table. */
	static final class RootArgument extends TableFormat<@Nullable Object[]> {

		RootArgument(TableShape root, FlatBuffersOptions options, MessageReaders readers) {
			super(root, options, readers);
		}

		@Override
		public void encode(@Nullable Object[] value, MessageSegments out) {
			if (value[0] == null) {
				out.clear();
			}
			else {
				encodeRoot(value[0], out);
			}
		}

		@Override
		@Nullable Object[] read(ByteBuffer message, @Nullable ReceivedMemory memory) {
			return new @Nullable Object[] { message.hasRemaining() ? decodeRoot(message, memory) : null };
		}

	}

	/** A result that is the root table. */
	static final class RootResult extends TableFormat<@Nullable Object> {

		RootResult(TableShape root, FlatBuffersOptions options, MessageReaders readers) {
			super(root, options, readers);
		}

		@Override
		public void encode(@Nullable Object value, MessageSegments out) {
			if (value == null) {
				out.clear();
			}
			else {
				encodeRoot(value, out);
			}
		}

		@Override
		@SuppressWarnings("NullAway") // does not see that T may be nullable
		@Nullable Object read(ByteBuffer message, @Nullable ReceivedMemory memory) {
			return message.hasRemaining() ? decodeRoot(message, memory) : null;
		}

	}

	/** A result as the field of a table. */
	static final class WrappedResult extends TableFormat<@Nullable Object> {

		WrappedResult(TableShape root, FlatBuffersOptions options, MessageReaders readers) {
			super(root, options, readers);
		}

		@Override
		public void encode(@Nullable Object value, MessageSegments out) {
			encodeRoot(value, out);
		}

		@Override
		@SuppressWarnings("NullAway") // does not see that T may be nullable
		@Nullable Object read(ByteBuffer message, @Nullable ReceivedMemory memory) {
			return decodeRoot(message.hasRemaining() ? message : NO_FIELDS, memory);
		}

	}

}
