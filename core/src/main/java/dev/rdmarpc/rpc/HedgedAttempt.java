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

import org.jspecify.annotations.Nullable;

/**
 * One of the attempts of a call that is hedged. What it brings goes to the call, or back
 * if that has got its answer from another one.
 */
final class HedgedAttempt extends CallFuture {

	private final HedgedCall call;

	private final int number;

	/**
	 * Creates an attempt.
	 * @param number from 1 on
	 */
	HedgedAttempt(HedgedCall call, int number, CallTerms terms, MethodDescriptor method, Object content,
			long deadlineNanos) {
		super(terms, method, content, deadlineNanos);
		this.call = call;
		this.number = number;
	}

	int number() {
		return this.number;
	}

	@Override
	boolean isAwaited() {
		return this.call.getNumberOfDependents() > 0;
	}

	@Override
	boolean ended(@Nullable Object value, @Nullable Throwable failure) {
		return super.ended(value, failure) && this.call.ended(this, value, failure);
	}

}
