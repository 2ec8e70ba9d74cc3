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

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterRegistry;
import io.github.resilience4j.ratelimiter.RequestNotPermitted;
import io.github.resilience4j.ratelimiter.internal.AtomicRateLimiter;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

import dev.rdmarpc.boot.retry.RetryInterceptor;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcClientCall;
import dev.rdmarpc.rpc.RpcClientInterceptor;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * The rate limiter of each target that has one of its name. The thread that makes a call
 * waits for permission as long as the limiter's {@code timeout-duration} says. A call
 * that would have to wait beyond its deadline is refused at once. Thread-safe.
 */
public final class RateLimiterInterceptor implements RpcClientInterceptor, Ordered {

	private final RateLimiterRegistry limiters;

	/** Creates the interceptor of all clients. */
	public RateLimiterInterceptor(RateLimiterRegistry limiters) {
		this.limiters = limiters;
	}

	@Override
	public int getOrder() {
		return RetryInterceptor.ORDER + 200;
	}

	@Override
	public boolean appliesTo(String target, MethodDescriptor method) {
		return !method.streaming() && this.limiters.find(target).isPresent();
	}

	@Override
	public @Nullable Object intercept(RpcClientCall call) {
		RateLimiter limiter = this.limiters.rateLimiter(call.target());
		long nanos = permission(limiter, Refusal.remainingNanos(call));
		if (nanos < 0 && Thread.currentThread().isInterrupted()) {
			return Refusal.interrupted(call, new InterruptedException("interrupted while waiting for permission"));
		}
		if (nanos < 0) {
			return Refusal.of(call, RpcStatus.RESOURCE_EXHAUSTED,
					RequestNotPermitted.createRequestNotPermitted(limiter));
		}
		if (nanos > 0) {
			try {
				new CountDownLatch(1).await(nanos, TimeUnit.NANOSECONDS);
			}
			catch (InterruptedException ex) {
				return Refusal.interrupted(call, ex);
			}
		}
		return call.proceed();
	}

	/**
	 * Asks for permission. What is reserved cannot be given back, so that calls that are
	 * refused would use it up: how long they would wait is asked for before.
	 * @return how long to wait for it; negative if there is none in time
	 */
	private static long permission(RateLimiter limiter, long remaining) {
		if (!(limiter instanceof AtomicRateLimiter known)
				|| limiter.getRateLimiterConfig().getTimeoutDuration().toNanos() <= remaining) {
			return limiter.acquirePermission() ? 0 : -1;
		}
		if (isTooLong(known.getDetailedMetrics().getNanosToWait(), remaining)) {
			return -1;
		}
		long nanos = known.reservePermission();
		return isTooLong(nanos, remaining) ? -1 : nanos;
	}

	private static boolean isTooLong(long nanos, long remaining) {
		return nanos > 0 && nanos >= remaining;
	}

}
