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

import java.security.Principal;

import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolderStrategy;

import dev.rdmarpc.rpc.RpcServerCall;
import dev.rdmarpc.rpc.RpcServerInterceptor;

/**
 * Runs handlers, and the interceptors around them that come later, in the security
 * context of their caller: one with the {@link RdmaAuthenticationConverter converted}
 * principal of the connection, or an empty one if nobody knows who calls. Nothing else
 * that the thread may have is seen, and it has that again afterwards. Thread-safe.
 */
public final class SecurityContextInterceptor implements RpcServerInterceptor, Ordered {

	/** Before the interceptors of applications, which may choose lower numbers. */
	public static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 1000;

	private final RdmaAuthenticationConverter converter;

	private final SecurityContextHolderStrategy contexts;

	/**
	 * Creates the interceptor of all services.
	 * @param contexts where the context of a thread is
	 */
	public SecurityContextInterceptor(RdmaAuthenticationConverter converter, SecurityContextHolderStrategy contexts) {
		this.converter = converter;
		this.contexts = contexts;
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

	@Override
	public @Nullable Object intercept(RpcServerCall call) throws Throwable {
		SecurityContext before = this.contexts.getContext();
		try {
			SecurityContext own = this.contexts.createEmptyContext();
			this.contexts.setContext(own);
			Principal principal = call.context().principal();
			if (principal != null) {
				own.setAuthentication(this.converter.convert(principal));
			}
			return call.proceed();
		}
		finally {
			SecurityContextPropagation.restore(this.contexts, before);
		}
	}

}
