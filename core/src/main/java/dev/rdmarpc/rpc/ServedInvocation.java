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
 * A call on its way through the interceptors of its method to the handler. Immutable.
 *
 * @param exported the handler
 * @param interceptors of the method
 * @param position how many of these have it behind them
 * @param context of the call
 * @param arguments for the handler
 * @param futures gets what it proceeds to, for the interceptor that sees it
 */
record ServedInvocation(Handler exported, List<RpcServerInterceptor> interceptors, int position, RpcContext context,
		List<@Nullable Object> arguments, @Nullable DerivedFutures futures) implements RpcServerCall {

	/** A call that begins, on the thread of its handler. */
	static ServedInvocation of(Handler exported, List<RpcServerInterceptor> interceptors, RpcContext context,
			@Nullable Object[] arguments) {
		return new ServedInvocation(exported, interceptors, 0, context,
				Collections.unmodifiableList(Arrays.asList(arguments)), null);
	}

	@Override
	public MethodDescriptor method() {
		return this.context.method();
	}

	@Override
	public RpcServerCall withArguments(List<? extends @Nullable Object> other) {
		List<@Nullable Object> replaced = Collections.unmodifiableList(new ArrayList<>(other));
		InterceptedValues.checkArguments(method(), replaced);
		return new ServedInvocation(this.exported, this.interceptors, this.position, this.context, replaced,
				this.futures);
	}

	@Override
	public @Nullable Object proceed() throws Throwable {
		Object result = (this.position < this.interceptors.size()) ? passTo(this.interceptors.get(this.position))
				: this.exported.invoke(this.arguments.toArray());
		if (this.futures != null) {
			this.futures.add(result);
		}
		return result;
	}

	private @Nullable Object passTo(RpcServerInterceptor next) throws Throwable {
		DerivedFutures derived = method().asynchronous() ? new DerivedFutures() : null;
		Object result = next.intercept(new ServedInvocation(this.exported, this.interceptors, this.position + 1,
				this.context, this.arguments, derived));
		InterceptedValues.checkResult(method(), result, next);
		if (derived != null) {
			derived.returned(result);
		}
		return result;
	}

	@Override
	public String toString() {
		return "call of " + method() + " by " + this.context.peer();
	}

	/** Runs a handler. */
	@FunctionalInterface
	interface Handler {

		/** Runs it with all of its arguments. */
		@Nullable Object invoke(@Nullable Object[] arguments) throws Throwable;

	}

}
