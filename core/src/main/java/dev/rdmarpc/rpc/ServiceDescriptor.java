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
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.UnsupportedTypeException;

/**
 * A service interface, compiled once: all its abstract methods. Default and static
 * methods run locally at the caller.
 *
 * @param name the service's name on the wire
 * @param type the interface
 * @param methods its methods by name
 */
public record ServiceDescriptor(String name, Class<?> type, List<MethodDescriptor> methods) {

	/**
	 * Compiles an interface under its fully qualified name.
	 * @throws IllegalArgumentException if it is not an interface, has no methods, or has
	 * two methods of the same name
	 * @throws UnsupportedTypeException if a parameter or result has no message form
	 */
	public static ServiceDescriptor of(Class<?> type, MessageCodec codec) {
		return of(type.getName(), type, codec);
	}

	/** Compiles an interface under a name. */
	public static ServiceDescriptor of(String name, Class<?> type, MessageCodec codec) {
		if (!type.isInterface()) {
			throw new IllegalArgumentException(type.getName() + " (expected: an interface)");
		}
		List<Method> found = new ArrayList<>();
		for (Method method : type.getMethods()) {
			if (Modifier.isAbstract(method.getModifiers()) && !isOfObject(method)) {
				found.add(method);
			}
		}
		found.sort(Comparator.comparing(MethodDescriptor::nameOf));
		if (found.isEmpty()) {
			throw new IllegalArgumentException(type.getName() + " has no methods to call");
		}
		Map<String, Method> names = new HashMap<>();
		List<MethodDescriptor> methods = new ArrayList<>();
		for (Method method : found) {
			Method other = names.put(MethodDescriptor.nameOf(method), method);
			if (other != null) {
				throw new IllegalArgumentException(type.getName() + " has two methods named '"
						+ MethodDescriptor.nameOf(method) + "': tell them apart with @RdmaMethod(name = …)");
			}
			methods.add(new MethodDescriptor(name, method, codec));
		}
		return new ServiceDescriptor(name, type, List.copyOf(methods));
	}

	private static boolean isOfObject(Method method) {
		try {
			Object.class.getMethod(method.getName(), method.getParameterTypes());
			return true;
		}
		catch (NoSuchMethodException ex) {
			return false;
		}
	}

}
