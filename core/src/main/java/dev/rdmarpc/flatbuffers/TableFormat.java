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

import dev.rdmarpc.codec.ArrivingBytes;
import dev.rdmarpc.codec.CodecException;
import dev.rdmarpc.codec.HeapBudget;
import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.UnencodableValueException;

/** The format of values that are a root table, or the fields of one. */
final class TableFormat implements MessageFormat {

	private static final ByteBuffer NO_FIELDS = ByteBuffer.allocateDirect(12)
		.order(ByteOrder.LITTLE_ENDIAN)
		.putInt(0, 8)
		.putShort(4, (short) 4)
		.putShort(6, (short) 4)
		.putInt(8, 4);

	private final TableShape root;

	private final boolean synthesized;

	private final FlatBuffersOptions options;

	private final MessageReaders readers;

	private final HeapBudget heap;

	/**
	 * Creates a format for that root table.
	 * @param synthesized whether the table was made for the method: then an empty message
	 * has none of its fields, otherwise it is null
	 */
	TableFormat(TableShape root, boolean synthesized, FlatBuffersOptions options, MessageReaders readers) {
		this.root = root;
		this.synthesized = synthesized;
		this.options = options;
		this.readers = readers;
		this.heap = readers.heap();
	}

	@Override
	public void encode(@Nullable Object value, MessageSegments out) {
		out.clear();
		if (value == null && !this.synthesized) {
			return;
		}
		SegmentWriter builder = out.workspace(SegmentWriter.class, () -> new SegmentWriter(null));
		boolean finished = false;
		try {
			builder.begin(out, this.options.gatherThreshold(), this.options.maxDepth());
			int slot = builder.reserve(SegmentWriter.OFFSET_BYTES, SegmentWriter.OFFSET_BYTES, 0);
			ByteBuffer memory = builder.memory();
			memory.putInt(slot, this.root.writeTable(value, builder));
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

	@Override
	public @Nullable Object decode(ByteBuffer message, ReceivedMemory memory) {
		if (message.hasRemaining()) {
			return read(MessageReader.littleEndian(message), memory);
		}
		return this.synthesized ? read(NO_FIELDS, memory) : null;
	}

	@Override
	public @Nullable ArrivingBytes foresee(ByteBuffer begun, int messageBytes) {
		Foresight foresight = new Foresight(MessageReader.littleEndian(begun), begun.position() + messageBytes);
		foresight.follow(this.root, begun.position());
		return ArrivingBytes.of(this.heap, foresight.index(), foresight.lengthBytes());
	}

	private @Nullable Object read(ByteBuffer message, ReceivedMemory memory) {
		MessageReader reader = this.readers.acquire();
		try {
			MessageVerifier verifier = reader.verifier();
			verifier.begin(message, message.position(), message.limit(), !memory.isLent());
			int position = verifier.root();
			this.root.verifyTarget(verifier, position);
			memory.charge(this.heap, verifier.heapBytes());
			reader.begin(message, memory);
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
		}
	}

}
