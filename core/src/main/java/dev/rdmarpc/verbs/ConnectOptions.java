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

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * One side's parameters for setting up a connection.
 *
 * @param privateData sent to the peer, at most {@link #MAX_PRIVATE_DATA_BYTES}
 * @param readDepth RDMA Reads this side wants to have outstanding (ORD)
 * @param responderResources RDMA Reads of the peer this side serves at once (IRD)
 * @param timeoutNanos for the whole setup
 * @param tls how the connection is protected, or {@code null} if it is not; for
 * connecting sides
 * @param target what the connecting side calls the peer, empty if it has no name for it;
 * not sent, for providers that treat targets differently
 */
public record ConnectOptions(byte[] privateData, int readDepth, int responderResources, long timeoutNanos,
		@Nullable TlsOptions tls, String target) {

	/** The most private data every provider carries. */
	public static final int MAX_PRIVATE_DATA_BYTES = 56;

	/** No private data, 16 Reads each way, five seconds. */
	public static final ConnectOptions DEFAULTS = new ConnectOptions(new byte[0], 16, 16,
			Duration.ofSeconds(5).toNanos());

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public ConnectOptions {
		if (privateData.length > MAX_PRIVATE_DATA_BYTES) {
			throw new IllegalArgumentException("private data of " + privateData.length + " bytes (expected: at most "
					+ MAX_PRIVATE_DATA_BYTES + ")");
		}
		if (readDepth < 0 || responderResources < 0) {
			throw new IllegalArgumentException(
					"read depths " + readDepth + "/" + responderResources + " (expected: at least 0)");
		}
		if (timeoutNanos <= 0) {
			throw new IllegalArgumentException("timeout of " + timeoutNanos + " ns (expected: positive)");
		}
	}

	/** Options without TLS. */
	public ConnectOptions(byte[] privateData, int readDepth, int responderResources, long timeoutNanos) {
		this(privateData, readDepth, responderResources, timeoutNanos, null);
	}

	/** Options for a peer without a name. */
	public ConnectOptions(byte[] privateData, int readDepth, int responderResources, long timeoutNanos,
			@Nullable TlsOptions tls) {
		this(privateData, readDepth, responderResources, timeoutNanos, tls, "");
	}

	/** These options with other private data. */
	public ConnectOptions withPrivateData(byte[] data) {
		return new ConnectOptions(data, this.readDepth, this.responderResources, this.timeoutNanos, this.tls,
				this.target);
	}

	/** These options with another timeout. */
	public ConnectOptions withTimeout(Duration timeout) {
		return new ConnectOptions(this.privateData, this.readDepth, this.responderResources, timeout.toNanos(),
				this.tls, this.target);
	}

	/** These options with other protection. */
	public ConnectOptions withTls(@Nullable TlsOptions other) {
		return new ConnectOptions(this.privateData, this.readDepth, this.responderResources, this.timeoutNanos, other,
				this.target);
	}

	/** These options with another {@link #target()}. */
	public ConnectOptions withTarget(String name) {
		return new ConnectOptions(this.privateData, this.readDepth, this.responderResources, this.timeoutNanos,
				this.tls, name);
	}

}
