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

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletionStage;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

import dev.rdmarpc.boot.retry.RetryInterceptor;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcClientCall;
import dev.rdmarpc.rpc.RpcClientInterceptor;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * The circuit breaker of each target that has one of its name. A status that the server
 * chose because of the call itself, such as {@link RpcStatus#NOT_FOUND}, is a success of
 * the server. Thread-safe.
 */
public final class CircuitBreakerInterceptor implements RpcClientInterceptor, Ordered {

	private static final Set<RpcStatus> FAILURES = EnumSet.of(RpcStatus.UNAVAILABLE, RpcStatus.DEADLINE_EXCEEDED,
			RpcStatus.RESOURCE_EXHAUSTED, RpcStatus.INTERNAL, RpcStatus.UNKNOWN, RpcStatus.DATA_LOSS);

	private final CircuitBreakerRegistry breakers;

	/** Creates the interceptor of all clients. */
	public CircuitBreakerInterceptor(CircuitBreakerRegistry breakers) {
		this.breakers = breakers;
	}

	@Override
	public int getOrder() {
		return RetryInterceptor.ORDER + 100;
	}

	@Override
	public boolean appliesTo(String target, MethodDescriptor method) {
		return !method.streaming() && this.breakers.find(target).isPresent();
	}

	@Override
	public @Nullable Object intercept(RpcClientCall call) {
		CircuitBreaker breaker = this.breakers.circuitBreaker(call.target());
		try {
			breaker.acquirePermission();
		}
		catch (CallNotPermittedException ex) {
			return Refusal.of(call, RpcStatus.UNAVAILABLE, ex);
		}
		long begin = breaker.getCurrentTimestamp();
		Object result;
		try {
			result = call.proceed();
		}
		catch (Throwable ex) {
			ended(breaker, begin, ex);
			throw ex;
		}
		if (result instanceof CompletionStage<?> stage) {
			stage.whenComplete((value, failure) -> ended(breaker, begin, failure));
		}
		else {
			ended(breaker, begin, null);
		}
		return result;
	}

	private static void ended(CircuitBreaker breaker, long begin, @Nullable Throwable failure) {
		long duration = breaker.getCurrentTimestamp() - begin;
		RpcException known = (failure != null) ? RpcException.in(failure) : null;
		RpcStatus status = (known != null) ? known.status() : RpcStatus.CANCELLED;
		if (failure == null || (known != null && status != RpcStatus.CANCELLED && !FAILURES.contains(status))) {
			breaker.onSuccess(duration, breaker.getTimestampUnit());
		}
		else if (status == RpcStatus.CANCELLED) {
			breaker.releasePermission();
		}
		else {
			breaker.onError(duration, breaker.getTimestampUnit(), failure);
		}
	}

}
