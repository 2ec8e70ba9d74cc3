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

import org.jspecify.annotations.Nullable;

/**
 * Advice around the handlers of a server: it can check, change, refuse or answer calls.
 *
 * <p>
 * Called where the handler runs, on its thread, with {@link RpcContext#current()} and
 * after the arguments were decoded. Interceptors form a chain, of which the one added
 * first is outermost. What an interceptor returns is in place of what the handler
 * returns: a result, or the future or stream of the method.
 *
 * <p>
 * Whatever an interceptor throws fails the call like an exception of the handler, so that
 * an {@link RpcException} chooses the status. It sees the exceptions of handlers before
 * any {@link RpcExceptionHandler} does, and those of futures and streams in these.
 *
 * <p>
 * When the call is cancelled, so is the future that an interceptor has returned, and with
 * it those that it got from {@link RpcServerCall#proceed()}.
 *
 * <p>
 * Must be thread-safe.
 */
@FunctionalInterface
public interface RpcServerInterceptor {

	/**
	 * Intercepts a call.
	 * @return what the caller gets, usually that of {@link RpcServerCall#proceed()}
	 * @throws Throwable like a handler
	 */
	@Nullable Object intercept(RpcServerCall call) throws Throwable;

	/**
	 * Whether calls of a method are intercepted; by default those of all. Asked once for
	 * each method that a server offers; methods without interceptor cost nothing.
	 */
	default boolean appliesTo(MethodDescriptor method) {
		return true;
	}

}
