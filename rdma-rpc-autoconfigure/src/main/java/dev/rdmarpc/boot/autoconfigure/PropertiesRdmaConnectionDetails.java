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

import org.springframework.core.env.Environment;

import dev.rdmarpc.boot.RdmaConnectionDetails;

/** Takes hosts and ports from properties. */
class PropertiesRdmaConnectionDetails implements RdmaConnectionDetails {

	private final RdmaRpcProperties properties;

	private final Environment environment;

	PropertiesRdmaConnectionDetails(RdmaRpcProperties properties, Environment environment) {
		this.properties = properties;
		this.environment = environment;
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

}
