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

package dev.rdmarpc.boot.resilience;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.rpc.RpcClientCall;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

/** How a call ends that is refused before it is made. */
final class Refusal {

	private Refusal() {
	}

	/**
	 * Refuses a call.
	 * @param cause what Resilience4j says
	 * @return the future that has failed, if the method has one
	 * @throws RpcException if the caller waits for the result
	 */
	static @Nullable Object of(RpcClientCall call, RpcStatus status, Throwable cause) {
		return end(call, failure(call, status, cause.getMessage(), cause).beforeExecution());
	}

	/**
	 * Ends a call whose thread was interrupted while it waited to make it.
	 * @param cause what was thrown for it
	 * @return the future that has failed, if the method has one
	 * @throws RpcException if the caller waits for the result
	 */
	static @Nullable Object interrupted(RpcClientCall call, Throwable cause) {
		Thread.currentThread().interrupt();
		return end(call, failure(call, RpcStatus.CANCELLED,
				"the calling thread was interrupted before the call was made", cause));
	}

	/** How long the caller goes on waiting. */
	static long remainingNanos(RpcClientCall call) {
		long deadline = call.deadlineNanos();
		return (deadline != Long.MAX_VALUE) ? deadline - System.nanoTime() : Long.MAX_VALUE;
	}

	private static RpcException failure(RpcClientCall call, RpcStatus status, @Nullable String detail,
			Throwable cause) {
		return new RpcException(status, detail, call.method().service(), call.method().name(), cause);
	}

	private static @Nullable Object end(RpcClientCall call, RpcException failure) {
		if (!call.method().asynchronous()) {
			throw failure;
		}
		return CompletableFuture.failedFuture(failure);
	}

}
