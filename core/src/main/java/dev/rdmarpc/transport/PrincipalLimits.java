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

/**
 * What a listener grants one principal, over all its connections, so that it leaves
 * something to others. Peers of whom nobody knows who they are are not counted.
 *
 * @param maxConnections how many connections it has at a time; further ones are rejected
 * @param maxCalls how many calls of it are in progress at a time
 * @param maxRequestBytes how many bytes the requests of its calls in progress have
 * together, and the messages of their streams that have arrived and were not consumed; a
 * single one may have more. Those of one address whom nobody knows may leave as many in
 * messages of streams
 */
public record PrincipalLimits(int maxConnections, int maxCalls, long maxRequestBytes) {

	/** Three quarters of the registered memory. */
	public static final long BY_MEMORY = 0;

	/**
	 * Three quarters of the connections of a server by default, 16384 calls, and three
	 * quarters of the registered memory.
	 */
	public static final PrincipalLimits DEFAULTS = new PrincipalLimits(768, 16_384, BY_MEMORY);

	/** No limits. */
	public static final PrincipalLimits NONE = new PrincipalLimits(Integer.MAX_VALUE, Integer.MAX_VALUE,
			Long.MAX_VALUE);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the values and what was expected
	 */
	public PrincipalLimits {
		if (maxConnections < 1 || maxCalls < 1 || maxRequestBytes < 0) {
			throw new IllegalArgumentException(maxConnections + " connections and " + maxCalls
					+ " calls of a principal (expected: both at least 1), " + maxRequestBytes
					+ " bytes in requests (expected: at least 0)");
		}
	}

}
