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

package dev.rdmarpc.memory;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How long somebody waits for what others give back: for a timeout in any case, and on
 * while something has moved within the last second. Large messages are moved by turns, so
 * that what they take comes back at about the same time.
 *
 * @param timeoutNanos how long, even if nothing moves; 0 for never
 */
public record Patience(long timeoutNanos) {

	/** For who must not wait. */
	public static final Patience NONE = new Patience(0);

	private static final long TURN_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(2);

	static Patience of(Duration timeout) {
		return new Patience(timeout.toNanos());
	}

	/** How long it lasts at most for who has not said it: 2 s, or the timeout. */
	public long longestNanos() {
		return (this.timeoutNanos > 0) ? Math.max(LONGEST_NANOS, this.timeoutNanos) : 0;
	}

	/**
	 * How much longer to wait unless something moves meanwhile.
	 * @param mostNanos how long to wait at most
	 * @param waitedNanos how long it has been already
	 * @param stillNanos how long nothing has moved
	 * @return 0 or less if it is enough
	 */
	public long leftNanos(long mostNanos, long waitedNanos, long stillNanos) {
		if (this.timeoutNanos == 0) {
			return 0;
		}
		long turnNanos = Math.max(TURN_NANOS, this.timeoutNanos);
		return Math.min(mostNanos - waitedNanos, Math.max(this.timeoutNanos - waitedNanos, turnNanos - stillNanos));
	}

}
