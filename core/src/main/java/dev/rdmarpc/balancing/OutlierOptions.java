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

package dev.rdmarpc.balancing;

import java.time.Duration;

/**
 * When an address that is connected, but does not do its work, gets no calls for a while.
 *
 * @param consecutiveFailures failures in a row after which it is left out; zero for never
 * @param baseEjectionTime how long, times how often it was left out shortly before
 * @param maxEjectionTime the longest such time
 * @param maxEjectionPercent what part of the addresses may be left out at a time; with
 * more failures the remaining ones get all calls nevertheless
 */
public record OutlierOptions(int consecutiveFailures, Duration baseEjectionTime, Duration maxEjectionTime,
		int maxEjectionPercent) {

	/** Five failures, 30 seconds to five minutes, half of the addresses. */
	public static final OutlierOptions DEFAULTS = new OutlierOptions(5, Duration.ofSeconds(30), Duration.ofMinutes(5),
			50);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public OutlierOptions {
		if (consecutiveFailures < 0) {
			throw new IllegalArgumentException(consecutiveFailures + " failures in a row (expected: not negative)");
		}
		if (baseEjectionTime.isNegative() || baseEjectionTime.isZero()
				|| maxEjectionTime.compareTo(baseEjectionTime) < 0) {
			throw new IllegalArgumentException("ejection time " + baseEjectionTime + " to " + maxEjectionTime
					+ " (expected: positive, the second not less than the first)");
		}
		if (maxEjectionPercent < 0 || maxEjectionPercent > 100) {
			throw new IllegalArgumentException(maxEjectionPercent + " percent (expected: 0 to 100)");
		}
	}

	/** These options with another number of failures. */
	public OutlierOptions withConsecutiveFailures(int failures) {
		return new OutlierOptions(failures, this.baseEjectionTime, this.maxEjectionTime, this.maxEjectionPercent);
	}

	/** These options with other times. */
	public OutlierOptions withEjectionTime(Duration base, Duration max) {
		return new OutlierOptions(this.consecutiveFailures, base, max, this.maxEjectionPercent);
	}

}
