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
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.UnsupportedTypeException;
import dev.rdmarpc.flatbuffers.ResolvedType.UnresolvableTypeException;

/**
 * Compiles the types of one method's signature into shapes.
 *
 * <p>
 * Not thread-safe.
 */
final class ShapeCompiler {

	private static final int MAX_COMPONENTS = 240;

	private static final int MAX_TYPE_DEPTH = 16;

	private final MethodSignature method;

	private final Map<ResolvedType, Shape> shapes;

	private final Deque<String> path = new ArrayDeque<>();

	/**
	 * Creates a compiler.
	 * @param method the method, for messages to people
	 * @param known shapes compiled before; left alone
	 */
	ShapeCompiler(MethodSignature method, Map<ResolvedType, Shape> known) {
		this.method = method;
		this.shapes = new HashMap<>(known);
	}

	/** All shapes known now. */
	Map<ResolvedType, Shape> shapes() {
		return this.shapes;
	}

	/**
	 * Compiles a type.
	 * @param name where it is
	 * @throws UnsupportedTypeException if it has no shape
	 */
	Shape compile(String name, Type type) {
		return compile(name, type, Map.of());
	}

	private Shape compile(String name, Type type, Map<TypeVariable<?>, ResolvedType> variables) {
		this.path.addLast(name);
		ResolvedType resolved;
		try {
			resolved = ResolvedType.resolve(type, variables);
		}
		catch (UnresolvableTypeException ex) {
			throw unsupported(type.getTypeName(), String.valueOf(ex.getMessage()));
		}
		Shape shape = compile(resolved);
		this.path.removeLast();
		return shape;
	}

	private Shape compile(ResolvedType type) {
		Shape known = this.shapes.get(type);
		if (known != null) {
			return known;
		}
		if (type.depth() > MAX_TYPE_DEPTH) {
			throw unsupported(type.toString(), "type arguments are nested too deep");
		}
		Class<?> raw = type.raw();
		if (raw.isRecord()) {
			return compileRecord(type);
		}
		Shape shape = compileSimple(raw);
		if (shape == null) {
			throw unsupported(type.toString(), "use a record");
		}
		this.shapes.put(type, shape);
		return shape;
	}

	private @Nullable Shape compileSimple(Class<?> raw) {
		for (ScalarKind kind : ScalarKind.values()) {
			if (raw == kind.primitive() || raw == kind.box()) {
				return new ScalarShape(kind);
			}
		}
		if (raw == String.class) {
			return new StringShape();
		}
		if (raw == byte[].class) {
			return new BytesShape(false);
		}
		if (raw == ByteBuffer.class) {
			return new BytesShape(true);
		}
		return null;
	}

	private Shape compileRecord(ResolvedType type) {
		Class<?> raw = type.raw();
		RecordComponent[] components = raw.getRecordComponents();
		if (components.length > MAX_COMPONENTS) {
			throw unsupported(type.toString(), "it has more than " + MAX_COMPONENTS + " components");
		}
		TableShape table = new TableShape(type.toString());
		this.shapes.put(type, table);
		List<TableShape.Part> parts = new ArrayList<>();
		List<Class<?>> types = new ArrayList<>();
		MethodHandles.Lookup lookup = lookup(type);
		for (RecordComponent component : components) {
			Shape shape = compile(component.getName(), component.getGenericType(), type.variables());
			parts.add(new TableShape.Part(component.getName(), shape, accessor(lookup, type, component)));
			types.add(component.getType());
		}
		table.link(parts, constructor(lookup, type, types));
		return table;
	}

	private MethodHandles.Lookup lookup(ResolvedType type) {
		try {
			return MethodHandles.privateLookupIn(type.raw(), MethodHandles.lookup());
		}
		catch (IllegalAccessException ex) {
			return MethodHandles.publicLookup();
		}
	}

	private MethodHandle accessor(MethodHandles.Lookup lookup, ResolvedType type, RecordComponent component) {
		try {
			return lookup.unreflect(component.getAccessor());
		}
		catch (IllegalAccessException ex) {
			throw inaccessible(type);
		}
	}

	private MethodHandle constructor(MethodHandles.Lookup lookup, ResolvedType type, List<Class<?>> types) {
		try {
			return lookup.findConstructor(type.raw(), MethodType.methodType(void.class, types));
		}
		catch (NoSuchMethodException | IllegalAccessException ex) {
			throw inaccessible(type);
		}
	}

	private UnsupportedTypeException inaccessible(ResolvedType type) {
		Class<?> raw = type.raw();
		return unsupported(type.toString(),
				"the record is not accessible; open it with 'opens " + raw.getPackageName() + " to "
						+ moduleName(ShapeCompiler.class.getModule()) + "' in the module "
						+ moduleName(raw.getModule()));
	}

	private static String moduleName(Module module) {
		return module.isNamed() ? module.getName() : "ALL-UNNAMED";
	}

	private UnsupportedTypeException unsupported(String type, String reason) {
		return new UnsupportedTypeException(this.method.serviceName(), this.method.methodName(),
				String.join(".", this.path), type, reason);
	}

}
