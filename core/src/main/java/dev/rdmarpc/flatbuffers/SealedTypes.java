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

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import dev.rdmarpc.flatbuffers.ResolvedType.UnresolvableTypeException;

/** Finds what a sealed interface permits, with type arguments. */
final class SealedTypes {

	private SealedTypes() {
	}

	/**
	 * The members in the order of {@code permits}: records and sealed interfaces.
	 * @param sealed the sealed interface
	 * @throws UnresolvableTypeException if there are members of other kinds, or with type
	 * arguments that the interface's do not determine
	 */
	static List<ResolvedType> members(ResolvedType sealed) throws UnresolvableTypeException {
		List<ResolvedType> members = new ArrayList<>();
		for (Class<?> permitted : sealed.raw().getPermittedSubclasses()) {
			if (!permitted.isRecord() && !isSealed(permitted)) {
				throw new UnresolvableTypeException(
						"it permits " + permitted.getTypeName() + ", which is neither a record nor a sealed interface");
			}
			members.add(member(sealed, permitted));
		}
		return members;
	}

	/** Whether a class is a sealed interface. */
	static boolean isSealed(Class<?> type) {
		return type.isInterface() && type.isSealed();
	}

	/** The records of a member: itself, or those that it permits. */
	static Stream<Class<?>> records(Class<?> member) {
		return isSealed(member) ? Stream.of(member.getPermittedSubclasses()).flatMap(SealedTypes::records)
				: Stream.of(member);
	}

	private static ResolvedType member(ResolvedType sealed, Class<?> permitted) throws UnresolvableTypeException {
		Map<TypeVariable<?>, ResolvedType> bindings = new HashMap<>();
		for (Type parent : permitted.getGenericInterfaces()) {
			if (parent instanceof ParameterizedType parameterized && parameterized.getRawType() == sealed.raw()) {
				Type[] arguments = parameterized.getActualTypeArguments();
				for (int i = 0; i < arguments.length; i++) {
					if (arguments[i] instanceof TypeVariable<?> variable) {
						bindings.put(variable, sealed.argument(i));
					}
				}
			}
		}
		List<ResolvedType> arguments = new ArrayList<>();
		for (TypeVariable<?> parameter : permitted.getTypeParameters()) {
			ResolvedType argument = bindings.get(parameter);
			if (argument == null) {
				throw new UnresolvableTypeException("the type argument " + parameter + " of its member "
						+ permitted.getTypeName() + " is not determined");
			}
			arguments.add(argument);
		}
		return new ResolvedType(permitted, arguments);
	}

}
