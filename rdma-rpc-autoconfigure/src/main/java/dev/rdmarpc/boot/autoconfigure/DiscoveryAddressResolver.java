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

package dev.rdmarpc.boot.autoconfigure;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;

import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Discovery;
import dev.rdmarpc.logging.RateLimitedLogger;

/**
 * Finds the instances of a service that announce a port for RDMA in their metadata. The
 * port of an instance is usually that of its web server, so it is not used.
 */
class DiscoveryAddressResolver implements AddressResolver {

	private static final Logger logger = LoggerFactory.getLogger(DiscoveryAddressResolver.class);

	private static final RateLimitedLogger omissions = new RateLimitedLogger(logger);

	private final DiscoveryClient client;

	private final String serviceId;

	private final Discovery keys;

	private final Duration refreshInterval;

	private final Consumer<DiscoveryAddressResolver> closed;

	private volatile Map<InetSocketAddress, String> zones = Map.of();

	private volatile Runnable changed = () -> {
	};

	/**
	 * Creates a resolver.
	 * @param keys of the metadata that has the port and the zone
	 * @param closed is told when nobody asks any more
	 */
	DiscoveryAddressResolver(DiscoveryClient client, String serviceId, Discovery keys, Duration refreshInterval,
			Consumer<DiscoveryAddressResolver> closed) {
		this.client = client;
		this.serviceId = serviceId;
		this.keys = keys;
		this.refreshInterval = refreshInterval;
		this.closed = closed;
	}

	@Override
	public List<InetSocketAddress> resolve() {
		List<InetSocketAddress> addresses = new ArrayList<>();
		Map<InetSocketAddress, String> found = new HashMap<>();
		List<ServiceInstance> instances = this.client.getInstances(this.serviceId);
		for (ServiceInstance instance : instances) {
			String port = metadata(instance, this.keys.portKey());
			InetSocketAddress address = (port != null) ? ClientAddresses.of(instance.getHost(), port) : null;
			if (address != null) {
				addresses.add(address);
				found.put(address, Objects.requireNonNullElse(metadata(instance, this.keys.zoneKey()), ""));
			}
			else {
				omissions.log(Level.WARN,
						"Instance {}:{} of service '{}' is not used: its metadata '{}' is {} (expected: a port)",
						instance.getHost(), instance.getPort(), this.serviceId, this.keys.portKey(), port);
			}
		}
		if (addresses.isEmpty() && !instances.isEmpty()) {
			throw new IllegalStateException("none of " + instances.size() + " instances has a port in its metadata '"
					+ this.keys.portKey() + "'");
		}
		this.zones = found;
		return addresses;
	}

	private static @Nullable String metadata(ServiceInstance instance, String key) {
		return (instance.getMetadata() != null) ? instance.getMetadata().get(key) : null;
	}

	@Override
	public String zone(InetSocketAddress address) {
		return this.zones.getOrDefault(address, "");
	}

	@Override
	public Duration refreshInterval() {
		return this.refreshInterval;
	}

	@Override
	public void onChange(Runnable told) {
		this.changed = told;
	}

	/** The registry may have changed. */
	void refresh() {
		this.changed.run();
	}

	@Override
	public void close() {
		this.closed.accept(this);
	}

	@Override
	public String toString() {
		return "discovery:///" + this.serviceId;
	}

}
