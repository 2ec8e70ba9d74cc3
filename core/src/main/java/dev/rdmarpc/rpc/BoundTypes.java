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

package dev.rdmarpc.rpc;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * What the type variables of the interfaces that a service extends stand for in the
 * service: after {@code interface Things extends Crud<Thing, String>} the first one of
 * {@code Crud} is {@code Thing}. Those that stand for nothing are left as they are.
 */
final class BoundTypes {

	private final Map<TypeVariable<?>, Type> bound = new HashMap<>();

	BoundTypes(Class<?> service) {
		collect(service);
	}

	private void collect(Class<?> type) {
		for (Type above : type.getGenericInterfaces()) {
			if (above instanceof ParameterizedType generic) {
				Class<?> raw = (Class<?>) generic.getRawType();
				for (int i = 0; i < raw.getTypeParameters().length; i++) {
					this.bound.put(raw.getTypeParameters()[i], resolve(generic.getActualTypeArguments()[i]));
				}
				collect(raw);
			}
			else if (above instanceof Class<?> raw) {
				collect(raw);
			}
		}
	}

	/** The types with the variables replaced by what they stand for. */
	List<Type> resolve(Type[] types) {
		return Arrays.stream(types).map(this::resolve).toList();
	}

	/** A type with its variables replaced by what they stand for. */
	Type resolve(Type type) {
		if (this.bound.isEmpty() || type instanceof Class<?>) {
			return type;
		}
		if (type instanceof TypeVariable<?> variable) {
			return this.bound.getOrDefault(variable, variable);
		}
		if (type instanceof GenericArrayType array) {
			Type component = resolve(array.getGenericComponentType());
			return (component instanceof Class<?> raw) ? raw.arrayType() : new Array(component);
		}
		if (type instanceof ParameterizedType generic) {
			return new Parameterized(generic.getRawType(), generic.getOwnerType(),
					resolve(generic.getActualTypeArguments()));
		}
		if (type instanceof WildcardType wildcard) {
			return new Wildcard(resolve(wildcard.getUpperBounds()), resolve(wildcard.getLowerBounds()));
		}
		return type;
	}

	/** An array whose component type was replaced. */
	private record Array(Type component) implements GenericArrayType {

		@Override
		public Type getGenericComponentType() {
			return this.component;
		}

		@Override
		public String toString() {
			return this.component.getTypeName() + "[]";
		}

	}

	/** A generic type whose arguments were replaced. */
	private record Parameterized(Type raw, @Nullable Type owner, List<Type> arguments) implements ParameterizedType {

		@Override
		public Type[] getActualTypeArguments() {
			return this.arguments.toArray(Type[]::new);
		}

		@Override
		public Type getRawType() {
			return this.raw;
		}

		@Override
		public @Nullable Type getOwnerType() {
			return this.owner;
		}

		@Override
		public String toString() {
			return this.raw.getTypeName()
					+ this.arguments.stream().map(Type::getTypeName).collect(Collectors.joining(", ", "<", ">"));
		}

	}

	/** A wildcard whose bounds were replaced. */
	private record Wildcard(List<Type> upper, List<Type> lower) implements WildcardType {

		@Override
		public Type[] getUpperBounds() {
			return this.upper.toArray(Type[]::new);
		}

		@Override
		public Type[] getLowerBounds() {
			return this.lower.toArray(Type[]::new);
		}

	}

}
