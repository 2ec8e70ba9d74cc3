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
 * Decides what a caller is told of an exception that a handler has thrown. Asked for all
 * but {@link RpcException}s, which are told as they are; in the thread that ran the
 * handler or completed its future.
 *
 * <p>
 * Without it, an exception that the method declares reaches its caller, and all others
 * become a status without any words of theirs.
 */
@FunctionalInterface
public interface RpcExceptionHandler {

	/**
	 * Handles an exception.
	 * @param method the method whose handler has thrown it
	 * @return an {@link RpcException} with status and text for the caller, or an
	 * exception that the method declares, or {@code null} to leave it to the next
	 * handler. What it throws counts as what it returns
	 */
	@Nullable Throwable handle(MethodDescriptor method, Throwable failure);

}
