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

package dev.rdmarpc.tools.ping;

import java.time.Duration;

/**
 * What an initiator is to do.
 *
 * @param sizeBytes data of each ping
 * @param count pings that are measured
 * @param warmUp pings before those
 * @param validate whether to compare what comes back with what was sent
 * @param timeout for the set-up of the connection, and for each step of a ping
 */
record PingPlan(int sizeBytes, long count, long warmUp, boolean validate, Duration timeout) {

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	PingPlan {
		check(sizeBytes >= PingData.MIN_BYTES && sizeBytes <= PingData.MAX_BYTES, "size", sizeBytes,
				PingData.MIN_BYTES + " to " + PingData.MAX_BYTES + " bytes");
		check(count >= 1, "count", count, "at least 1");
		check(warmUp >= 0, "warm-up", warmUp, "at least 0");
		check(timeout.compareTo(Duration.ZERO) > 0, "timeout", timeout, "positive");
	}

	private static void check(boolean valid, String name, Object value, String expected) {
		if (!valid) {
			throw new IllegalArgumentException(name + " of " + value + " (expected: " + expected + ")");
		}
	}

}
