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

import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.balancing.DnsAddressResolver;
import dev.rdmarpc.boot.RdmaAddressResolverFactory;

/** {@code dns:///name:port}: all addresses of a name. */
class DnsAddressResolverFactory implements RdmaAddressResolverFactory {

	@Override
	public String scheme() {
		return "dns";
	}

	@Override
	public AddressResolver create(String location, Duration refreshInterval) {
		InetSocketAddress address = ClientAddresses.parse(location);
		if (address == null) {
			throw new IllegalArgumentException("dns:///name:port with a port from 1 to 65535");
		}
		return new DnsAddressResolver(address.getHostString(), address.getPort(), refreshInterval);
	}

}
