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

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Writes FlatBuffers schemas, so that callers in other languages can be generated from
 * them.
 *
 * <p>
 * Not thread-safe.
 */
class SchemaWriter {

	private static final Set<String> RESERVED = Set.of("attribute", "bool", "byte", "double", "enum", "false", "file",
			"file_extension", "file_identifier", "float", "float32", "float64", "include", "inf", "infinity", "int",
			"int16", "int32", "int64", "int8", "long", "namespace", "nan", "native_include", "NONE", "null",
			"root_type", "rpc_service", "short", "string", "struct", "table", "true", "ubyte", "uint", "uint16",
			"uint32", "uint64", "uint8", "ulong", "union", "ushort");

	/** What the field that tells the member of a union is called after it. */
	private static final String UNION_TYPE = "_type";

	private final Map<Object, String> names = new HashMap<>();

	private final Map<String, String> structs = new LinkedHashMap<>();

	private final Map<String, String> unions = new LinkedHashMap<>();

	private final Map<String, String> tables = new LinkedHashMap<>();

	/**
	 * Declares a table.
	 * @param key what it is declared for, once
	 * @param wanted what to call it, if that name is free
	 * @param fields gives its fields, after declaring what they need
	 * @return the name to refer to it
	 */
	String table(Object key, String wanted, Supplier<List<Field>> fields) {
		return declare(this.tables, key, wanted, (name) -> {
			StringBuilder text = new StringBuilder("table " + name + " {\n");
			Set<String> taken = new HashSet<>(Set.of(name));
			for (Field field : fields.get()) {
				text.append("  ").append(fieldName(field, taken)).append(':').append(field.type());
				text.append(field.nullable() ? " = null;\n" : ";\n");
			}
			return text.append("}\n").toString();
		});
	}

	/** Declares a table in whose place belongs one from another schema. */
	String external(String className) {
		return declare(this.tables, className, className.substring(className.lastIndexOf('.') + 1),
				(name) -> "// Declared by the schema that " + className + " was generated from.\ntable " + name
						+ " {}\n");
	}

	/** Declares a table without fields. */
	String empty(String wanted) {
		return declare(this.tables, wanted, wanted, (name) -> "table " + name + " {}\n");
	}

	/** Declares a struct. */
	String struct(String wanted, String fields) {
		return declare(this.structs, wanted + fields, wanted, (name) -> "struct " + name + " { " + fields + " }\n");
	}

	/**
	 * Declares a union.
	 * @param key what it is declared for, once
	 * @param wanted what to call it, if that name is free
	 * @param members gives the names of its members, after declaring them
	 */
	String union(Object key, String wanted, Supplier<Stream<String>> members) {
		return declare(this.unions, key, wanted,
				(name) -> "union " + name + " { " + members.get().collect(Collectors.joining(", ")) + " }\n");
	}

	private String declare(Map<String, String> declarations, Object key, String wanted, UnaryOperator<String> text) {
		String known = this.names.get(key);
		if (known != null) {
			return known;
		}
		String name = newName(key, wanted);
		declarations.put(name, text.apply(name));
		return name;
	}

	private String newName(Object key, String wanted) {
		String name = identifier(wanted);
		for (int i = 2; this.names.containsValue(name); i++) {
			name = identifier(wanted) + i;
		}
		this.names.put(key, name);
		return name;
	}

	/** The name, made an identifier. */
	static String identifier(String name) {
		String plain = name.codePoints()
			.mapToObj((c) -> (c < 128 && Character.isLetterOrDigit(c)) ? Character.toString(c) : "_")
			.collect(Collectors.joining());
		if (plain.isEmpty() || Character.isDigit(plain.charAt(0))) {
			return "_" + plain;
		}
		return RESERVED.contains(plain) ? plain + "_" : plain;
	}

	/**
	 * The name as FlatBuffers wants field names: lower case, words joined by underscores;
	 * and none that is taken, also by the type field of a union.
	 * @param taken names that the field cannot have, to which its own are added
	 */
	private static String fieldName(Field field, Set<String> taken) {
		String wanted = identifier(field.name().replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT));
		String name = wanted;
		for (int i = 2; taken.contains(name) || (field.union() && taken.contains(name + UNION_TYPE)); i++) {
			name = wanted + i;
		}
		taken.add(name);
		if (field.union()) {
			taken.add(name + UNION_TYPE);
		}
		return name;
	}

	/** A name for a method that no other one of its service has. */
	static String methodName(String method, Set<String> taken) {
		String name = identifier(method);
		for (int i = 2; !taken.add(name); i++) {
			name = identifier(method) + i;
		}
		return name;
	}

	/** All that was declared, structs and unions before the tables that use them. */
	String text() {
		return Stream.of(this.structs, this.unions, this.tables)
			.flatMap((declarations) -> declarations.values().stream())
			.collect(Collectors.joining("\n"));
	}

	/**
	 * A field of a table.
	 *
	 * @param name what to call it
	 * @param type its type in the schema language
	 * @param union whether the number of a union's member goes with it
	 * @param nullable whether it is a scalar that may be absent
	 */
	record Field(String name, String type, boolean union, boolean nullable) {

	}

}
