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

import java.util.HashSet;
import java.util.List;

import dev.rdmarpc.verbs.ListenOptions;

/**
 * What a transport is opened with.
 *
 * @param providers names of the providers, each of which becomes a {@link Rail}, in order
 * of preference; or {@link #AUTO} alone
 * @param device name of the device, or an empty string for the default of each provider;
 * of several providers, those that have a device of that name open it
 * @param polling how loops wait
 * @param maxReceives receives posted at once for all peers of a loop
 * @param sendQueueDepth work requests outstanding per queue pair
 * @param readDepth RDMA Reads outstanding per queue pair and direction
 * @param scheduler how large transfers make way for other messages of a connection
 */
public record TransportOptions(List<String> providers, String device, PollingOptions polling, int maxReceives,
		int sendQueueDepth, int readDepth, SchedulerOptions scheduler) {

	/** The provider name that stands for all that are available. */
	public static final String AUTO = "auto";

	/** All providers that are available, each with its default device. */
	public static final TransportOptions DEFAULTS = new TransportOptions(AUTO, "", PollingOptions.DEFAULTS, 1 << 16,
			256, 16);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public TransportOptions {
		providers = List.copyOf(providers);
		if (providers.isEmpty() || providers.stream().anyMatch(String::isBlank)) {
			throw new IllegalArgumentException("providers " + providers + " (expected: names, or " + AUTO + ")");
		}
		if (new HashSet<>(providers).size() < providers.size() || (providers.size() > 1 && providers.contains(AUTO))) {
			throw new IllegalArgumentException(
					"providers " + providers + " (expected: each once, or " + AUTO + " alone)");
		}
		if (maxReceives < ChannelOptions.MIN_CREDITS || sendQueueDepth < ChannelOptions.MIN_CREDITS) {
			throw new IllegalArgumentException("queue depths " + maxReceives + " and " + sendQueueDepth
					+ " (expected: at least " + ChannelOptions.MIN_CREDITS + ")");
		}
		if (readDepth < 1) {
			throw new IllegalArgumentException("read depth " + readDepth + " (expected: at least 1)");
		}
	}

	/** Options with a single provider, or {@link #AUTO}. */
	public TransportOptions(String provider, String device, PollingOptions polling, int maxReceives, int sendQueueDepth,
			int readDepth) {
		this(List.of(provider), device, polling, maxReceives, sendQueueDepth, readDepth, SchedulerOptions.DEFAULTS);
	}

	/** The first of the {@link #providers()}. */
	public String provider() {
		return this.providers.get(0);
	}

	/** These options with several providers, in order of preference. */
	public TransportOptions withProviders(List<String> names) {
		return new TransportOptions(names, this.device, this.polling, this.maxReceives, this.sendQueueDepth,
				this.readDepth, this.scheduler);
	}

	/** These options with another provider, and no other. */
	public TransportOptions withProvider(String name, String deviceName) {
		return new TransportOptions(List.of(name), deviceName, this.polling, this.maxReceives, this.sendQueueDepth,
				this.readDepth, this.scheduler);
	}

	/** These options with another way of waiting. */
	public TransportOptions withPolling(PollingOptions other) {
		return new TransportOptions(this.providers, this.device, other, this.maxReceives, this.sendQueueDepth,
				this.readDepth, this.scheduler);
	}

	/** These options with another scheduler. */
	public TransportOptions withScheduler(SchedulerOptions other) {
		return new TransportOptions(this.providers, this.device, this.polling, this.maxReceives, this.sendQueueDepth,
				this.readDepth, other);
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
