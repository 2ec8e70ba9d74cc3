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

package dev.rdmarpc.verbs;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Bounds of a listener.
 *
 * @param backlog connections the system may queue before the listener sees them
 * @param maxPendingHandshakes maximum number of half-open connections; beyond it, a
 * provider that sees connections before their request closes those that have waited for
 * it for longest, and other providers close the new ones
 * @param maxConnections maximum number of established connections; more are rejected,
 * with the reason in ASCII as private data
 * @param handshakeTimeoutNanos time for a peer to finish its part of the setup
 * @param tls how connections are protected, or {@code null} if they are not
 * @param admission asked by the address of each connection that is to have TLS whether
 * its handshake may begin, before anything is computed for it; others are closed without
 * a word. Called on a thread of the provider, which it must not block. {@code null} if
 * all may begin
 * @param dropped told the address and the reason of each connection that is closed before
 * it was one, because of what the peer has sent, or has not sent in time. Called on a
 * thread of the provider, which it must not block. {@code null} if nobody wants to know
 */
public record ListenOptions(int backlog, int maxPendingHandshakes, int maxConnections, long handshakeTimeoutNanos,
		@Nullable TlsOptions tls, @Nullable Predicate<InetSocketAddress> admission,
		@Nullable BiConsumer<InetSocketAddress, String> dropped) {

	/** 128 in the backlog, 256 half-open, 4096 established, five seconds. */
	public static final ListenOptions DEFAULTS = new ListenOptions(128, 256, 4096, Duration.ofSeconds(5).toNanos());

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public ListenOptions {
		if (backlog <= 0 || maxPendingHandshakes <= 0 || maxConnections <= 0 || handshakeTimeoutNanos <= 0) {
			throw new IllegalArgumentException("listener bounds " + backlog + ", " + maxPendingHandshakes + ", "
					+ maxConnections + ", " + handshakeTimeoutNanos + " ns (expected: all positive)");
		}
	}

	/** Options without TLS. */
	public ListenOptions(int backlog, int maxPendingHandshakes, int maxConnections, long handshakeTimeoutNanos) {
		this(backlog, maxPendingHandshakes, maxConnections, handshakeTimeoutNanos, null, null, null);
	}

	/** These options with other protection. */
	public ListenOptions withTls(@Nullable TlsOptions other) {
		return new ListenOptions(this.backlog, this.maxPendingHandshakes, this.maxConnections,
				this.handshakeTimeoutNanos, other, this.admission, this.dropped);
	}

	/** These options with another {@link #admission()}. */
	public ListenOptions withAdmission(@Nullable Predicate<InetSocketAddress> other) {
		return new ListenOptions(this.backlog, this.maxPendingHandshakes, this.maxConnections,
				this.handshakeTimeoutNanos, this.tls, other, this.dropped);
	}

	/** These options with another {@link #dropped()}. */
	public ListenOptions withDropped(@Nullable BiConsumer<InetSocketAddress, String> other) {
		return new ListenOptions(this.backlog, this.maxPendingHandshakes, this.maxConnections,
				this.handshakeTimeoutNanos, this.tls, this.admission, other);
	}

}
