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

package dev.rdmarpc.boot.health;

import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthContributors;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * Contributes the transport, the server if there is one, and each client by the name of
 * its target.
 */
public class RdmaHealthContributor implements CompositeHealthContributor {

	private static final String TRANSPORT = "transport";

	private static final String SERVER = "server";

	private static final String CLIENT = "client.";

	private final Supplier<@Nullable RdmaTransport> transport;

	private final Supplier<@Nullable RpcServer> server;

	private final @Nullable RdmaClients clients;

	private final Predicate<String> required;

	/**
	 * Creates the contributor.
	 * @param transport queried on each request, since there may be none
	 * @param server queried on each request, since there may be none yet
	 * @param required whether the application requires a target
	 */
	public RdmaHealthContributor(Supplier<@Nullable RdmaTransport> transport, Supplier<@Nullable RpcServer> server,
			@Nullable RdmaClients clients, Predicate<String> required) {
		this.transport = transport;
		this.server = server;
		this.clients = clients;
		this.required = required;
	}

	@Override
	public @Nullable HealthContributor getContributor(String name) {
		return stream().filter((entry) -> entry.name().equals(name))
			.map(HealthContributors.Entry::contributor)
			.findFirst()
			.orElse(null);
	}

	@Override
	public Stream<Entry> stream() {
		Stream.Builder<Entry> entries = Stream.builder();
		RdmaTransport used = this.transport.get();
		if (used != null) {
			entries.add(new Entry(TRANSPORT, new RdmaTransportHealthIndicator(used)));
		}
		RpcServer current = this.server.get();
		if (current != null) {
			entries.add(new Entry(SERVER, new RdmaServerHealthIndicator(current)));
		}
		if (this.clients != null) {
			this.clients.clients().forEach((target, client) -> entries.add(entry(target, client)));
		}
		return entries.build();
	}

	private Entry entry(String target, RpcClient client) {
		return new Entry(CLIENT + target, new RdmaClientHealthIndicator(client, this.required.test(target)));
	}

}
