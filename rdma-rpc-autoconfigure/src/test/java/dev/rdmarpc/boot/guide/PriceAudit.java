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

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcClientCall;
import dev.rdmarpc.rpc.RpcClientInterceptor;
import dev.rdmarpc.rpc.RpcException;

@Component
class PriceAudit implements RpcClientInterceptor {

	private final List<String> failures = new CopyOnWriteArrayList<>();

	@Override
	public @Nullable Object intercept(RpcClientCall call) {
		try {
			return call.proceed();
		}
		catch (RpcException ex) {
			this.failures.add(call.method().name() + call.arguments() + ": " + ex.status());
			throw ex;
		}
	}

	@Override
	public boolean appliesTo(String target, MethodDescriptor method) {
		return target.equals("prices") && !method.asynchronous() && !method.streaming();
	}

	List<String> failures() {
		return List.copyOf(this.failures);
	}

}
