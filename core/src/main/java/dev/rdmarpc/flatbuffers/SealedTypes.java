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

import dev.rdmarpc.flatbuffers.ResolvedType.UnresolvableTypeException;

/** Finds the records that a sealed interface permits, with their type arguments. */
final class SealedTypes {

	private SealedTypes() {
	}

	/**
	 * Collects the members in the order of {@code permits}, those of nested sealed
	 * interfaces in the place of these.
	 * @param sealed the sealed interface
	 * @param members takes them
	 * @throws UnresolvableTypeException if there are members of other kinds, or with type
	 * arguments that the interface's do not determine
	 */
	static void collectMembers(ResolvedType sealed, List<ResolvedType> members) throws UnresolvableTypeException {
		for (Class<?> permitted : sealed.raw().getPermittedSubclasses()) {
			if (permitted.isRecord()) {
				ResolvedType member = member(sealed, permitted);
				if (!members.contains(member)) {
					members.add(member);
				}
			}
			else if (permitted.isInterface() && permitted.isSealed()) {
				collectMembers(member(sealed, permitted), members);
			}
			else {
				throw new UnresolvableTypeException(
						"it permits " + permitted.getTypeName() + ", which is neither a record nor a sealed interface");
			}
		}
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
