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
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import com.google.flatbuffers.FlatBufferBuilder;

/** Writes values in the form of {@link StockReader} with the stock Java runtime. */
final class StockWriter {

	private final FlatBufferBuilder out = new FlatBufferBuilder(1024).forceDefaults(true);

	/** The message. */
	static ByteBuffer write(TableType type, Map<TableField, Object> value) {
		StockWriter writer = new StockWriter();
		writer.out.finish(writer.table(type, value));
		return writer.out.dataBuffer();
	}

	private int table(TableType type, Map<TableField, Object> values) {
		Map<TableField, Integer> references = new HashMap<>();
		values.forEach((field, value) -> {
			if (!(field.shape() instanceof ScalarShape)) {
				references.put(field, reference(field, value));
			}
		});
		this.out.startTable(type.layout().fieldCount());
		values.forEach((field, value) -> {
			if (!references.containsKey(field)) {
				scalar(field.index(), value);
				return;
			}
			this.out.addOffset(field.index(), references.get(field), 0);
			if (field instanceof TableField.OfUnion union) {
				TableType member = (TableType) ((Map<?, ?>) value).keySet().iterator().next();
				this.out.addByte(field.index() - 1, (byte) union.number(member), 0);
			}
		});
		return this.out.endTable();
	}

	private void scalar(int index, Object value) {
		if (value instanceof Boolean bool) {
			this.out.addBoolean(index, bool, false);
		}
		else if (value instanceof Byte number) {
			this.out.addByte(index, number, 0);
		}
		else if (value instanceof Short number) {
			this.out.addShort(index, number, 0);
		}
		else if (value instanceof Integer number) {
			this.out.addInt(index, number, 0);
		}
		else if (value instanceof Long number) {
			this.out.addLong(index, number, 0);
		}
		else if (value instanceof Float number) {
			this.out.addFloat(index, number, 0);
		}
		else {
			this.out.addDouble(index, (Double) value, 0);
		}
	}

	@SuppressWarnings("unchecked")
	private int reference(TableField field, Object value) {
		if (field instanceof TableField.OfString) {
			return this.out.createString((String) value);
		}
		if (field instanceof TableField.OfTable table) {
			return table(table.target(), (Map<TableField, Object>) value);
		}
		if (field instanceof TableField.OfUnion) {
			Map.Entry<TableType, Map<TableField, Object>> member = ((Map<TableType, Map<TableField, Object>>) value)
				.entrySet()
				.iterator()
				.next();
			return table(member.getKey(), member.getValue());
		}
		List<Object> elements = (List<Object>) value;
		if (field instanceof TableField.OfTables tables) {
			return offsets(elements.stream()
				.mapToInt((element) -> table(tables.target(), (Map<TableField, Object>) element))
				.toArray());
		}
		if (field instanceof TableField.OfStrings) {
			return offsets(elements.stream().mapToInt((text) -> this.out.createString((String) text)).toArray());
		}
		return scalars(field, elements);
	}

	private int offsets(int[] offsets) {
		return this.out.createVectorOfTables(offsets);
	}

	private int scalars(TableField field, List<Object> elements) {
		int bytes = (field instanceof TableField.OfArray<?> array) ? array.kind().bytes() : 1;
		this.out.startVector(bytes, elements.size(), bytes);
		for (int i = elements.size() - 1; i >= 0; i--) {
			Object element = elements.get(i);
			if (element instanceof Boolean bool) {
				this.out.addBoolean(bool);
			}
			else if (element instanceof Byte number) {
				this.out.addByte(number);
			}
			else if (element instanceof Short number) {
				this.out.addShort(number);
			}
			else if (element instanceof Integer number) {
				this.out.addInt(number);
			}
			else if (element instanceof Long number) {
				this.out.addLong(number);
			}
			else if (element instanceof Float number) {
				this.out.addFloat(number);
			}
			else {
				this.out.addDouble((Double) element);
			}
		}
		return this.out.endVector();
	}

}
