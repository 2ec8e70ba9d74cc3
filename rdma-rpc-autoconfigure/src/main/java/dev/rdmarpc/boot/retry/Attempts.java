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

import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.util.backoff.BackOffExecution;

import dev.rdmarpc.rpc.AttemptBudget;
import dev.rdmarpc.rpc.RpcClientCall;
import dev.rdmarpc.rpc.RpcException;

/**
 * The attempts of one call that has failed, and what decides whether there is another
 * one: the policy, the deadline of the call and the budget of the target. For one thread
 * at a time.
 */
final class Attempts {

	private static final long NEVER = -1;

	private final RpcClientCall call;

	private final RetryPolicy policy;

	private final AttemptBudget budget;

	private final RetryListener listener;

	private final BackOffExecution pauses;

	private int retries;

	private @Nullable Throwable last;

	Attempts(RpcClientCall call, RetryPolicy policy, AttemptBudget budget, RetryListener listener) {
		this.call = call;
		this.policy = policy;
		this.budget = budget;
		this.listener = listener;
		this.pauses = policy.getBackOff().start();
	}

	/**
	 * An attempt has failed.
	 * @return how long to wait before the next one, in milliseconds, or a negative number
	 * if there is none
	 */
	long failed(Throwable failure) {
		Throwable before = this.last;
		if (before != null && before != failure) {
			failure.addSuppressed(before);
		}
		this.last = failure;
		if (!this.policy.shouldRetry(failure)) {
			return NEVER;
		}
		long pause = this.pauses.nextBackOff();
		if (pause == BackOffExecution.STOP || isTooLate(pause) || !this.budget.tryTake()) {
			return NEVER;
		}
		return pause;
	}

	private boolean isTooLate(long pauseMillis) {
		long deadline = this.call.deadlineNanos();
		return deadline != Long.MAX_VALUE && deadline - System.nanoTime() <= pauseMillis * 1_000_000;
	}

	/** The next attempt begins. */
	void retrying() {
		this.retries++;
		this.listener.retrying(this.call.target(), this.call.method(), this.retries,
				Objects.requireNonNull(RpcException.in(Objects.requireNonNull(this.last))));
	}

}
