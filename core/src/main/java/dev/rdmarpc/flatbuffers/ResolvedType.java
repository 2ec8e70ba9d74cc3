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

import java.lang.reflect.Array;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A type without variables and wildcards.
 *
 * @param raw its class
 * @param arguments its type arguments; of an array its element type
 */
record ResolvedType(Class<?> raw, List<ResolvedType> arguments) {

	/** Copies the list. */
	ResolvedType {
		arguments = List.copyOf(arguments);
	}

	/** A class without type parameters. */
	static ResolvedType of(Class<?> type) {
		return new ResolvedType(type, List.of());
	}

	/**
	 * Resolves a type.
	 * @param variables what type variables stand for
	 * @throws UnresolvableTypeException if it is raw or has variables or wildcards that
	 * stand for nothing
	 */
	static ResolvedType resolve(Type type, Map<TypeVariable<?>, ResolvedType> variables)
			throws UnresolvableTypeException {
		if (type instanceof Class<?> raw) {
			if (raw.isArray()) {
				return new ResolvedType(raw, List.of(resolve(raw.getComponentType(), variables)));
			}
			if (raw.getTypeParameters().length > 0) {
				throw new UnresolvableTypeException("it is a raw type; give its type arguments");
			}
			return of(raw);
		}
		if (type instanceof ParameterizedType parameterized) {
			List<ResolvedType> arguments = new ArrayList<>();
			for (Type argument : parameterized.getActualTypeArguments()) {
				arguments.add(resolve(argument, variables));
			}
			return new ResolvedType((Class<?>) parameterized.getRawType(), arguments);
		}
		if (type instanceof GenericArrayType array) {
			ResolvedType component = resolve(array.getGenericComponentType(), variables);
			return new ResolvedType(Array.newInstance(component.raw(), 0).getClass(), List.of(component));
		}
		if (type instanceof WildcardType wildcard) {
			if (wildcard.getLowerBounds().length > 0 || wildcard.getUpperBounds()[0] == Object.class) {
				throw new UnresolvableTypeException("a wildcard needs an upper bound");
			}
			return resolve(wildcard.getUpperBounds()[0], variables);
		}
		ResolvedType bound = (type instanceof TypeVariable<?> variable) ? variables.get(variable) : null;
		if (bound == null) {
			throw new UnresolvableTypeException("the type variable stands for no type here");
		}
		return bound;
	}

	/** What this type's variables stand for. */
	Map<TypeVariable<?>, ResolvedType> variables() {
		Map<TypeVariable<?>, ResolvedType> variables = new HashMap<>();
		TypeVariable<?>[] parameters = this.raw.getTypeParameters();
		for (int i = 0; i < parameters.length; i++) {
			variables.put(parameters[i], this.arguments.get(i));
		}
		return variables;
	}

	/** The type argument with that number. */
	ResolvedType argument(int index) {
		return this.arguments.get(index);
	}

	/** How deep type arguments are nested. */
	int depth() {
		int deepest = 0;
		for (ResolvedType argument : this.arguments) {
			deepest = Math.max(deepest, argument.depth());
		}
		return deepest + 1;
	}

	/** A name for it in the FlatBuffers schema language. */
	String schemaName() {
		if (this.raw.isArray()) {
			return this.arguments.get(0).schemaName() + "Array";
		}
		StringBuilder name = new StringBuilder(this.raw.getSimpleName());
		this.arguments.forEach((argument) -> name.append('_').append(argument.schemaName()));
		return name.toString();
	}

	@Override
	public String toString() {
		if (this.raw.isArray()) {
			return this.arguments.get(0) + "[]";
		}
		String name = this.raw.getTypeName();
		return this.arguments.isEmpty() ? name : name
				+ this.arguments.stream().map(ResolvedType::toString).collect(Collectors.joining(", ", "<", ">"));
	}

	/** A type that stands for no single type. */
	static final class UnresolvableTypeException extends Exception {

		UnresolvableTypeException(String reason) {
			super(reason);
		}

	}

}
