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
 * @param mode busy, adaptive, fixed or event
 * @param spinMaxNanos how long to poll at most without success before waiting for an
 * event. {@link PollingMode#ADAPTIVE} polls for less where that meets what comes, takes a
 * sleep to cost some times as much as polling for that long, and polls for up to
 * {@value SpinBudget#LINGER_FACTOR} times as long after polling has met as much;
 * {@link PollingMode#FIXED} always polls for that long
 */
public record PollingOptions(PollingMode mode, long spinMaxNanos) {

	/** Adaptive, 200 microseconds; event driven where there is only one processor. */
	public static final PollingOptions DEFAULTS = new PollingOptions(
			(Runtime.getRuntime().availableProcessors() > 1) ? PollingMode.ADAPTIVE : PollingMode.EVENT,
			Duration.ofNanos(200_000).toNanos());

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public PollingOptions {
		if (spinMaxNanos < 0 || spinMaxNanos > Duration.ofSeconds(1).toNanos()) {
			throw new IllegalArgumentException(
					"polling for " + spinMaxNanos + " ns at most (expected: 0 to 1000000000)");
		}
	}

	/** How long to spin at most in this mode, in nanoseconds. */
	long effectiveSpinNanos() {
		return switch (this.mode) {
			case BUSY -> Long.MAX_VALUE / 2;
			case ADAPTIVE, FIXED -> this.spinMaxNanos;
			case EVENT -> 0;
		};
	}

}
