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

package dev.rdmarpc.transport;

import java.time.Duration;

/**
 * How a loop waits for completions.
 *
 * @param mode busy, adaptive or event
 * @param spinBudgetNanos how long to poll without success before waiting for an event;
 * about one round trip is right, used by {@link PollingMode#ADAPTIVE} only, which extends
 * it up to {@value SpinBudget#LARGEST_FACTOR} times while that pays, and up to
 * {@value SpinBudget#TRANSFER_FACTOR} times while a large message is under way
 */
public record PollingOptions(PollingMode mode, long spinBudgetNanos) {

	/** Adaptive, 50 microseconds; event driven where there is only one processor. */
	public static final PollingOptions DEFAULTS = new PollingOptions(
			(Runtime.getRuntime().availableProcessors() > 1) ? PollingMode.ADAPTIVE : PollingMode.EVENT,
			Duration.ofNanos(50_000).toNanos());

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public PollingOptions {
		if (spinBudgetNanos < 0 || spinBudgetNanos > Duration.ofSeconds(1).toNanos()) {
			throw new IllegalArgumentException("spin budget of " + spinBudgetNanos + " ns (expected: 0 to 1000000000)");
		}
	}

	/** How long to spin in this mode, in nanoseconds. */
	long effectiveSpinNanos() {
		return switch (this.mode) {
			case BUSY -> Long.MAX_VALUE / 2;
			case ADAPTIVE -> this.spinBudgetNanos;
			case EVENT -> 0;
		};
	}

}
