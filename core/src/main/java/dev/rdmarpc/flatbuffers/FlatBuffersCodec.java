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
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MethodSignature;

/**
 * FlatBuffers messages from plain Java types.
 *
 * <p>
 * A single parameter, or result, that is a record is the root table of its message. Any
 * other parameters become the fields of a table made for the method, any other result the
 * field {@code value} of a table. A method without parameters and a {@code void} result
 * have empty messages; a null root is an empty message, too. A class that {@code flatc}
 * generated counts as a record: its own buffer is the message.
 */
public final class FlatBuffersCodec implements MessageCodec {

	private static final MethodHandle IDENTITY = MethodHandles.identity(Object.class);

	private final FlatBuffersOptions options;

	private final MessageReaders readers;

	private Map<ResolvedType, Shape> shapes = Map.of();

	/** Creates a codec with default options. */
	public FlatBuffersCodec() {
		this(FlatBuffersOptions.defaults());
	}

	/** Creates a codec. */
	public FlatBuffersCodec(FlatBuffersOptions options) {
		this.options = options;
		this.readers = new MessageReaders(options);
	}

	@Override
	public String name() {
		return "flatbuffers";
	}

	@Override
	public synchronized MessageFormat<@Nullable Object[]> arguments(MethodSignature method) {
		ShapeCompiler compiler = new ShapeCompiler(method, this.shapes);
		List<Shape> parameters = new ArrayList<>();
		for (int i = 0; i < method.parameterTypes().size(); i++) {
			parameters.add(compiler.compile(method.parameterNames().get(i), method.parameterTypes().get(i)));
		}
		this.shapes = compiler.shapes();
		if (parameters.isEmpty()) {
			return new EmptyFormat.Arguments();
		}
		if (parameters.size() == 1 && parameters.get(0) instanceof TableShape root) {
			return new TableFormat.RootArgument(root, this.options, this.readers);
		}
		if (parameters.size() == 1 && parameters.get(0) instanceof GeneratedTableShape root) {
			return new GeneratedTableFormat.Argument(root);
		}
		return new TableFormat.Arguments(argumentTable(method, parameters), this.options, this.readers);
	}

	private static TableShape argumentTable(MethodSignature method, List<Shape> parameters) {
		List<TableShape.Part> parts = new ArrayList<>();
		MethodHandle constructor = MethodHandles.identity(Object[].class)
			.asCollector(Object[].class, parameters.size());
		for (int i = 0; i < parameters.size(); i++) {
			MethodHandle element = MethodHandles.insertArguments(MethodHandles.arrayElementGetter(Object[].class), 1,
					i);
			Class<?> type = primitiveOrObject(method.parameterTypes().get(i));
			parts.add(new TableShape.Part(method.parameterNames().get(i), parameters.get(i),
					element.asType(element.type().changeReturnType(type))));
			constructor = constructor.asType(constructor.type().changeParameterType(i, type));
		}
		TableShape table = tableFor(method, "Arguments");
		table.link(parts, constructor);
		return table;
	}

	@Override
	public synchronized MessageFormat<@Nullable Object> result(MethodSignature method) {
		Type type = method.resultType();
		if (type == void.class || type == Void.class) {
			return new EmptyFormat.Result();
		}
		ShapeCompiler compiler = new ShapeCompiler(method, this.shapes);
		Shape result = compiler.compile("result", type);
		this.shapes = compiler.shapes();
		if (result instanceof TableShape root) {
			return new TableFormat.RootResult(root, this.options, this.readers);
		}
		if (result instanceof GeneratedTableShape root) {
			return new GeneratedTableFormat.Result(root);
		}
		MethodType identity = MethodType.methodType(primitiveOrObject(type), Object.class);
		TableShape table = tableFor(method, "Result");
		table.link(List.of(new TableShape.Part("value", result, IDENTITY.asType(identity))),
				IDENTITY.asType(MethodType.methodType(Object.class, identity.returnType())));
		return new TableFormat.WrappedResult(table, this.options, this.readers);
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
