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

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Contexts with the auto-configurations of this module, on loopback and random ports. */
public final class RdmaContextRunner {

	private RdmaContextRunner() {
	}

	public static ApplicationContextRunner create() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, RdmaTransportAutoConfiguration.class,
					RdmaServerAutoConfiguration.class, RdmaValidationAutoConfiguration.class,
					RdmaClientAutoConfiguration.class, RdmaObservationAutoConfiguration.class,
					RdmaMetricsAutoConfiguration.class, RdmaHealthContributorAutoConfiguration.class,
					RdmaEndpointAutoConfiguration.class, RdmaContextPropagationAutoConfiguration.class))
			.withPropertyValues("rdma.rpc.server.address=127.0.0.1", "rdma.rpc.server.port=0",
					"rdma.rpc.client.default.port=0", "rdma.rpc.memory.initial=1MB", "rdma.rpc.memory.extent=1MB",
					"rdma.rpc.memory.leak-detection=paranoid");
	}

}
