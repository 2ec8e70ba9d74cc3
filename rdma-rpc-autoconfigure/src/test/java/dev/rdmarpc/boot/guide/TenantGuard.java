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

package dev.rdmarpc.boot.guide;

import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServerCall;
import dev.rdmarpc.rpc.RpcServerInterceptor;
import dev.rdmarpc.rpc.RpcStatus;

@Component
@Order(1)
class TenantGuard implements RpcServerInterceptor {

	private final Set<String> tenants = Set.of("north", "south");

	@Override
	public @Nullable Object intercept(RpcServerCall call) throws Throwable {
		String tenant = call.context().requestMetadata().get("tenant");
		if (tenant == null || !this.tenants.contains(tenant)) {
			throw new RpcException(RpcStatus.PERMISSION_DENIED, "unknown tenant");
		}
		return call.proceed();
	}

	@Override
	public boolean appliesTo(MethodDescriptor method) {
		return method.service().equals(Prices.class.getName());
	}

}
