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

import java.time.Duration;
import java.util.concurrent.CompletionStage;

import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadFullException;
import io.github.resilience4j.bulkhead.BulkheadRegistry;
import io.github.resilience4j.core.exception.AcquirePermissionCancelledException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

import dev.rdmarpc.boot.retry.RetryInterceptor;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcClientCall;
import dev.rdmarpc.rpc.RpcClientInterceptor;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * The bulkhead of each target that has one of its name: how many calls it gets at a time.
 * The thread that makes a call waits for room as long as the bulkhead's
 * {@code max-wait-duration} says. A call whose deadline is nearer does not wait: how long
 * one call waits cannot be told to a bulkhead. Thread-safe.
 */
public final class BulkheadInterceptor implements RpcClientInterceptor, Ordered {

	private final BulkheadRegistry bulkheads;

	/** Creates the interceptor of all clients. */
	public BulkheadInterceptor(BulkheadRegistry bulkheads) {
		this.bulkheads = bulkheads;
	}

	@Override
	public int getOrder() {
		return RetryInterceptor.ORDER + 300;
	}

	@Override
	public boolean appliesTo(String target, MethodDescriptor method) {
		return !method.streaming() && this.bulkheads.find(target).isPresent();
	}

	@Override
	public @Nullable Object intercept(RpcClientCall call) {
		Bulkhead bulkhead = this.bulkheads.bulkhead(call.target());
		try {
			if (isFull(bulkhead) && waitsBeyond(Refusal.remainingNanos(call), bulkhead)) {
				throw BulkheadFullException.createBulkheadFullException(bulkhead);
			}
			bulkhead.acquirePermission();
		}
		catch (BulkheadFullException ex) {
			return Refusal.of(call, RpcStatus.RESOURCE_EXHAUSTED, ex);
		}
		catch (AcquirePermissionCancelledException ex) {
			return Refusal.interrupted(call, ex);
		}
		Object result;
		try {
			result = call.proceed();
		}
		catch (Throwable ex) {
			bulkhead.onComplete();
			throw ex;
		}
		if (result instanceof CompletionStage<?> stage) {
			stage.whenComplete((value, failure) -> bulkhead.onComplete());
		}
		else {
			bulkhead.onComplete();
		}
		return result;
	}

	private static boolean isFull(Bulkhead bulkhead) {
		return bulkhead.getMetrics().getAvailableConcurrentCalls() <= 0;
	}

	private static boolean waitsBeyond(long nanos, Bulkhead bulkhead) {
		return bulkhead.getBulkheadConfig().getMaxWaitDuration().compareTo(Duration.ofNanos(nanos)) > 0;
	}

}
