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

package dev.rdmarpc.codec;

import java.lang.reflect.Type;
import java.util.List;

/**
 * What a codec needs to know of a service method.
 *
 * @param serviceName name of the service, for messages to people
 * @param methodName name of the method, for messages to people
 * @param parameterNames names of the parameters, in order
 * @param parameterTypes their generic types, free of the declaring interface's type
 * variables and of asynchronous wrappers
 * @param resultType generic type of the result, unwrapped likewise; {@code void.class}
 * for none
 */
public record MethodSignature(String serviceName, String methodName, List<String> parameterNames,
		List<Type> parameterTypes, Type resultType) {

	/** Copies the lists. */
	public MethodSignature {
		parameterNames = List.copyOf(parameterNames);
		parameterTypes = List.copyOf(parameterTypes);
		if (parameterNames.size() != parameterTypes.size()) {
			throw new IllegalArgumentException(
					parameterNames.size() + " parameter names (expected: " + parameterTypes.size() + ")");
		}
	}

	/** The same method with its first parameters only. */
	public MethodSignature first(int parameters) {
		return new MethodSignature(this.serviceName, this.methodName, this.parameterNames.subList(0, parameters),
				this.parameterTypes.subList(0, parameters), this.resultType);
	}

}
