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
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.codec.SegmentOwner;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * The types whose values may hold the memory they were received in, which is given back
 * when they are released: {@link RegisteredBuffer}, any {@link SegmentOwner}, and what
 * contains one. Views of received memory are copies where the values outlive the message.
 */
final class HoldingTypes {

	private static final Logger logger = LoggerFactory.getLogger(HoldingTypes.class);

	/** Those of the components of a record that may hold memory. */
	private static final ClassValue<List<Method>> ACCESSORS = new ClassValue<>() {

		@Override
		protected List<Method> computeValue(Class<?> type) {
			return Arrays.stream(type.getRecordComponents())
				.filter((component) -> include(component.getGenericType()))
				.map(RecordComponent::getAccessor)
				.filter(Method::trySetAccessible)
				.toList();
		}

	};

	private HoldingTypes() {
	}

	/** Gives back all memory that a received value holds, which nobody takes. */
	static void release(@Nullable Object value) {
		if (value instanceof RegisteredBuffer buffer) {
			buffer.release();
		}
		else if (value instanceof SegmentOwner owner) {
			owner.release();
		}
		else if (value instanceof Record) {
			ACCESSORS.get(value.getClass()).forEach((accessor) -> release(component(value, accessor)));
		}
		else if (value instanceof Optional<?> optional) {
			optional.ifPresent(HoldingTypes::release);
		}
		else if (value instanceof Collection<?> values) {
			values.forEach(HoldingTypes::release);
		}
		else if (value instanceof Object[] values) {
			Arrays.stream(values).forEach(HoldingTypes::release);
		}
		else if (value instanceof Map<?, ?> map) {
			release(map.keySet());
			release(map.values());
		}
	}

	private static @Nullable Object component(Object value, Method accessor) {
		try {
			return accessor.invoke(value);
		}
		catch (ReflectiveOperationException ex) {
			logger.warn("{} does not tell what memory it holds, which is not given back", accessor, ex);
			return null;
		}
	}

	/** Whether values of a type may hold memory. */
	static boolean include(Type type) {
		return include(type, new HashSet<>());
	}

	private static boolean include(Type type, Set<Type> above) {
		if (!above.add(type)) {
			return false;
		}
		if (type instanceof ParameterizedType generic) {
			return Stream.concat(Stream.of(generic.getRawType()), Arrays.stream(generic.getActualTypeArguments()))
				.anyMatch((part) -> include(part, above));
		}
		if (type instanceof GenericArrayType array) {
			return include(array.getGenericComponentType(), above);
		}
		if (type instanceof WildcardType wildcard) {
			return Arrays.stream(wildcard.getUpperBounds()).anyMatch((bound) -> include(bound, above));
		}
		return !(type instanceof Class<?> known) || include(known, above);
	}

	private static boolean include(Class<?> type, Set<Type> above) {
		if (type.isArray()) {
			return include((Type) type.getComponentType(), above);
		}
		if (type.isRecord()) {
			return Arrays.stream(type.getRecordComponents())
				.anyMatch((component) -> include(component.getGenericType(), above));
		}
		if (type.isSealed() && Arrays.stream(type.getPermittedSubclasses()).anyMatch((part) -> include(part, above))) {
			return true;
		}
		return type == RegisteredBuffer.class || SegmentOwner.class.isAssignableFrom(type);
	}

}
