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
 * A call that a client is about to make, as an interceptor sees it. Immutable and
 * thread-safe; arguments are those of the caller.
 */
public interface RpcClientCall {

	/** The name of the client's target, or {@code host:port}. */
	String target();

	/**
	 * The method: its service and name, whether it is idempotent, and what kind of result
	 * it has.
	 */
	MethodDescriptor method();

	/**
	 * The arguments, in the order of the method's parameters. Not to be modified. Those
	 * of an asynchronous call may be changed by the caller once it has its future, unless
	 * {@link MethodDescriptor#stableArguments()}.
	 */
	List<@Nullable Object> arguments();

	/**
	 * The options that the call is made with: those of the client and of the blocks
	 * around the call.
	 */
	CallOptions options();

	/**
	 * When the caller gives up, by {@link System#nanoTime()}; {@link Long#MAX_VALUE}
	 * means never. However often and late the call proceeds, it does not go on after
	 * that. A stream that replies has the deadline of the options from when it is
	 * subscribed to; that is not known here.
	 */
	long deadlineNanos();

	/**
	 * The same call with other arguments.
	 * @throws IllegalArgumentException if the method has more, fewer or other parameters
	 */
	RpcClientCall withArguments(List<? extends @Nullable Object> other);

	/**
	 * The same call with other options. Options for a call are best made of those it has.
	 * A deadline counts from when the call proceeds, and cannot be later than
	 * {@link #deadlineNanos()}.
	 */
	RpcClientCall withOptions(CallOptions other);

	/**
	 * The same call with its arguments as they are now, so that it can proceed again
	 * whatever the caller does to them after it has its future.
	 * @throws RpcException if they cannot be encoded
	 */
	RpcClientCall kept();

	/**
	 * Passes the call to the next interceptor, and after the last one makes it. Each time
	 * is a call of its own, for the server as well as for observers: to make a call again
	 * that may have been executed is up to the interceptor. A stream that the caller
	 * sends can be sent only once.
	 * @return the result, or the future, publisher, stream or iterator of it
	 * @throws RpcException if the caller would wait for the result and the call has
	 * failed, or if it cannot be made
	 */
	@Nullable Object proceed();

}
