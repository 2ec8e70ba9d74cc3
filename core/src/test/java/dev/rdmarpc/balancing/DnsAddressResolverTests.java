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

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DnsAddressResolverTests {

	private static InetAddress named(String name, int last) throws UnknownHostException {
		return InetAddress.getByAddress(name, new byte[] { 10, 0, 0, (byte) last });
	}

	@Test
	void allAddressesOfTheNameAreFound() throws Exception {
		DnsAddressResolver resolver = new DnsAddressResolver("store.internal", 7471, Duration.ofSeconds(30),
				(host) -> new InetAddress[] { named(host, 1), named(host, 2), named(host, 1) });
		assertThat(resolver.resolve()).extracting((found) -> found.getAddress().getHostAddress())
			.containsExactly("10.0.0.1", "10.0.0.2");
		assertThat(resolver.resolve()).as("the name that certificates are checked against")
			.extracting(InetSocketAddress::getHostString)
			.containsOnly("store.internal");
		assertThat(resolver.resolve()).extracting(InetSocketAddress::getPort).containsOnly(7471);
		assertThat(resolver).hasToString("dns:///store.internal:7471");
		assertThat(resolver.refreshInterval()).isEqualTo(Duration.ofSeconds(30));
	}

	@Test
	void theSystemIsAskedUnlessThereIsAnotherNameService() throws Exception {
		assertThat(new DnsAddressResolver("localhost", 1, Duration.ZERO).resolve())
			.allSatisfy((found) -> assertThat(found.getAddress().isLoopbackAddress()).isTrue())
			.isNotEmpty();
	}

	@Test
	void aNameThatIsNotKnownIsAFailure() {
		DnsAddressResolver resolver = new DnsAddressResolver("nowhere", 1, Duration.ZERO, (host) -> {
			throw new UnknownHostException(host);
		});
		assertThatExceptionOfType(UnknownHostException.class).isThrownBy(resolver::resolve).withMessage("nowhere");
	}

}
