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

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.cloud.client.discovery.event.HeartbeatMonitor;
import org.springframework.context.ApplicationListener;

import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.boot.RdmaAddressResolverFactory;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Discovery;

/**
 * {@code discovery:///service}: the instances that a {@link DiscoveryClient} knows. A
 * heartbeat of the registry with another state has clients look them up at once.
 */
class DiscoveryAddressResolverFactory implements RdmaAddressResolverFactory, ApplicationListener<HeartbeatEvent> {

	private final DiscoveryClient client;

	private final Discovery keys;

	private final HeartbeatMonitor monitor = new HeartbeatMonitor();

	private final Set<DiscoveryAddressResolver> resolvers = ConcurrentHashMap.newKeySet();

	DiscoveryAddressResolverFactory(DiscoveryClient client, Discovery keys) {
		this.client = client;
		this.keys = keys;
	}

	@Override
	public String scheme() {
		return "discovery";
	}

	@Override
	public AddressResolver create(String location, Duration refreshInterval) {
		if (location.contains("/")) {
			throw new IllegalArgumentException("discovery:///service, the id of a service without a slash");
		}
		DiscoveryAddressResolver resolver = new DiscoveryAddressResolver(this.client, location, this.keys,
				refreshInterval, this.resolvers::remove);
		this.resolvers.add(resolver);
		return resolver;
	}

	@Override
	public void onApplicationEvent(HeartbeatEvent event) {
		if (this.monitor.update(event.getValue())) {
			this.resolvers.forEach(DiscoveryAddressResolver::refresh);
		}
	}

}
