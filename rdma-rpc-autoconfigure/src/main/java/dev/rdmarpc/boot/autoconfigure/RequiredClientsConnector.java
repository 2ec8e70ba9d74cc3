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

import org.springframework.context.SmartLifecycle;

import dev.rdmarpc.boot.RdmaClients;

/**
 * Connects the required targets once the application has started, instead of on the first
 * call.
 */
class RequiredClientsConnector implements SmartLifecycle {

	private final RdmaClients clients;

	private final RdmaRpcProperties properties;

	private final ImportedNames names;

	private volatile boolean running;

	RequiredClientsConnector(RdmaClients clients, RdmaRpcProperties properties, ImportedNames names) {
		this.clients = clients;
		this.properties = properties;
		this.names = names;
	}

	@Override
	public void start() {
		for (String target : this.properties.client().keySet()) {
			if (this.names.isAnotherForm(target)) {
				continue;
			}
			boolean needed = !this.names.isChannelOnly(target) || ClientSettings.of(target, this.properties).required();
			if (needed && !target.equals(RdmaRpcProperties.DEFAULT_CLIENT)) {
				this.clients.client(target);
			}
		}
		this.clients.clients().forEach((target, client) -> {
			if (ClientSettings.of(target, this.properties).required()) {
				client.connect();
			}
		});
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/** After the application's own server, which may be among the targets. */
	@Override
	public int getPhase() {
		return RdmaServerLifecycle.PHASE + 1;
	}

}
