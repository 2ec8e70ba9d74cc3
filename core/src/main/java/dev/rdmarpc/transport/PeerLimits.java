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
 * What a listener grants the peers of one address, and one principal, so that they leave
 * something to others. Connections beyond it are rejected, and told which limit it was.
 *
 * @param maxConnections how many connections those of one address have at a time
 * @param maxConnectionsPerSecond how many they begin per second, on average
 * @param principal what one principal has
 * @param maxReplyBytes how many bytes one principal, or those of one address whom nobody
 * knows, leave in replies and in messages of streams that they have not taken yet; a
 * single one may have more. Or {@link #BY_MEMORY}.
 */
public record PeerLimits(int maxConnections, int maxConnectionsPerSecond, PrincipalLimits principal,
		long maxReplyBytes) {

	/**
	 * Half of the registered memory, or as much as one message may have if that is more.
	 */
	public static final long BY_MEMORY = 0;

	/** Three quarters of the connections of a server by default, and 1000 per second. */
	public static final PeerLimits DEFAULTS = new PeerLimits(768, 1000);

	/** No limits. */
	public static final PeerLimits NONE = new PeerLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, PrincipalLimits.NONE,
			Long.MAX_VALUE);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the values and what was expected
	 */
	public PeerLimits {
		if (maxConnections < 1 || maxConnectionsPerSecond < 1 || maxReplyBytes < 0) {
			throw new IllegalArgumentException(maxConnections + " connections of an address, " + maxConnectionsPerSecond
					+ " per second (expected: both at least 1), " + maxReplyBytes
					+ " bytes in replies (expected: at least 0)");
		}
	}

	/** Limits of addresses, and those of principals by default. */
	public PeerLimits(int maxConnections, int maxConnectionsPerSecond) {
		this(maxConnections, maxConnectionsPerSecond, PrincipalLimits.DEFAULTS, BY_MEMORY);
	}

	/** These limits with others of one principal. */
	public PeerLimits withPrincipal(PrincipalLimits other) {
		return new PeerLimits(this.maxConnections, this.maxConnectionsPerSecond, other, this.maxReplyBytes);
	}

	/** These limits with another one of replies. */
	public PeerLimits withMaxReplyBytes(long other) {
		return new PeerLimits(this.maxConnections, this.maxConnectionsPerSecond, this.principal, other);
	}

	/** These limits, with those made out that are by memory. */
	PeerLimits within(long memoryBytes, int messageBytes) {
		PeerLimits known = (this.maxReplyBytes != BY_MEMORY) ? this
				: withMaxReplyBytes(Math.max(memoryBytes / 2, messageBytes));
		if (this.principal.maxRequestBytes() != PrincipalLimits.BY_MEMORY) {
			return known;
		}
		return known.withPrincipal(new PrincipalLimits(this.principal.maxConnections(), this.principal.maxCalls(),
				Math.max(1, memoryBytes / 4 * 3)));
	}

}
