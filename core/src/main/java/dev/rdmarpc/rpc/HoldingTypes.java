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
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

import dev.rdmarpc.codec.SegmentOwner;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * The types whose values may hold the memory they were received in, which is given back
 * when they are released: {@link RegisteredBuffer}, any {@link SegmentOwner}, and what
 * contains one. Views of received memory are copies where the values outlive the message.
 */
final class HoldingTypes {

	private HoldingTypes() {
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
