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

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.flatbuffers.ConvertedShape.Conversion;

/**
 * Compiles the tables of a schema into shapes whose values are trees. The schema may come
 * from a peer: compiling takes no stack, however its tables refer to each other.
 *
 * <p>
 * Not thread-safe.
 */
final class TreeCompiler {

	/** More could not have places of their own in a vtable. */
	private static final int MAX_FIELDS = 4096;

	/** Of all tables; what is compared between the sides has room for less than half. */
	private static final int MAX_TABLES_AND_FIELDS = 20_000;

	/** The number of members is a byte. */
	private static final int MAX_MEMBERS = 255;

	private static final MethodHandle OPTIONAL = MethodHandles.constant(Object.class, null);

	private static final String MAP_ENTRY = "Entry_";

	private final SchemaText schema;

	private final Map<String, TableShape> tables = new HashMap<>();

	private final Map<String, TableShape> entries = new HashMap<>();

	private final Map<String, TreeUnion> unions = new HashMap<>();

	private final Deque<Runnable> open = new ArrayDeque<>();

	private int tablesAndFields;

	TreeCompiler(SchemaText schema) {
		this.schema = schema;
	}

	/**
	 * Compiles a table with all that it refers to.
	 * @throws IllegalArgumentException if the schema does not declare what it uses
	 */
	TableShape compile(String table) {
		TableShape shape = table(table);
		for (Runnable next = this.open.poll(); next != null; next = this.open.poll()) {
			next.run();
		}
		return shape;
	}

	/** The conversion of the values of a table that is a single value, or null. */
	@Nullable Conversion valueOf(String table) {
		List<SchemaText.Field> fields = this.schema.tables().get(table);
		if (fields == null) {
			return null;
		}
		if (isOf(BigDecimal.class, table) && types(fields).equals(List.of("[ubyte]", "int"))) {
			return TreeValues.DECIMAL;
		}
		return (isOf(ZonedDateTime.class, table) && fields.size() == 3
				&& isOf(LocalDateTime.class, fields.get(0).type())
				&& types(fields).subList(1, 3).equals(List.of("int", "string"))) ? TreeValues.ZONED_DATE_TIME : null;
	}

	/** The table of such a value. */
	TableShape valueTable(Conversion conversion) {
		if (conversion.equals(TreeValues.DECIMAL)) {
			return ValueTables.bigDecimal();
		}
		return ValueTables.zonedDateTime(Objects.requireNonNull(InlineShape.of(LocalDateTime.class)),
				Objects.requireNonNull(TextShape.of(ZoneId.class)));
	}

	private static List<String> types(List<SchemaText.Field> fields) {
		return fields.stream().map(SchemaText.Field::type).toList();
	}

	/** Names that were taken have a number behind them. */
	private static boolean isOf(Class<?> type, String name) {
		String simple = type.getSimpleName();
		return name.startsWith(simple) && name.substring(simple.length()).chars().allMatch(Character::isDigit);
	}

	private TableShape table(String name) {
		TableShape known = this.tables.get(name);
		if (known != null) {
			return known;
		}
		List<SchemaText.Field> fields = this.schema.tables().get(name);
		if (fields == null) {
			throw new IllegalArgumentException("no table " + name + " (expected: its declaration)");
		}
		if (fields.size() > MAX_FIELDS) {
			throw new IllegalArgumentException(
					"table " + name + " with " + fields.size() + " fields (expected: at most " + MAX_FIELDS + ")");
		}
		TableShape table = newTable(name, fields);
		this.tables.put(name, table);
		this.open.add(() -> {
			List<TableShape.Part> parts = new ArrayList<>();
			fields.forEach((field) -> parts.add(part(field, false)));
			table.link(parts, TreeBody.heapBytes(parts.size()), (layouts) -> new TreeBody(name, layouts));
		});
		return table;
	}

	private TableShape newTable(String name, List<SchemaText.Field> fields) {
		this.tablesAndFields += 1 + fields.size();
		if (this.tablesAndFields > MAX_TABLES_AND_FIELDS) {
			throw new IllegalArgumentException(
					"a schema of more than " + MAX_TABLES_AND_FIELDS + " tables and fields (expected: at most that)");
		}
		return new TableShape(name, name);
	}

	private TableShape.Part part(SchemaText.Field field, boolean key) {
		Shape shape = shape(field, key);
		boolean required = shape.isScalar() && !field.nullable();
		return new TableShape.Part(field.name(), shape, required ? TableShape.NO_ACCESSOR : OPTIONAL);
	}

	private Shape shape(SchemaText.Field field, boolean key) {
		List<String> members = this.schema.unions().get(field.type());
		if (members == null) {
			return shape(field.type(), field.nullable(), key);
		}
		TreeUnion known = this.unions.get(field.type());
		return (known != null) ? known : union(field.type(), members);
	}

	private TreeUnion union(String name, List<String> members) {
		if (members.size() > MAX_MEMBERS) {
			throw new IllegalArgumentException(
					"union " + name + " with " + members.size() + " members (expected: at most " + MAX_MEMBERS + ")");
		}
		TreeUnion union = new TreeUnion(name, members, members.stream().map(this::table).toList());
		this.unions.put(name, union);
		return union;
	}

	private Shape shape(String type, boolean nullable, boolean key) {
		for (ScalarKind kind : ScalarKind.values()) {
			if (kind.schemaType().equals(type)) {
				return new ConvertedShape(new ScalarShape(kind), TreeValues.scalar(kind, key), 0,
						nullable ? null : zero(kind));
			}
		}
		if (type.equals("string")) {
			return new ConvertedShape(TextShape.ofStrings(), TreeValues.STRING, 0, null);
		}
		if (type.equals("[ubyte]")) {
			return new ConvertedShape(new BytesShape(BytesShape.View.ARRAY), TreeValues.BYTES, 0, null);
		}
		String element = SchemaText.elementOf(type);
		return (element != null) ? vector(element) : struct(type, () -> value(type));
	}

	private static Object zero(ScalarKind kind) {
		return switch (kind) {
			case BOOLEAN -> false;
			case BYTE -> (byte) 0;
			case SHORT -> (short) 0;
			case CHAR, INT -> 0;
			case LONG -> 0L;
			case FLOAT -> 0F;
			case DOUBLE -> 0D;
		};
	}

	private Shape vector(String element) {
		if (isEntry(element)) {
			MapShape map = new MapShape(Map.class);
			map.link(entry(element), Object.class);
			return new ConvertedShape(map, TreeValues.map(element), 0, null);
		}
		return new ConvertedShape(SequenceShape.of(shape(element, false, false)), TreeValues.list(element), 0, null);
	}

	private boolean isEntry(String name) {
		List<SchemaText.Field> fields = this.schema.tables().get(name);
		return name.startsWith(MAP_ENTRY) && fields != null
				&& fields.stream().map(SchemaText.Field::name).toList().equals(List.of("key", "value"))
				&& fields.stream().noneMatch((field) -> this.schema.unions().containsKey(field.type()));
	}

	private TableShape entry(String name) {
		TableShape known = this.entries.get(name);
		if (known != null) {
			return known;
		}
		List<SchemaText.Field> fields = Objects.requireNonNull(this.schema.tables().get(name));
		TableShape entry = newTable(name, fields);
		this.entries.put(name, entry);
		this.open.add(() -> entry.link(List.of(part(fields.get(0), true), part(fields.get(1), false)),
				2 * HeapBytes.OBJECT, TreeBody.OfEntry::new));
		return entry;
	}

	private Shape struct(String name, Supplier<Shape> otherwise) {
		String fields = this.schema.structs().get(name);
		if (fields == null) {
			return otherwise.get();
		}
		for (Class<?> type : TreeValues.structs()) {
			InlineShape shape = Objects.requireNonNull(InlineShape.of(type));
			if (isOf(type, name) && fields.equals(fieldsOf(shape))) {
				return new ConvertedShape(shape, Objects.requireNonNull(TreeValues.struct(type)), TreeValues.TEXT_BYTES,
						null);
			}
		}
		throw new UnsupportedOperationException("the struct " + name + " is not known here");
	}

	private static String fieldsOf(InlineShape struct) {
		return struct.schemaType(new SchemaWriter() {

			@Override
			String struct(String wanted, String fields) {
				return fields;
			}

		});
	}

	private Shape value(String name) {
		Conversion conversion = valueOf(name);
		return (conversion != null)
				? new ConvertedShape(valueTable(conversion), conversion, TreeValues.TEXT_BYTES, null) : table(name);
	}

}
