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

import dev.rdmarpc.verbs.ListenOptions;

/**
 * What a transport is opened with.
 *
 * @param provider name of the provider, or {@link #AUTO}
 * @param device name of the device, or an empty string for the provider's default
 * @param polling how loops wait
 * @param maxReceives receives posted at once for all peers of a loop
 * @param sendQueueDepth work requests outstanding per queue pair
 * @param readDepth RDMA Reads outstanding per queue pair and direction
 */
public record TransportOptions(String provider, String device, PollingOptions polling, int maxReceives,
		int sendQueueDepth, int readDepth) {

	/** The provider name that stands for the best available one. */
	public static final String AUTO = "auto";

	/** The best provider and its default device. */
	public static final TransportOptions DEFAULTS = new TransportOptions(AUTO, "", PollingOptions.DEFAULTS, 1 << 16,
			256, 16);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public TransportOptions {
		if (provider.isBlank()) {
			throw new IllegalArgumentException("provider '" + provider + "' (expected: a name or " + AUTO + ")");
		}
		if (maxReceives < ChannelOptions.MIN_CREDITS || sendQueueDepth < ChannelOptions.MIN_CREDITS) {
			throw new IllegalArgumentException("queue depths " + maxReceives + " and " + sendQueueDepth
					+ " (expected: at least " + ChannelOptions.MIN_CREDITS + ")");
		}
		if (readDepth < 1) {
			throw new IllegalArgumentException("read depth " + readDepth + " (expected: at least 1)");
		}
	}

	/** These options with another provider. */
	public TransportOptions withProvider(String name, String deviceName) {
		return new TransportOptions(name, deviceName, this.polling, this.maxReceives, this.sendQueueDepth,
				this.readDepth);
	}

	/** These options with another way of waiting. */
	public TransportOptions withPolling(PollingOptions other) {
		return new TransportOptions(this.provider, this.device, other, this.maxReceives, this.sendQueueDepth,
				this.readDepth);
	}

	/**
	 * The bounds of a listener. The device counts connections until they have gone, so it
	 * is allowed twice as many as there may be channels.
	 */
	ListenOptions listenOptions(int maxConnections, ChannelOptions channel) {
		return new ListenOptions(ListenOptions.DEFAULTS.backlog(), ListenOptions.DEFAULTS.maxPendingHandshakes(),
				(int) Math.min(Integer.MAX_VALUE, 2L * maxConnections), channel.handshakeTimeoutNanos())
			.withTls(channel.security().tls());
	}

}
