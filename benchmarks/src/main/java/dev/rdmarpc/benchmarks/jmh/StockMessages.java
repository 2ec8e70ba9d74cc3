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

import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * Messages by the stock builder, as generated code would make them: one builder on direct
 * memory, used again and large enough, then one copy to the send buffer.
 */
final class StockMessages {

	private static final int BYTES = 2 * 1024 * 1024;

	private final FlatBufferBuilder builder = new FlatBufferBuilder(BYTES, new DirectMemory());

	private final ByteBuffer sendBuffer = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);

	private final int[] offsets = new int[16];

	private final int[] points = new int[1000];

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
		this.sendBuffer.clear().put(this.builder.dataBuffer());
		return this.sendBuffer.position();
	}

	private static final class DirectMemory extends FlatBufferBuilder.ByteBufferFactory {

		@Override
		public ByteBuffer newByteBuffer(int capacity) {
			return ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
		}

	}

}
