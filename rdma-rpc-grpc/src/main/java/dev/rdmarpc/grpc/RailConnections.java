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

package dev.rdmarpc.grpc;

import java.net.InetSocketAddress;

import io.grpc.internal.ClientTransportFactory.ClientTransportOptions;

import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.verbs.VerbsException;

/**
 * Makes the connections to one address, over any rail.
 *
 * @param transport of the rails
 * @param settings of each connection
 * @param address of the peer
 * @param options of gRPC
 */
record RailConnections(RdmaTransport transport, ClientSettings settings, InetSocketAddress address,
		ClientTransportOptions options) {

	/** Whether there is a peer on a rail, as far as that is known at once. */
	boolean mayReach(Rail rail) {
		return rail.mayReach(this.address);
	}

	/**
	 * A connection, which is still to be started.
	 * @param last whether no other rail is left to be tried
	 * @throws VerbsException if it cannot be tried
	 */
	RdmaClientTransport over(Rail rail, boolean last) {
		return new RdmaClientTransport(this.transport, last ? this.settings : this.settings.forAttempt(), rail,
				this.address, this.options);
	}

}
