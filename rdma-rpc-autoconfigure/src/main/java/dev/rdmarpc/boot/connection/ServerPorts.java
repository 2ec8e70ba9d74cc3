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

import java.util.Collection;

import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties;

/** Which port of a container is that of the server in it. */
final class ServerPorts {

	private ServerPorts() {
	}

	/**
	 * Chooses the port that servers have by default, else the only one.
	 * @param ports that the container exposes
	 * @param container for the message
	 * @throws IllegalStateException if neither is there
	 */
	static int choose(Collection<Integer> ports, String container) {
		if (ports.contains(RdmaRpcProperties.DEFAULT_PORT)) {
			return RdmaRpcProperties.DEFAULT_PORT;
		}
		if (ports.size() == 1) {
			return ports.iterator().next();
		}
		throw new IllegalStateException(container + " exposes the ports " + ports + " (expected: "
				+ RdmaRpcProperties.DEFAULT_PORT + " among them, or only the port of the RDMA server)");
	}

}
