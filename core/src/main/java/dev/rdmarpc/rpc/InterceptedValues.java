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

import java.lang.invoke.MethodType;
import java.util.List;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/** Checks what interceptors put in place of arguments and results. */
final class InterceptedValues {

	private InterceptedValues() {
	}

	/**
	 * Checks arguments.
	 * @throws IllegalArgumentException if the method cannot be called with them
	 */
	static void checkArguments(MethodDescriptor method, List<@Nullable Object> arguments) {
		Class<?>[] types = method.javaMethod().getParameterTypes();
		if (arguments.size() != types.length) {
			throw new IllegalArgumentException(
					arguments.size() + " arguments for " + method + " (expected: " + types.length + ")");
		}
		for (int i = 0; i < types.length; i++) {
			if (!fits(types[i], arguments.get(i))) {
				throw new IllegalArgumentException("argument " + (i + 1) + " of " + method + " is "
						+ typeName(arguments.get(i)) + " (expected: " + types[i].getName() + ")");
			}
		}
	}

	/**
	 * Checks a result.
	 * @param interceptor returned it
	 * @throws IllegalStateException if the method cannot return it
	 */
	static void checkResult(MethodDescriptor method, @Nullable Object result, Object interceptor) {
		Class<?> type = method.later() ? CompletionStage.class : method.javaMethod().getReturnType();
		boolean required = method.asynchronous() || method.streaming();
		if (type != void.class && ((result == null && required) || !fits(type, result))) {
			throw new IllegalStateException(interceptor.getClass().getName() + " returned " + typeName(result) + " for "
					+ method + " (expected: " + type.getName() + ")");
		}
	}

	private static boolean fits(Class<?> type, @Nullable Object value) {
		return (value != null) ? MethodType.methodType(type).wrap().returnType().isInstance(value)
				: !type.isPrimitive();
	}

	private static String typeName(@Nullable Object value) {
		return (value != null) ? "of type " + value.getClass().getName() : "null";
	}

}
