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

package dev.rdmarpc.boot.guide;

import java.net.InetSocketAddress;
import java.time.Duration;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.rdmarpc.boot.RdmaClientCustomizer;
import dev.rdmarpc.boot.RdmaConnectionDetails;
import dev.rdmarpc.boot.RdmaServerCustomizer;
import dev.rdmarpc.boot.observation.DefaultRdmaClientObservationConvention;

@Configuration(proxyBeanMethods = false)
class TransportConfiguration {

	@Bean
	RdmaServerCustomizer secondName(PriceTable table) {
		return (server) -> server.service("prices.v1", Prices.class, table);
	}

	@Bean
	RdmaClientCustomizer eagerToReconnect() {
		return RdmaClientCustomizer.of("prices",
				(client) -> client.options((set) -> set.withBackoff(Duration.ofMillis(10), Duration.ofSeconds(1))));
	}

	@Bean
	RdmaConnectionDetails connectionDetails(Directory directory) {
		return (target) -> {
			InetSocketAddress address = directory.lookUp(target);
			if (address == null) {
				throw new IllegalStateException("the directory does not know " + target);
			}
			return address;
		};
	}

	@Bean
	DefaultRdmaClientObservationConvention shorterNames() {
		return new DefaultRdmaClientObservationConvention() {

			@Override
			public String getName() {
				return "calls";
			}

		};
	}

}
