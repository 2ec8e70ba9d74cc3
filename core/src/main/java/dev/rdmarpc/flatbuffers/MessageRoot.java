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
import java.lang.invoke.MethodType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MethodSignature;

/**
 * The root table of a method's messages in one direction.
 *
 * @param shape a {@link TableShape} or {@link NestedShape}; null for messages that are
 * empty
 * @param synthesized whether the table was made for the method and is not the only
 * argument, or the result, itself
 */
record MessageRoot(@Nullable Shape shape, boolean synthesized) {

	private static final MethodHandle IDENTITY = MethodHandles.identity(Object.class);

	/** Compiles the root of a method's arguments. */
	static MessageRoot ofArguments(MethodSignature method, ShapeCompiler compiler) {
		List<Shape> parameters = parameters(method, compiler);
		if (parameters.isEmpty()) {
			return new MessageRoot(null, false);
		}
		if (parameters.size() == 1 && isTable(parameters.get(0))) {
			return new MessageRoot(parameters.get(0), false);
		}
		return ofFields(method, parameters);
	}

	/**
	 * Compiles the root that a method's arguments would have if there were more of them:
	 * a table with a field for each.
	 */
	static MessageRoot ofFields(MethodSignature method, ShapeCompiler compiler) {
		return ofFields(method, parameters(method, compiler));
	}

	/** Compiles what a method takes. */
	static List<Shape> parameters(MethodSignature method, ShapeCompiler compiler) {
		List<Shape> parameters = new ArrayList<>();
		for (int i = 0; i < method.parameterTypes().size(); i++) {
			parameters.add(compiler.compile(method.parameterNames().get(i), method.parameterTypes().get(i)));
		}
		return parameters;
	}

	/** The value of a table with one field is that of the field, not a list of one. */
	private static MessageRoot ofFields(MethodSignature method, List<Shape> parameters) {
		if (parameters.size() == 1) {
			return ofField(tableFor(method, "Arguments"), method.parameterNames().get(0),
					method.parameterTypes().get(0), parameters.get(0));
		}
		List<TableShape.Part> parts = new ArrayList<>();
		List<Class<?>> types = new ArrayList<>();
		for (int i = 0; i < parameters.size(); i++) {
			MethodHandle element = MethodHandles.insertArguments(MethodHandles.arrayElementGetter(Object[].class), 1,
					i);
			Class<?> type = primitiveOrObject(method.parameterTypes().get(i));
			parts.add(new TableShape.Part(method.parameterNames().get(i), parameters.get(i),
					element.asType(element.type().changeReturnType(type))));
			types.add(type);
		}
		TableShape table = tableFor(method, "Arguments");
		if (WideTableBody.isNeeded(types)) {
			table.linkWide(parts, (values) -> values);
		}
		else {
			table.link(parts,
					MethodHandles.identity(Object[].class)
						.asCollector(Object[].class, types.size())
						.asType(MethodType.methodType(Object[].class, types)));
		}
		return new MessageRoot(table, true);
	}

	/** Compiles the root of a method's result. */
	static MessageRoot ofResult(MethodSignature method, ShapeCompiler compiler) {
		Shape result = result(method, compiler);
		if (result == null || isTable(result)) {
			return new MessageRoot(result, false);
		}
		return ofField(tableFor(method, "Result"), "value", method.resultType(), result);
	}

	/** Compiles what a method returns, {@code null} for nothing. */
	static @Nullable Shape result(MethodSignature method, ShapeCompiler compiler) {
		Type type = method.resultType();
		return (type != void.class && type != Void.class) ? compiler.compile("result", type) : null;
	}

	private static MessageRoot ofField(TableShape table, String name, Type type, Shape shape) {
		Class<?> value = primitiveOrObject(type);
		MethodHandle accessor = IDENTITY.asType(MethodType.methodType(value, Object.class));
		MethodHandle constructor = IDENTITY.asType(MethodType.methodType(Object.class, value));
		table.link(List.of(new TableShape.Part(name, shape, accessor)), constructor);
		return new MessageRoot(table, true);
	}

	private static boolean isTable(Shape shape) {
		return shape instanceof TableShape || shape instanceof NestedShape;
	}

	private static TableShape tableFor(MethodSignature method, String suffix) {
		String name = method.methodName();
		return new TableShape(method.serviceName() + "." + name + " " + suffix.toLowerCase(Locale.ROOT),
				name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1) + suffix);
	}

	private static Class<?> primitiveOrObject(Type type) {
		return (type instanceof Class<?> raw && raw.isPrimitive()) ? raw : Object.class;
	}

}
