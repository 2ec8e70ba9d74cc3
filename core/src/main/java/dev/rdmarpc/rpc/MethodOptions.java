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

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Settings of the calls of one method at one client. They take precedence over
 * {@link RdmaMethod} and over the settings of the client, and {@link CallOptions} over
 * them. Immutable.
 *
 * @param deadline time for a call, also for one with a stream, zero for no deadline;
 * {@code null} if there is no such setting
 * @param hedging whether a call that takes long is made once more, or {@code null} if it
 * never is
 */
public record MethodOptions(@Nullable Duration deadline, @Nullable HedgingOptions hedging) {

	/** No settings. */
	public static final MethodOptions NONE = new MethodOptions(null, null);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public MethodOptions {
		if (deadline != null && deadline.isNegative()) {
			throw new IllegalArgumentException("deadline " + deadline + " (expected: not negative)");
		}
	}

	/** These options with another deadline. */
	public MethodOptions withDeadline(Duration other) {
		return new MethodOptions(other, this.hedging);
	}

	/** These options with other hedging. */
	public MethodOptions withHedging(HedgingOptions other) {
		return new MethodOptions(this.deadline, other);
	}

}
