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

import java.lang.reflect.Type;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.UnsupportedTypeException;

/**
 * Schemas in the FlatBuffers language for what {@link FlatBuffersCodec} puts on the wire,
 * from which {@code flatc} generates code for callers in other languages.
 */
public final class FlatBuffersSchema {

	private static final String NO_CONTENT = "NoContent";

	private static final String ANY_CONTENT = "AnyContent";

	private FlatBuffersSchema() {
	}

	/**
	 * The schema of a record.
	 * @param type the record, with type arguments if it has any
	 * @return schema text with the record's table as its root type
	 * @throws UnsupportedTypeException if the type is no table or has parts without
	 * message form
	 */
	public static String ofRecord(Type type) {
		MethodSignature method = new MethodSignature("schema", "ofRecord", List.of(), List.of(), type);
		Shape shape = new ShapeCompiler(method, Map.of()).compile("type", type);
		if (!(shape instanceof TableShape table)) {
			throw new UnsupportedTypeException("schema", "ofRecord", "type", type.getTypeName(), "expected: a record");
		}
		SchemaWriter schema = new SchemaWriter();
		String name = table.schemaType(schema);
		return schema.text() + "\nroot_type " + name + ";\n";
	}

	/**
	 * The schema of a table type.
	 * @return schema text with the type as its root type
	 */
	public static String ofTable(TableType type) {
		type.layout();
		SchemaWriter schema = new SchemaWriter();
		String name = type.shape().schemaType(schema);
		return schema.text() + "\nroot_type " + name + ";\n";
	}

	/**
	 * The schema of a service. Empty messages, for no arguments and no result, appear as
	 * the table {@code NoContent}: nothing needs to be sent for them. Messages whose type
	 * is not known appear as the table {@code AnyContent}.
	 * @param name name of the service
	 * @param methods its methods
	 * @return schema text with all tables and an {@code rpc_service}
	 * @throws UnsupportedTypeException if a type has no message form
	 */
	public static String ofService(String name, List<MethodSignature> methods) {
		SchemaWriter schema = new SchemaWriter();
		StringBuilder calls = new StringBuilder();
		Set<String> taken = new HashSet<>();
		Map<ResolvedType, Shape> known = Map.of();
		for (MethodSignature method : methods) {
			ShapeCompiler compiler = new ShapeCompiler(method, known);
			calls.append("  ")
				.append(SchemaWriter.methodName(method.methodName(), taken))
				.append('(')
				.append(root(schema, MessageRoot.ofArguments(method, compiler).shape()))
				.append("):")
				.append(root(schema, MessageRoot.ofResult(method, compiler).shape()))
				.append(";\n");
			known = compiler.shapes();
		}
		return schema.text() + "\nrpc_service " + SchemaWriter.identifier(name) + " {\n" + calls + "}\n";
	}

	private static String root(SchemaWriter schema, @Nullable Shape shape) {
		if (shape instanceof TableShape table) {
			return table.schemaType(schema);
		}
		if (shape instanceof MessageShape) {
			return schema.empty(ANY_CONTENT);
		}
		return (shape instanceof GeneratedTableShape generated) ? schema.external(generated.name())
				: schema.empty(NO_CONTENT);
	}

}
