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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

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
	 * @throws InvalidInterfaceException if it is not an interface, has no methods, has
	 * two methods of the same name, or one with settings that it cannot have
	 * @throws UnsupportedTypeException if a parameter or result has no message form
	 */
	public static ServiceDescriptor of(Class<?> type, MessageCodec codec) {
		return of(type.getName(), type, codec);
	}

	/** Compiles an interface under a name. */
	public static ServiceDescriptor of(String name, Class<?> type, MessageCodec codec) {
		if (!type.isInterface()) {
			throw new InvalidInterfaceException(type.getName() + " is no interface",
					"name the interface that client and server share");
		}
		BoundTypes types = new BoundTypes(type);
		List<Method> found = new ArrayList<>(callable(type, types).keySet());
		found.sort(Comparator.comparing(MethodDescriptor::nameOf));
		if (found.isEmpty()) {
			throw new InvalidInterfaceException(type.getName() + " has no methods to call",
					"declare abstract methods, or name another interface");
		}
		Map<String, Method> names = new HashMap<>();
		List<MethodDescriptor> methods = new ArrayList<>();
		for (Method method : found) {
			Method other = names.put(MethodDescriptor.nameOf(method), method);
			if (other != null) {
				throw new InvalidInterfaceException(
						type.getName() + " has two methods named '" + MethodDescriptor.nameOf(method) + "'",
						"tell them apart with @RdmaMethod(name = …)");
			}
			methods.add(new MethodDescriptor(name, method, types, codec));
		}
		return new ServiceDescriptor(name, type, List.copyOf(methods));
	}

	/**
	 * The methods to call, each with itself and those that it overrides: an interface
	 * that binds the type variables of another one can declare its methods again.
	 */
	private static Map<Method, List<Method>> callable(Class<?> type, BoundTypes types) {
		Map<Method, List<Method>> callable = new LinkedHashMap<>();
		for (Method method : type.getMethods()) {
			if (!Modifier.isAbstract(method.getModifiers()) || isOfObject(method)) {
				continue;
			}
			Method same = callable.keySet()
				.stream()
				.filter((other) -> other.getName().equals(method.getName())
						&& types.resolve(other.getGenericParameterTypes())
							.equals(types.resolve(method.getGenericParameterTypes())))
				.findFirst()
				.orElse(null);
			List<Method> all = (same != null) ? callable.get(same) : null;
			if (same == null || all == null) {
				callable.put(method, new ArrayList<>(List.of(method)));
				continue;
			}
			all.add(method);
			if (same.getDeclaringClass().isAssignableFrom(method.getDeclaringClass())) {
				callable.remove(same);
				callable.put(method, all);
			}
		}
		return callable;
	}

	/**
	 * The schema of the messages of all methods, which the codec prints. Messages that
	 * follow a request appear as the result of a method {@code name(parameter)}.
	 * @return the text, or {@code null} if the codec prints none
	 */
	public @Nullable String printedSchema() {
		MessageCodec codec = this.methods.get(0).codec();
		return codec.schema(this.name,
				this.methods.stream().flatMap((method) -> method.signatures().stream()).toList());
	}

	/** All methods by which clients call the service, with what they call. */
	Map<Method, MethodDescriptor> methodsByJava() {
		Map<Method, MethodDescriptor> all = new HashMap<>();
		Map<Method, List<Method>> callable = callable(this.type, new BoundTypes(this.type));
		for (MethodDescriptor method : this.methods) {
			callable.getOrDefault(method.javaMethod(), List.of(method.javaMethod()))
				.forEach((each) -> all.put(each, method));
		}
		return all;
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
