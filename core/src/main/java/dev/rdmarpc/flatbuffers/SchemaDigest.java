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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MethodSignature;

/**
 * Writes what decides whether two peers understand the messages of a method, and nothing
 * else: no names, and each table once. {@link SchemaDifference} reads it.
 * <pre>(string, t0) -> int; t0 {long, [string], u1}; u1 {t2, t3}; t2 {}; t3 {any}</pre>
 *
 * <p>
 * Tables and unions are numbered in the order in which they are reached. {@code any} is a
 * table whose fields are not known.
 */
final class SchemaDigest extends SchemaWriter {

	/** A table of which nothing is known. */
	static final String ANY = "any";

	/** No message. */
	static final String NOTHING = "void";

	private final Map<Object, String> names = new HashMap<>();

	private final Map<String, String> declarations = new LinkedHashMap<>();

	/** The digest of a method, the roots of which are compiled already. */
	static String of(MethodSignature method, ShapeCompiler compiler) {
		SchemaDigest digest = new SchemaDigest();
		List<Shape> parameters = MessageRoot.parameters(method, compiler);
		String arguments = (parameters.size() == 1) ? digest.root(parameters.get(0))
				: parameters.stream().map((shape) -> shape.schemaType(digest)).collect(Collectors.joining(", "));
		Shape result = MessageRoot.result(method, compiler);
		String text = "(" + arguments + ") -> " + ((result != null) ? digest.root(result) : NOTHING);
		return Stream
			.concat(Stream.of(text),
					digest.declarations.entrySet()
						.stream()
						.map((declaration) -> declaration.getKey() + " {" + declaration.getValue() + "}"))
			.collect(Collectors.joining("; "));
	}

	/** A message that is read without its type being known may be any table. */
	private String root(Shape shape) {
		return (shape instanceof NestedShape) ? ANY : shape.schemaType(this);
	}

	@Override
	String table(Object key, String wanted, Supplier<List<Field>> fields) {
		return declare("t", key, () -> fields.get().stream().map(Field::type));
	}

	@Override
	String union(Object key, String wanted, Supplier<Stream<String>> members) {
		return declare("u", key, members);
	}

	/** A struct has its name from a type of the Java class library. */
	@Override
	String struct(String wanted, String fields) {
		return wanted;
	}

	private String declare(String kind, Object key, Supplier<Stream<String>> parts) {
		@Nullable String known = this.names.get(key);
		if (known != null) {
			return known;
		}
		String name = kind + this.names.size();
		this.names.put(key, name);
		this.declarations.put(name, "");
		this.declarations.put(name, parts.get().collect(Collectors.joining(", ")));
		return name;
	}

}
