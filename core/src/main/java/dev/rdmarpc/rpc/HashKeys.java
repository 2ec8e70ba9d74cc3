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

import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Set;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.balancing.LoadBalancer;

/**
 * The keys by which calls go to the same address. A value has the same key in all
 * processes, so that all clients agree.
 */
final class HashKeys {

	private static final Set<Class<?>> TYPES = Set.of(String.class, UUID.class, byte[].class, Boolean.class, Byte.class,
			Short.class, Character.class, Integer.class, Long.class, Float.class, Double.class);

	private HashKeys() {
	}

	/**
	 * The parameter whose argument is the key; negative for none.
	 * @param what the method, for messages
	 * @throws IllegalArgumentException if there are two, or it is of a type without keys
	 */
	static int parameterOf(Method method, String what) {
		int found = -1;
		Parameter[] parameters = method.getParameters();
		for (int i = 0; i < parameters.length; i++) {
			if (!parameters[i].isAnnotationPresent(RdmaHashKey.class)) {
				continue;
			}
			Class<?> type = parameters[i].getType();
			if (found >= 0) {
				throw new IllegalArgumentException(
						what + " has two parameters with @RdmaHashKey (expected: at most one)");
			}
			if (!type.isPrimitive() && !type.isEnum() && !TYPES.contains(type)) {
				throw new IllegalArgumentException(what + " has @RdmaHashKey on a parameter of type " + type.getName()
						+ " (expected: String, UUID, an enum, byte[], a primitive or its box)");
			}
			found = i;
		}
		return found;
	}

	/** The key of a call, or {@link LoadBalancer#NO_KEY}. */
	static long of(MethodDescriptor method, @Nullable Object[] arguments, CallOptions options) {
		String own = options.hashKey();
		if (own != null) {
			return of(own);
		}
		int parameter = method.hashParameter();
		Object value = (parameter >= 0) ? arguments[parameter] : null;
		return (value != null) ? of(value) : LoadBalancer.NO_KEY;
	}

	private static long of(Object value) {
		long hash = hash(value);
		return (hash != LoadBalancer.NO_KEY) ? hash : 1;
	}

	private static long hash(Object value) {
		if (value instanceof CharSequence text) {
			return hash(text);
		}
		if (value instanceof UUID uuid) {
			return uuid.getMostSignificantBits() * 31 + uuid.getLeastSignificantBits();
		}
		if (value instanceof Enum<?> constant) {
			return hash(constant.name());
		}
		if (value instanceof byte[] bytes) {
			long hash = bytes.length;
			for (byte each : bytes) {
				hash = 31 * hash + each;
			}
			return hash;
		}
		return (value instanceof Long number) ? number : value.hashCode();
	}

	private static long hash(CharSequence text) {
		long hash = text.length();
		for (int i = 0; i < text.length(); i++) {
			hash = 31 * hash + text.charAt(i);
		}
		return hash;
	}

}
