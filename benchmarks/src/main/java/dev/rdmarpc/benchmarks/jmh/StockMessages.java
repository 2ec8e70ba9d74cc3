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

package dev.rdmarpc.benchmarks.jmh;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import com.google.flatbuffers.FlatBufferBuilder;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * Messages by the stock builder, as generated code would make them: by one builder, used
 * again and large enough. Either on direct memory, then with one copy to the send buffer,
 * or in place: on registered memory, so that nothing is copied after the builder.
 */
final class StockMessages {

	private static final int BYTES = 2 * 1024 * 1024;

	private final FlatBufferBuilder builder;

	private final @Nullable ByteBuffer sendBuffer;

	private final @Nullable RegisteredBuffer place;

	private final int[] offsets = new int[16];

	private final int[] points = new int[1000];

	private StockMessages(@Nullable ByteBuffer sendBuffer, @Nullable RegisteredBuffer place) {
		this.builder = new FlatBufferBuilder(BYTES, new Memory(place));
		this.sendBuffer = sendBuffer;
		this.place = place;
	}

	/** Copied to a send buffer. */
	static StockMessages copied() {
		return new StockMessages(ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN), null);
	}

	/** Built where they are sent from. */
	static StockMessages inPlace(RegisteredMemory memory) {
		return new StockMessages(null, memory.allocate(BYTES));
	}

	/** Gives the memory back, if it is registered. */
	void release() {
		if (this.place != null) {
			this.place.release();
		}
	}

	int small(int a, long b, double c, short d, boolean e, String text) {
		FlatBufferBuilder out = this.builder;
		out.clear();
		int string = out.createString(text);
		out.startTable(6);
		out.addLong(1, b, 0);
		out.addDouble(2, c, 0);
		out.addInt(0, a, 0);
		out.addOffset(5, string, 0);
		out.addShort(3, d, 0);
		out.addBoolean(4, e, false);
		return send(out.endTable());
	}

	int append(RegisteredBuffer[] data) {
		FlatBufferBuilder out = this.builder;
		out.clear();
		for (int i = 0; i < this.offsets.length; i++) {
			int bytes = out.createByteVector(data[i].buffer());
			out.startTable(3);
			out.addLong(1, 1, 0);
			out.addLong(0, i, -1);
			out.addOffset(2, bytes, 0);
			this.offsets[i] = out.endTable();
		}
		out.startVector(4, this.offsets.length, 4);
		for (int i = this.offsets.length - 1; i >= 0; i--) {
			out.addOffset(this.offsets[i]);
		}
		int entries = out.endVector();
		out.startTable(3);
		out.addLong(1, 2, 0);
		out.addLong(0, 1, 0);
		out.addOffset(2, entries, 0);
		return send(out.endTable());
	}

	int points(int count) {
		FlatBufferBuilder out = this.builder;
		out.clear();
		int[] points = this.points;
		for (int i = 0; i < count; i++) {
			out.startTable(3);
			out.addFloat(2, -i, 1);
			out.addFloat(1, i, -1);
			out.addInt(0, i, -1);
			points[i] = out.endTable();
		}
		out.startVector(4, count, 4);
		for (int i = count - 1; i >= 0; i--) {
			out.addOffset(points[i]);
		}
		int vector = out.endVector();
		out.startTable(1);
		out.addOffset(0, vector, 0);
		return send(out.endTable());
	}

	private int send(int root) {
		this.builder.finish(root);
		ByteBuffer message = this.builder.dataBuffer();
		if (this.sendBuffer == null) {
			return message.remaining();
		}
		this.sendBuffer.clear().put(message);
		return this.sendBuffer.position();
	}

	private static final class Memory extends FlatBufferBuilder.ByteBufferFactory {

		private final @Nullable RegisteredBuffer place;

		Memory(@Nullable RegisteredBuffer place) {
			this.place = place;
		}

		@Override
		public ByteBuffer newByteBuffer(int capacity) {
			return (this.place != null) ? this.place.buffer()
					: ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
		}

	}

}
