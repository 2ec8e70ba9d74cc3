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

package dev.rdmarpc.boot.retry;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.core.retry.RetryPolicy;

import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * How the calls of a method are retried.
 *
 * @param maxRetries how often at most, beside the first attempt; 0 for never
 * @param delay before the first retry
 * @param multiplier of the delay from one retry to the next, at least 1
 * @param jitter what is added to the delay or subtracted from it at random, at most; it
 * grows with the delay, and is none without
 * @param maxDelay the longest delay
 * @param statuses of failures that are retried if the method is idempotent
 */
public record RetrySettings(int maxRetries, Duration delay, double multiplier, Duration jitter, Duration maxDelay,
		Set<RpcStatus> statuses) {

	/** No retries; with the delays of those who only say how many. */
	public static final RetrySettings DEFAULTS = new RetrySettings(0, Duration.ofMillis(50), 2, Duration.ofMillis(25),
			Duration.ofSeconds(1), Set.of(RpcStatus.UNAVAILABLE));

	private static final String OPEN_CIRCUIT = "io.github.resilience4j.circuitbreaker.CallNotPermittedException";

	private static final Set<RpcStatus> REFUSALS = EnumSet.of(RpcStatus.UNAVAILABLE, RpcStatus.RESOURCE_EXHAUSTED);

	/** Copies the statuses. */
	public RetrySettings {
		statuses = Set.copyOf(statuses);
	}

	/** Spring's policy for these settings. */
	RetryPolicy policy(boolean idempotent) {
		return RetryPolicy.builder()
			.maxRetries(this.maxRetries)
			.delay(this.delay)
			.multiplier(this.multiplier)
			.jitter((this.delay.toMillis() > 0) ? this.jitter : Duration.ZERO)
			.maxDelay(this.maxDelay)
			.predicate((failure) -> isRetried(RpcException.in(failure), idempotent))
			.build();
	}

	/**
	 * A call that no handler has begun with can always be made again, any other only if
	 * its method is idempotent.
	 */
	private boolean isRetried(@Nullable RpcException failure, boolean idempotent) {
		if (failure == null || isOpenCircuit(failure.getCause())) {
			return false;
		}
		boolean chosen = this.statuses.contains(failure.status());
		return failure.isBeforeExecution() ? chosen || REFUSALS.contains(failure.status()) : chosen && idempotent;
	}

	/** A circuit is open so that calls fail at once. */
	private static boolean isOpenCircuit(@Nullable Throwable cause) {
		return cause != null && cause.getClass().getName().equals(OPEN_CIRCUIT);
	}

}
