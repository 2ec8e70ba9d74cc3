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

import dev.rdmarpc.transport.CallFailure;

/**
 * Which calls are made again: those that were never sent, and those whose connection went
 * before the reply if their method is declared idempotent.
 */
final class RetryPolicy {

	/** How often one call is made at most. */
	private static final int MOST_ATTEMPTS = 3;

	private RetryPolicy() {
	}

	/**
	 * Whether to make a call again.
	 * @param failure why there was no reply, {@code null} if there was one
	 * @param attempts how often it was made so far
	 */
	static boolean isAllowed(@Nullable CallFailure failure, MethodDescriptor method, int attempts) {
		if (failure == null || attempts >= MOST_ATTEMPTS) {
			return false;
		}
		return failure == CallFailure.NOT_SENT || (failure == CallFailure.CONNECTION_LOST && method.idempotent());
	}

}
