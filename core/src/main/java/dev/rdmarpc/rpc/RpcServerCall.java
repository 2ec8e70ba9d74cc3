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

import org.jspecify.annotations.Nullable;

/**
 * A call that a server is about to pass to its handler, as an interceptor sees it.
 * Immutable.
 */
public interface RpcServerCall {

	/** The method that is called, its service and name. */
	MethodDescriptor method();

	/** The caller, its metadata and deadline, and the metadata of the reply. */
	RpcContext context();

	/**
	 * The arguments, in the order of the method's parameters. What they hold of
	 * registered memory is given back at the end of the call.
	 */
	List<@Nullable Object> arguments();

	/**
	 * The same call with other arguments.
	 * @throws IllegalArgumentException if the method has more, fewer or other parameters
	 */
	RpcServerCall withArguments(List<? extends @Nullable Object> other);

	/**
	 * Passes the call to the next interceptor, and after the last one to the handler.
	 * @return the result, or the future or stream of it
	 * @throws Throwable what the handler throws
	 */
	@Nullable Object proceed() throws Throwable;

}
