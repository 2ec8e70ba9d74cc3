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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.google.flatbuffers.Table;

/**
 * Reads messages of any table type with nothing but the stock Java runtime, into maps
 * from field to value: lists for vectors, maps for tables, byte lists for bytes.
 */
final class StockReader extends Table {

	private StockReader(int position, ByteBuffer buffer) {
		__reset(position, buffer);
	}

	/** The fields of a message's root table that are there. */
	static Map<TableField, Object> read(TableType type, ByteBuffer message) {
		ByteBuffer buffer = message.slice().order(ByteOrder.LITTLE_ENDIAN);
		return new StockReader(buffer.getInt(0), buffer).read(type);
	}

	private Map<TableField, Object> read(TableType type) {
		Map<TableField, Object> values = new LinkedHashMap<>();
		for (TableField field : type.fields()) {
			int offset = __offset(4 + 2 * field.index());
			if (offset != 0) {
				values.put(field, value(field, offset));
			}
		}
		return values;
	}

	private Object value(TableField field, int offset) {
		int at = this.bb_pos + offset;
		if (field instanceof TableField.OfBoolean) {
			return this.bb.get(at) != 0;
		}
		if (field instanceof TableField.OfByte) {
			return this.bb.get(at);
		}
		if (field instanceof TableField.OfShort) {
			return this.bb.getShort(at);
		}
		if (field instanceof TableField.OfInt) {
			return this.bb.getInt(at);
		}
		if (field instanceof TableField.OfLong) {
			return this.bb.getLong(at);
		}
		if (field instanceof TableField.OfFloat) {
			return this.bb.getFloat(at);
		}
		if (field instanceof TableField.OfDouble) {
			return this.bb.getDouble(at);
		}
		if (field instanceof TableField.OfString) {
			return __string(at);
		}
		if (field instanceof TableField.OfTable table) {
			return new StockReader(__indirect(at), this.bb).read(table.target());
		}
		if (field instanceof TableField.OfUnion union) {
			int number = this.bb.get(this.bb_pos + __offset(4 + 2 * (field.index() - 1)));
			TableType member = union.members().get(number - 1);
			return Map.of(member, new StockReader(__indirect(at), this.bb).read(member));
		}
		return vector(field, offset);
	}

	private List<Object> vector(TableField field, int offset) {
		List<Object> values = new ArrayList<>();
		int length = __vector_len(offset);
		int start = __vector(offset);
		for (int i = 0; i < length; i++) {
			if (field instanceof TableField.OfTables tables) {
				values.add(new StockReader(__indirect(start + 4 * i), this.bb).read(tables.target()));
			}
			else if (field instanceof TableField.OfStrings) {
				values.add(__string(start + 4 * i));
			}
			else if (field instanceof TableField.OfArray<?> array) {
				values.add(array.kind().get(this.bb, start + array.kind().bytes() * i));
			}
			else {
				values.add(this.bb.get(start + i));
			}
		}
		return values;
	}

	/** Where a vector of bytes or a message begins, in the message. */
	static int positionOf(TableField field, ByteBuffer message) {
		ByteBuffer buffer = message.slice().order(ByteOrder.LITTLE_ENDIAN);
		StockReader root = new StockReader(buffer.getInt(0), buffer);
		return root.__vector(root.__offset(4 + 2 * field.index()));
	}

}
