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

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/** The interceptors of a client, for the methods of one service. Thread-safe. */
final class ClientInterceptors {

	private final ClientCalls calls;

	private final Map<MethodDescriptor, List<RpcClientInterceptor>> byMethod;

	private ClientInterceptors(ClientCalls calls, Map<MethodDescriptor, List<RpcClientInterceptor>> byMethod) {
		this.calls = calls;
		this.byMethod = byMethod;
	}

	/** Those that apply to a service, or {@code null} if none does. */
	static @Nullable ClientInterceptors of(List<RpcClientInterceptor> all, ClientCalls calls,
			ServiceDescriptor service) {
		Map<MethodDescriptor, List<RpcClientInterceptor>> byMethod = new HashMap<>();
		for (MethodDescriptor method : service.methods()) {
			List<RpcClientInterceptor> own = all.stream()
				.filter((interceptor) -> interceptor.appliesTo(calls.target(), method))
				.toList();
			if (!own.isEmpty()) {
				byMethod.put(method, own);
			}
		}
		return byMethod.isEmpty() ? null : new ClientInterceptors(calls, byMethod);
	}

	/** Makes a call through those of its method. */
	@Nullable Object call(MethodDescriptor method, @Nullable Object[] arguments, CallOptions options) {
		List<RpcClientInterceptor> own = this.byMethod.get(method);
		if (own == null) {
			return this.calls.call(method, arguments, options);
		}
		return method.later() ? later(own, method, arguments, options)
				: InterceptedCall.of(this.calls, own, method, arguments, null, options).proceed();
	}

	private Object later(List<RpcClientInterceptor> own, MethodDescriptor method, @Nullable Object[] arguments,
			CallOptions options) {
		Object kept = this.calls.kept(method, arguments);
		return method.givenReply(() -> {
			Object result = InterceptedCall.of(this.calls, own, method, arguments, ClientCalls.encoded(kept), options)
				.proceed();
			return ((CompletionStage<?>) Objects.requireNonNull(result)).toCompletableFuture();
		});
	}

}
