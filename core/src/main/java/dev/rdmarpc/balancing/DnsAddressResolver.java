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

package dev.rdmarpc.balancing;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * Asks the name service of the system for all addresses of a name, which certificates of
 * servers are checked against. How long the JDK keeps what the service says is decided by
 * its security property {@code networkaddress.cache.ttl}, 30 seconds unless it is set.
 */
public final class DnsAddressResolver implements AddressResolver {

	private final String host;

	private final int port;

	private final Duration refreshInterval;

	private final Lookup lookup;

	/**
	 * Creates a resolver.
	 * @param port the same at all addresses
	 * @param refreshInterval after what time to ask again; zero for only when a
	 * connection is lost
	 */
	public DnsAddressResolver(String host, int port, Duration refreshInterval) {
		this(host, port, refreshInterval, InetAddress::getAllByName);
	}

	/** Creates a resolver of another name service. */
	public DnsAddressResolver(String host, int port, Duration refreshInterval, Lookup lookup) {
		this.host = host;
		this.port = port;
		this.refreshInterval = refreshInterval;
		this.lookup = lookup;
	}

	@Override
	public List<InetSocketAddress> resolve() throws UnknownHostException {
		return Arrays.stream(this.lookup.lookUp(this.host))
			.map((address) -> new InetSocketAddress(address, this.port))
			.distinct()
			.toList();
	}

	@Override
	public Duration refreshInterval() {
		return this.refreshInterval;
	}

	@Override
	public String toString() {
		return "dns:///" + this.host + ":" + this.port;
	}

	/** A name service. */
	@FunctionalInterface
	public interface Lookup {

		/**
		 * All addresses of a name. May block.
		 * @throws UnknownHostException if there are none, or the service does not answer
		 */
		InetAddress[] lookUp(String host) throws UnknownHostException;

	}

}
