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
import java.util.Arrays;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/** The priority that a method declares for its calls. */
final class DeclaredPriority {

	private DeclaredPriority() {
	}

	/**
	 * That of {@link RdmaMethod#priority()}, or {@code null} for none.
	 * @throws InvalidInterfaceException if there are several
	 */
	static @Nullable Priority of(Method method) {
		RdmaMethod settings = method.getAnnotation(RdmaMethod.class);
		Priority[] declared = (settings != null) ? settings.priority() : new Priority[0];
		if (declared.length > 1) {
			String values = Arrays.stream(declared).map(Priority::name).collect(Collectors.joining(", "));
			throw new InvalidInterfaceException(
					"@RdmaMethod(priority = { " + values + " }) on " + method.getDeclaringClass().getName() + "/"
							+ method.getName() + " has " + declared.length + " values (expected: at most one)",
					"keep one of them, or none to have that of the client");
		}
		return (declared.length > 0) ? declared[0] : null;
	}

}
