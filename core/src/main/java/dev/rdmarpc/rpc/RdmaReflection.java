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

import java.util.List;

/**
 * What a server says about its services, to clients that do not have their interfaces: an
 * ordinary service with a reserved name, which a server has if
 * {@link RpcServer.Builder#reflection()} was called.
 *
 * <p>
 * The name ends in a version. Methods and components may be added at the end under the
 * same name; what is not compatible gets another one.
 */
public interface RdmaReflection {

	/** The name of the service. */
	String SERVICE = "dev.rdmarpc.reflection.v1";

	/** The most services of a page. */
	int PAGE = 100;

	/**
	 * The names of services in their order, a page at a time.
	 * @param after names are greater than this one; empty for the first page
	 */
	@RdmaMethod(idempotent = true)
	Services services(String after);

	/**
	 * A service with its methods.
	 * @throws RpcException with {@link RpcStatus#NOT_FOUND} if there is none of that name
	 */
	@RdmaMethod(idempotent = true)
	Service service(String name);

	/**
	 * What it takes to call one method.
	 * @throws RpcException with {@link RpcStatus#NOT_FOUND} if there is none of that name
	 */
	@RdmaMethod(idempotent = true)
	MethodSchema method(String service, String name);

	/**
	 * A page of services.
	 *
	 * @param names up to {@value #PAGE} names
	 * @param more whether there are greater ones
	 */
	record Services(List<String> names, boolean more) {

	}

	/**
	 * A service.
	 *
	 * @param name its name
	 * @param methods its methods, by name
	 * @param schema the schema of their messages in the language of the codec, for
	 * FlatBuffers that of {@code .fbs} files; empty if the codec prints none
	 */
	record Service(String name, List<Method> methods, String schema) {

	}

	/**
	 * A method.
	 *
	 * @param name its name
	 * @param parameters how many parameters it has, but for a stream
	 * @param streaming whether it replies with a stream
	 * @param consuming whether it takes a stream
	 * @param oneWay whether nobody replies
	 * @param idempotent whether calls may be repeated
	 */
	record Method(String name, int parameters, boolean streaming, boolean consuming, boolean oneWay,
			boolean idempotent) {

	}

	/**
	 * A method with the schema of its messages.
	 *
	 * @param method the method
	 * @param schema the schema of its messages alone; empty if the codec prints none
	 * @param types the types without names, which clients and servers compare; empty if
	 * they do not
	 */
	record MethodSchema(Method method, String schema, String types) {

	}

}
