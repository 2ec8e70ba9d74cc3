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
 * When a call that has no answer yet is made once more, elsewhere if its target has
 * several addresses. The first answer counts, and the other attempts are canceled. For
 * idempotent methods without streams only.
 *
 * @param maxAttempts how often a call is made at most, the first time included
 * @param delay how long the last attempt has had no answer when the next one is made
 */
public record HedgingOptions(int maxAttempts, Duration delay) {

	/** The most attempts that can be asked for. */
	public static final int MOST_ATTEMPTS = 10;

	/** What methods can be hedged, for messages to people. */
	public static final String EXPECTED = "an idempotent method with a reply and without streams";

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public HedgingOptions {
		if (maxAttempts < 2 || maxAttempts > MOST_ATTEMPTS) {
			throw new IllegalArgumentException(maxAttempts + " attempts (expected: 2 to " + MOST_ATTEMPTS + ")");
		}
		if (delay.isNegative()) {
			throw new IllegalArgumentException("delay " + delay + " (expected: not negative)");
		}
	}

	/**
	 * Why calls of a method cannot be hedged, to follow its name, or {@code null} if they
	 * can.
	 */
	public static @Nullable String problemOf(MethodDescriptor method) {
		return method.oneWay() ? "is one-way" : method.streaming() ? "returns a stream"
				: method.consuming() ? "takes a stream" : method.idempotent() ? null : "is not idempotent";
	}

}
