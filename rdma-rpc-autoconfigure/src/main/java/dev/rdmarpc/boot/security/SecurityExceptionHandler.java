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

package dev.rdmarpc.boot.security;

import org.jspecify.annotations.Nullable;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.core.AuthenticationException;

import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcExceptionHandler;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * Tells callers that they may not do what they ask for, or that the server has to know
 * who they are, and no more than that. Thread-safe.
 */
public final class SecurityExceptionHandler implements RpcExceptionHandler {

	@Override
	public @Nullable Throwable handle(MethodDescriptor method, Throwable failure) {
		if (failure instanceof AccessDeniedException) {
			return new RpcException(RpcStatus.PERMISSION_DENIED, "access to " + method + " is denied");
		}
		return (failure instanceof AuthenticationException)
				? new RpcException(RpcStatus.UNAUTHENTICATED, method + " requires a caller that is known") : null;
	}

}
