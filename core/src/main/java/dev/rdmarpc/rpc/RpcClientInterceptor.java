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
 * Advice around the calls of a client: it can check, change, repeat, refuse or answer
 * them.
 *
 * <p>
 * Called on the thread that calls the method of a proxy, before anything is observed,
 * encoded or sent. Interceptors form a chain, of which the one added first is outermost.
 * What an interceptor does on other threads, such as proceeding once more when a future
 * has failed, keeps the deadline of the call, but nothing else that belongs to the thread
 * of the caller.
 *
 * <p>
 * What it returns is what the caller gets: a result, or the future, publisher, stream or
 * iterator that the method returns. Where the caller waits for the result, failures of
 * the call are thrown by {@link RpcClientCall#proceed()}, as {@link RpcException}, also
 * if the method declares an exception that the caller will get in its place. Futures and
 * streams fail as they do for the caller; {@link RpcException#in} finds the status.
 * Whatever an interceptor throws reaches the caller, an {@code RpcException} like a
 * failure of the call.
 *
 * <p>
 * Calls of a method that returns a {@code Mono} are intercepted when it is subscribed to,
 * as if the method returned a {@link java.util.concurrent.CompletableFuture}. Those of a
 * method that returns a {@code Flux} are intercepted when the method is called.
 *
 * <p>
 * When the caller cancels the future that an interceptor has returned, those that it got
 * from {@code proceed} are cancelled, which ends their calls. Other ways to complete it
 * do not reach them.
 *
 * <p>
 * Must be thread-safe.
 */
@FunctionalInterface
public interface RpcClientInterceptor {

	/**
	 * Intercepts a call.
	 * @return what the caller gets, usually that of {@link RpcClientCall#proceed()}
	 */
	@Nullable Object intercept(RpcClientCall call);

	/**
	 * Whether calls of a method are intercepted; by default those of all. Asked once for
	 * each proxy and method; methods without interceptor cost nothing.
	 * @param target the name of the client's target
	 */
	default boolean appliesTo(String target, MethodDescriptor method) {
		return true;
	}

}
