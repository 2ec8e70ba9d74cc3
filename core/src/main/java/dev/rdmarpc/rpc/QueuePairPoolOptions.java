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

/**
 * How many queue pairs a client keeps to its target.
 *
 * @param min minimum number while the client is in use, from 1 to {@value #MOST}
 * @param max maximum number, reached under load
 * @param callsPerQueuePair outstanding calls on the least busy queue pair at which
 * another one is added
 * @param idleTimeout time without calls after which an additional queue pair is closed
 * @param loops loops, each with a thread, that the queue pairs are spread over in turn,
 * at most {@code max}; clients of a transport share them
 */
public record QueuePairPoolOptions(int min, int max, int callsPerQueuePair, Duration idleTimeout, int loops) {

	/** The most queue pairs of a client. */
	public static final int MOST = 256;

	/** One, up to four when each has 256 calls outstanding; one minute; one loop. */
	public static final QueuePairPoolOptions DEFAULTS = new QueuePairPoolOptions(1, 4, 256, Duration.ofMinutes(1));

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public QueuePairPoolOptions {
		if (min < 1 || max < min || max > MOST) {
			throw new IllegalArgumentException(
					"queue pairs " + min + " to " + max + " (expected: 1 to " + MOST + ", the second not less)");
		}
		if (callsPerQueuePair < 1) {
			throw new IllegalArgumentException("calls per queue pair " + callsPerQueuePair + " (expected: at least 1)");
		}
		if (idleTimeout.isNegative() || idleTimeout.isZero()) {
			throw new IllegalArgumentException("idle timeout " + idleTimeout + " (expected: positive)");
		}
		if (loops < 1 || loops > max) {
			throw new IllegalArgumentException(
					loops + " loops (expected: 1 to " + max + ", the maximum number of queue pairs)");
		}
	}

	/** Queue pairs on one loop. */
	public QueuePairPoolOptions(int min, int max, int callsPerQueuePair, Duration idleTimeout) {
		this(min, max, callsPerQueuePair, idleTimeout, 1);
	}

	/** A fixed number of queue pairs, on one loop. */
	public static QueuePairPoolOptions fixed(int count) {
		return new QueuePairPoolOptions(count, count, DEFAULTS.callsPerQueuePair, DEFAULTS.idleTimeout);
	}

	/** These options with another number of loops. */
	public QueuePairPoolOptions withLoops(int other) {
		return new QueuePairPoolOptions(this.min, this.max, this.callsPerQueuePair, this.idleTimeout, other);
	}

}
