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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A call on its way through the interceptors of its method. Immutable.
 *
 * @param calls make it in the end
 * @param interceptors of the method
 * @param position how many of these have it behind them
 * @param method the method
 * @param arguments what it is called with
 * @param encoded what these were encoded to, if they may have changed since
 * @param options of this and later steps
 * @param deadlineNanos when it ends at the latest
 * @param futures gets what it proceeds to, for the interceptor that sees it
 */
record InterceptedCall(ClientCalls calls, List<RpcClientInterceptor> interceptors, int position,
		MethodDescriptor method, List<@Nullable Object> arguments, byte @Nullable [] encoded, CallOptions options,
		long deadlineNanos, @Nullable DerivedFutures futures) implements RpcClientCall {

	/** A call that begins. */
	static InterceptedCall of(ClientCalls calls, List<RpcClientInterceptor> interceptors, MethodDescriptor method,
			@Nullable Object[] arguments, byte @Nullable [] encoded, CallOptions options) {
		return new InterceptedCall(calls, interceptors, 0, method,
				Collections.unmodifiableList(Arrays.asList(arguments)), encoded, options, calls.bound(method, options),
				null);
	}

	@Override
	public String target() {
		return this.calls.target();
	}

	@Override
	public RpcClientCall withArguments(List<? extends @Nullable Object> other) {
		List<@Nullable Object> replaced = Collections.unmodifiableList(new ArrayList<>(other));
		InterceptedValues.checkArguments(this.method, replaced);
		return new InterceptedCall(this.calls, this.interceptors, this.position, this.method, replaced, null,
				this.options, this.deadlineNanos, this.futures);
	}

	@Override
	public RpcClientCall withOptions(CallOptions other) {
		return new InterceptedCall(this.calls, this.interceptors, this.position, this.method, this.arguments,
				this.encoded, other, this.deadlineNanos, this.futures);
	}

	@Override
	public RpcClientCall kept() {
		byte[] now = (this.encoded != null) ? this.encoded
				: ClientCalls.encoded(this.calls.kept(this.method, this.arguments.toArray()));
		return new InterceptedCall(this.calls, this.interceptors, this.position, this.method, this.arguments, now,
				this.options, this.deadlineNanos, this.futures);
	}

	@Override
	public @Nullable Object proceed() {
		Object result = (this.position < this.interceptors.size()) ? passTo(this.interceptors.get(this.position))
				: this.calls.call(this.method, this.arguments.toArray(), this.encoded, this.options,
						this.deadlineNanos);
		if (this.futures != null) {
			this.futures.add(result);
		}
		return result;
	}

	private @Nullable Object passTo(RpcClientInterceptor next) {
		DerivedFutures derived = this.method.asynchronous() ? new DerivedFutures() : null;
		Object result = next.intercept(new InterceptedCall(this.calls, this.interceptors, this.position + 1,
				this.method, this.arguments, this.encoded, this.options, this.deadlineNanos, derived));
		InterceptedValues.checkResult(this.method, result, next);
		if (derived != null) {
			derived.returned(result);
		}
		return result;
	}

	@Override
	public String toString() {
		return "call of " + this.method + " at " + target();
	}

}
