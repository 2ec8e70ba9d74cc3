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

package dev.rdmarpc.boot.connection;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Set;

import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.util.StringUtils;

import dev.rdmarpc.boot.RdmaTargetConnectionDetails;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties;

/**
 * Has targets be the server in a service of Docker Compose whose image is called
 * {@code rdma-rpc}, or that has the label
 * {@code org.springframework.boot.service-connection: rdma-rpc}.
 */
class RdmaDockerComposeConnectionDetailsFactory
		extends DockerComposeConnectionDetailsFactory<RdmaTargetConnectionDetails> {

	/** Names the targets, with commas between them; the name of the service if absent. */
	static final String TARGET_LABEL = "dev.rdmarpc.target";

	/** The port in the container. */
	static final String PORT_LABEL = "dev.rdmarpc.port";

	RdmaDockerComposeConnectionDetailsFactory() {
		super("rdma-rpc");
	}

	@Override
	protected RdmaTargetConnectionDetails getDockerComposeConnectionDetails(DockerComposeConnectionSource source) {
		return new ServerInService(source.getRunningService());
	}

	/** The details of one service. */
	static final class ServerInService extends DockerComposeConnectionDetailsFactory.DockerComposeConnectionDetails
			implements RdmaTargetConnectionDetails {

		private final String name;

		private final Set<String> targets;

		private final InetSocketAddress address;

		ServerInService(RunningService service) {
			super(service);
			this.name = service.name();
			String targets = service.labels().getOrDefault(TARGET_LABEL, service.name());
			this.targets = Set.copyOf(Arrays.asList(StringUtils.tokenizeToStringArray(targets, ",")));
			this.address = new InetSocketAddress(service.host(), port(service));
		}

		private static int port(RunningService service) {
			String label = service.labels().get(PORT_LABEL);
			if (label != null) {
				return service.ports().get(number(label, service));
			}
			try {
				return service.ports().get(RdmaRpcProperties.DEFAULT_PORT);
			}
			catch (IllegalStateException ex) {
				return ServerPorts.choose(service.ports().getAll("tcp"), "the service '" + service.name() + "'");
			}
		}

		private static int number(String label, RunningService service) {
			try {
				return Integer.parseInt(label.trim());
			}
			catch (NumberFormatException ex) {
				throw new IllegalStateException("the service '" + service.name() + "' has the label " + PORT_LABEL
						+ ": " + label + " (expected: the port of the RDMA server in its container)", ex);
			}
		}

		@Override
		public boolean locates(String target) {
			return this.targets.contains(target);
		}

		@Override
		public InetSocketAddress address() {
			return this.address;
		}

		@Override
		public String toString() {
			return "service '" + this.name + "' of Docker Compose";
		}

	}

}
