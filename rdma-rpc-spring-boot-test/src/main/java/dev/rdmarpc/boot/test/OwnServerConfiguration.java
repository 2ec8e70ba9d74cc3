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

package dev.rdmarpc.boot.test;

import java.net.InetAddress;
import java.net.InetSocketAddress;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;

import dev.rdmarpc.boot.RdmaConnectionDetails;

/** Has all targets be the server of the test. */
@Configuration(proxyBeanMethods = false)
class OwnServerConfiguration {

	@Bean
	@Primary
	RdmaConnectionDetails ownServerConnectionDetails(Environment environment) {
		return (target) -> {
			Integer port = environment.getProperty("local.rdma.port", Integer.class);
			if (port == null) {
				throw new IllegalStateException("the server of this test is not running, which is target '" + target
						+ "' (expected: an @RdmaService among the beans of the test)");
			}
			return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
		};
	}

}
