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
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * Writes values in the form of {@link StockReader} with a {@link GatherBuilder}, with
 * bytes in memory of all kinds and parts built before, at random.
 */
final class GatherWriter {

	private final RegisteredMemory memory;

	private final GatherBuilder builder;

	private final Random random;

	GatherWriter(RegisteredMemory memory, GatherBuilder builder, Random random) {
		this.memory = memory;
		this.builder = builder;
		this.random = random;
	}

	/** The message, owned by the caller. */
	GatherMessage write(TableType type, Map<TableField, Object> value) {
		return this.builder.build(type, (out) -> put(out, value));
	}

	private void put(GatherBuilder out, Map<TableField, Object> values) {
		values.forEach((field, value) -> put(out, field, value));
	}

	@SuppressWarnings("unchecked")
	private void put(GatherBuilder out, TableField field, Object value) {
		if (field.shape() instanceof ScalarShape) {
			scalar(out, field, value);
		}
		else if (field instanceof TableField.OfString string) {
			string(out, string, (String) value);
		}
		else if (field instanceof TableField.OfStrings strings) {
			out.put(strings, (List<String>) value);
		}
		else if (field instanceof TableField.OfBytes bytes) {
			bytes(out, bytes, array((List<Byte>) value));
		}
		else if (field instanceof TableField.OfArray<?> array) {
			array(out, array, (List<?>) value);
		}
		else if (field instanceof TableField.OfTable table) {
			table(out, table, (Map<TableField, Object>) value);
		}
		else if (field instanceof TableField.OfTables tables) {
			tables(out, tables, (List<Map<TableField, Object>>) value);
		}
		else {
			union(out, (TableField.OfUnion) field, (Map<TableType, Map<TableField, Object>>) value);
		}
	}

	private static void scalar(GatherBuilder out, TableField field, Object value) {
		if (field instanceof TableField.OfBoolean typed) {
			out.put(typed, (boolean) value);
		}
		else if (field instanceof TableField.OfByte typed) {
			out.put(typed, (byte) value);
		}
		else if (field instanceof TableField.OfShort typed) {
			out.put(typed, (short) value);
		}
		else if (field instanceof TableField.OfInt typed) {
			out.put(typed, (int) value);
		}
		else if (field instanceof TableField.OfLong typed) {
			out.put(typed, (long) value);
		}
		else if (field instanceof TableField.OfFloat typed) {
			out.put(typed, (float) value);
		}
		else {
			out.put((TableField.OfDouble) field, (double) value);
		}
	}

	private void string(GatherBuilder out, TableField.OfString field, String value) {
		if (this.random.nextBoolean()) {
			out.put(field, value);
		}
		else {
			RegisteredBuffer utf8 = registered(value.getBytes(StandardCharsets.UTF_8));
			out.put(field, utf8);
			utf8.release();
		}
	}

	private void bytes(GatherBuilder out, TableField.OfBytes field, byte[] value) {
		switch (this.random.nextInt(4)) {
			case 0 -> out.put(field, value);
			case 1 -> out.put(field, ByteBuffer.allocate(value.length + 3).position(3).put(value).position(3));
			case 2 -> out.put(field, ByteBuffer.allocateDirect(value.length).put(value).flip());
			default -> {
				RegisteredBuffer buffer = registered(value);
				out.put(field, buffer);
				buffer.release();
			}
		}
	}

	private RegisteredBuffer registered(byte[] value) {
		RegisteredBuffer buffer = this.memory.allocate(value.length);
		buffer.buffer().put(value);
		return buffer;
	}

	private static byte[] array(List<Byte> values) {
		byte[] array = new byte[values.size()];
		for (int i = 0; i < array.length; i++) {
			array[i] = values.get(i);
		}
		return array;
	}

	@SuppressWarnings("unchecked")
	private static <A> void array(GatherBuilder out, TableField.OfArray<A> field, List<?> values) {
		Object array = java.lang.reflect.Array.newInstance(field.kind().primitive(), values.size());
		for (int i = 0; i < values.size(); i++) {
			java.lang.reflect.Array.set(array, i, values.get(i));
		}
		out.put(field, (A) array);
	}

	private void table(GatherBuilder out, TableField.OfTable field, Map<TableField, Object> value) {
		if (this.random.nextBoolean()) {
			out.begin(field);
			put(out, value);
			out.end();
		}
		else {
			embedded(field.target(), value, (message) -> out.put(field, message));
		}
	}

	private void union(GatherBuilder out, TableField.OfUnion field, Map<TableType, Map<TableField, Object>> value) {
		value.forEach((member, content) -> {
			if (this.random.nextBoolean()) {
				out.begin(field, member);
				put(out, content);
				out.end();
			}
			else {
				embedded(member, content, (message) -> out.put(field, message));
			}
		});
	}

	private void tables(GatherBuilder out, TableField.OfTables field, List<Map<TableField, Object>> values) {
		if (this.random.nextInt(3) == 0) {
			try (GatherBuilder other = new GatherBuilder(this.memory)) {
				GatherWriter writer = new GatherWriter(this.memory, other, this.random);
				other.beginVector(field, values.size());
				writer.elements(other, field, values);
				GatherMessage vector = other.finish();
				out.put(field, vector);
				vector.release();
			}
			return;
		}
		out.begin(field, values.size());
		elements(out, field, values);
		out.end();
	}

	private void elements(GatherBuilder out, TableField.OfTables field, List<Map<TableField, Object>> values) {
		for (Map<TableField, Object> value : values) {
			if (this.random.nextBoolean()) {
				out.begin();
				put(out, value);
				out.end();
			}
			else {
				embedded(field.target(), value, out::add);
			}
		}
	}

	private void embedded(TableType type, Map<TableField, Object> value, Consumer<GatherMessage> use) {
		try (GatherBuilder other = new GatherBuilder(this.memory)) {
			GatherMessage message = new GatherWriter(this.memory, other, this.random).write(type, value);
			use.accept(message);
			message.release();
		}
	}

}
