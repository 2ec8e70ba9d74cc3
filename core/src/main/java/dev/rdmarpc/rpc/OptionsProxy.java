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

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/** Calls an object, whatever it is, with options for the calls that it makes. */
final class OptionsProxy implements InvocationHandler {

	private final Object target;

	private final CallOptions options;

	private OptionsProxy(Object target, CallOptions options) {
		this.target = target;
		this.options = options;
	}

	static Object around(Object target, CallOptions options) {
		Class<?> type = target.getClass();
		if (Proxy.isProxyClass(type) && Proxy.getInvocationHandler(target) instanceof OptionsProxy other) {
			return around(other.target, options);
		}
		Set<Class<?>> interfaces = new LinkedHashSet<>();
		for (Class<?> current = type; current != null; current = current.getSuperclass()) {
			interfaces.addAll(Set.of(current.getInterfaces()));
		}
		if (interfaces.isEmpty()) {
			throw new IllegalArgumentException(
					type.getName() + " implements no interface (expected: a client, or what stands in its place)");
		}
		return Proxy.newProxyInstance(type.getClassLoader(), interfaces.toArray(Class<?>[]::new),
				new OptionsProxy(target, options));
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
			throws Throwable {
		if (method.getName().equals("equals") && method.getDeclaringClass() == Object.class) {
			return arguments != null && proxy == arguments[0];
		}
		method.setAccessible(true);
		CallOptions outer = OptionsScope.enter(this.options);
		try {
			return method.invoke(this.target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
		finally {
			OptionsScope.leave(outer);
		}
	}

}
