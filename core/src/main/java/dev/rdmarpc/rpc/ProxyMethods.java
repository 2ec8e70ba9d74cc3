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

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * The methods of a service by the {@link Method} objects that proxies are called with.
 *
 * <p>
 * Implementation notes. A proxy class has {@code Method} objects of its own, which equal
 * those of the service but hash the names of class and method at each look-up: 5 % of
 * what an asynchronous call costs its caller. So the first object of each slot is
 * remembered and recognized by identity; others are looked up by equality. Entries are
 * immutable and any of them is right, so threads write them without an order.
 */
final class ProxyMethods {

	private final Map<Method, MethodDescriptor> methods;

	private final @Nullable Entry[] seen;

	/** Of methods that have a body and that only their package sees. */
	private final Map<Method, MethodHandle> bodies = new ConcurrentHashMap<>();

	ProxyMethods(Map<Method, MethodDescriptor> all) {
		this.methods = all;
		this.seen = new Entry[Integer.highestOneBit(Math.max(1, all.size())) << 2];
	}

	/** The method, or {@code null} if it is none of the service. */
	@SuppressWarnings("ReferenceEquality") // equal ones are looked up
	@Nullable MethodDescriptor find(Method method) {
		int slot = System.identityHashCode(method) & (this.seen.length - 1);
		Entry entry = this.seen[slot];
		if (entry != null && entry.method() == method) {
			return entry.descriptor();
		}
		MethodDescriptor descriptor = this.methods.get(method);
		if (entry == null && descriptor != null) {
			this.seen[slot] = new Entry(method, descriptor);
		}
		return descriptor;
	}

	/**
	 * The body of a default method of an interface that is not public, which a proxy runs
	 * as if it had inherited it.
	 * @throws IllegalAccessException if its module does not let it be run from here
	 */
	MethodHandle bodyOf(Method method) throws IllegalAccessException {
		MethodHandle body = this.bodies.get(method);
		if (body == null) {
			Class<?> declaring = method.getDeclaringClass();
			body = MethodHandles.privateLookupIn(declaring, MethodHandles.lookup()).unreflectSpecial(method, declaring);
			this.bodies.put(method, body);
		}
		return body;
	}

	/** One that was looked up before. */
	private record Entry(Method method, MethodDescriptor descriptor) {

	}

}
