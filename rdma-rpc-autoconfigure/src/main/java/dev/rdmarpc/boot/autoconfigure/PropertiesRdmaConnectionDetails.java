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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.balancing.FixedAddresses;
import dev.rdmarpc.boot.RdmaAddressResolverFactory;
import dev.rdmarpc.boot.RdmaConnectionDetails;
import dev.rdmarpc.boot.autoconfigure.ClientAddresses.Location;

/** Takes the addresses of targets from properties. */
class PropertiesRdmaConnectionDetails implements RdmaConnectionDetails {

	private final RdmaRpcProperties properties;

	private final Environment environment;

	private final List<RdmaAddressResolverFactory> resolvers;

	/**
	 * Creates the details.
	 * @param resolvers the first for a scheme is used
	 */
	PropertiesRdmaConnectionDetails(RdmaRpcProperties properties, Environment environment,
			List<RdmaAddressResolverFactory> resolvers) {
		this.properties = properties;
		this.environment = environment;
		List<RdmaAddressResolverFactory> all = new ArrayList<>(resolvers);
		all.add(new DnsAddressResolverFactory());
		this.resolvers = all;
	}

	@Override
	public InetSocketAddress address(String target) {
		ClientSettings settings = ClientSettings.of(target, this.properties);
		if (settings.port() != 0) {
			return new InetSocketAddress(settings.host(), settings.port());
		}
		Integer own = this.environment.getProperty(RdmaServerLifecycle.LOCAL_PORT_PROPERTY, Integer.class);
		if (own == null) {
			throw new IllegalStateException("the server of this application is not running, and target '" + target
					+ "' has no port of its own");
		}
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), own);
	}

	@Override
	public @Nullable AddressResolver resolver(String target) {
		ClientAddresses addresses = ClientAddresses.of(target, this.properties);
		Location location = addresses.location();
		if (location != null) {
			return create(addresses, location);
		}
		return addresses.fixed().isEmpty() ? null : new FixedAddresses(addresses.fixed());
	}

	private AddressResolver create(ClientAddresses addresses, Location location) {
		RdmaAddressResolverFactory factory = this.resolvers.stream()
			.filter((candidate) -> candidate.scheme().equals(location.scheme()))
			.findFirst()
			.orElseThrow(() -> new InvalidConfigurationPropertyValueException(addresses.property(), location,
					"Expected: host:port, or a location whose scheme is one of "
							+ this.resolvers.stream().map(RdmaAddressResolverFactory::scheme).distinct().toList()
							+ ". The scheme 'discovery' needs a DiscoveryClient of Spring Cloud."));
		try {
			return factory.create(location.name(), addresses.resolutionInterval());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException(addresses.property(), location,
					"Expected: " + ex.getMessage() + ".");
		}
	}

}
