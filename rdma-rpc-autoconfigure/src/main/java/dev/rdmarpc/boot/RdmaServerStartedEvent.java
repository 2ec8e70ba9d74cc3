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

package dev.rdmarpc.boot;

import java.net.InetSocketAddress;
import java.util.List;

import org.springframework.context.ApplicationEvent;

import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.ListeningRail;

/**
 * Published when an application's server listens, for example to register it with a
 * service directory.
 */
@SuppressWarnings("serial")
public class RdmaServerStartedEvent extends ApplicationEvent {

	private final InetSocketAddress address;

	private final List<ListeningRail> rails;

	/** Creates the event for a running server. */
	public RdmaServerStartedEvent(RpcServer server) {
		super(server);
		this.address = server.address();
		this.rails = server.rails();
	}

	/** The server. */
	public RpcServer getServer() {
		return (RpcServer) getSource();
	}

	/** The address it listens on, with the actual port. */
	public InetSocketAddress getAddress() {
		return this.address;
	}

	/** Which rails of the transport the server listens on, and why not on others. */
	public List<ListeningRail> getRails() {
		return this.rails;
	}

}
