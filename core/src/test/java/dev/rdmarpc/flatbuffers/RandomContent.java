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

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Random table types, and random values of them in the form of {@link StockReader}.
 */
final class RandomContent {

	private static final int MAX_DEPTH = 5;

	private static final int MAX_TABLES = 60;

	private static final String[] TEXTS = { "", "a", "plain text of some length", "\u00E4\u20AC\uD83D\uDE00",
			"quote\"\\/" };

	private final Random random;

	private final List<TableType> types = new ArrayList<>();

	private int tables;

	RandomContent(long seed) {
		this.random = new Random(seed);
		int count = 1 + this.random.nextInt(5);
		for (int i = 0; i < count; i++) {
			this.types.add(TableType.named("T" + i));
		}
		for (TableType type : this.types) {
			int fields = (this.random.nextInt(12) == 0) ? 60 + this.random.nextInt(40) : this.random.nextInt(9);
			for (int i = 0; i < fields; i++) {
				addField(type, "f" + i);
			}
		}
	}

	TableType root() {
		return this.types.get(0);
	}

	private TableType anyType() {
		return this.types.get(this.random.nextInt(this.types.size()));
	}

	private void addField(TableType type, String name) {
		switch (this.random.nextInt(21)) {
			case 0 -> type.addBoolean(name);
			case 1 -> type.addByte(name);
			case 2 -> type.addShort(name);
			case 3 -> type.addInt(name);
			case 4 -> type.addLong(name);
			case 5 -> type.addFloat(name);
			case 6 -> type.addDouble(name);
			case 7, 8 -> type.addString(name);
			case 9 -> type.addStrings(name);
			case 10, 11 -> type.addBytes(name, 1 << this.random.nextInt(4));
			case 12 -> type.addBooleans(name);
			case 13 -> type.addShorts(name);
			case 14 -> type.addInts(name);
			case 15 -> type.addLongs(name);
			case 16 -> type.addFloats(name);
			case 17 -> type.addDoubles(name);
			case 18 -> type.addTable(name, anyType());
			case 19 -> type.addTables(name, anyType());
			default -> type.addUnion(name, this.types.toArray(TableType[]::new));
		}
	}

	/** A value of the root type. */
	Map<TableField, Object> value() {
		this.tables = 0;
		return table(root(), 0);
	}

	private Map<TableField, Object> table(TableType type, int depth) {
		Map<TableField, Object> values = new LinkedHashMap<>();
		this.tables++;
		for (TableField field : type.fields()) {
			if (this.random.nextInt(4) != 0) {
				Object value = value(field, depth);
				if (value != null) {
					values.put(field, value);
				}
			}
		}
		return values;
	}

	private Object value(TableField field, int depth) {
		if (field instanceof TableField.OfString) {
			return text();
		}
		if (field instanceof TableField.OfStrings) {
			return list(this.random.nextInt(5), this::text);
		}
		if (field instanceof TableField.OfBytes) {
			int length = this.random.nextInt(3) * this.random.nextInt(700);
			return list(length, () -> (byte) this.random.nextInt());
		}
		if (field instanceof TableField.OfArray<?> array) {
			return list(this.random.nextInt(20), () -> scalar(array.kind()));
		}
		if (field.shape() instanceof ScalarShape scalar) {
			return scalar(scalar.kind());
		}
		if (depth == MAX_DEPTH || this.tables >= MAX_TABLES) {
			return null;
		}
		if (field instanceof TableField.OfTable table) {
			return table(table.target(), depth + 1);
		}
		if (field instanceof TableField.OfTables vector) {
			int count = this.random.nextInt((this.random.nextInt(4) == 0) ? 20 : 4);
			return list(count, () -> table(vector.target(), depth + 1));
		}
		TableType member = anyType();
		return Map.of(member, table(member, depth + 1));
	}

	private <T> List<T> list(int length, java.util.function.Supplier<T> element) {
		List<T> values = new ArrayList<>();
		for (int i = 0; i < length; i++) {
			values.add(element.get());
		}
		return values;
	}

	private String text() {
		String text = TEXTS[this.random.nextInt(TEXTS.length)];
		return (this.random.nextInt(6) == 0) ? text.repeat(this.random.nextInt(300)) : text;
	}

	private Object scalar(ScalarKind kind) {
		boolean zero = this.random.nextInt(6) == 0;
		return switch (kind) {
			case BOOLEAN -> !zero;
			case BYTE -> (byte) (zero ? 0 : this.random.nextInt());
			case SHORT -> (short) (zero ? 0 : this.random.nextInt());
			case CHAR -> '\0';
			case INT -> zero ? 0 : this.random.nextInt();
			case LONG -> zero ? 0L : this.random.nextLong();
			case FLOAT -> zero ? 0f : this.random.nextInt(1 << 16) / 8f;
			case DOUBLE -> zero ? 0d : this.random.nextInt(1 << 16) / 8d;
		};
	}

}
