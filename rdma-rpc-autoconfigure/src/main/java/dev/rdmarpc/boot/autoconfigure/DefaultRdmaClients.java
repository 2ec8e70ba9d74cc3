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

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaConnectionDetails;
import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * The clients that properties describe. They are closed after the beans that use them, so
 * that these beans can make calls until they are destroyed. Calls that are still
 * outstanding then fail.
 */
class DefaultRdmaClients implements RdmaClients, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(DefaultRdmaClients.class);

	private final RdmaTransport transport;

	private final MessageCodec codec;

	private final RdmaRpcProperties properties;

	private final RdmaConnectionDetails connectionDetails;

	private final List<? extends BiConsumer<String, RpcClient.Builder>> customizers;

	private final Map<String, RpcClient> clients = new LinkedHashMap<>();

	private final List<BiConsumer<String, RpcClient>> consumers = new ArrayList<>();

	private boolean closed;

	DefaultRdmaClients(RdmaTransport transport, MessageCodec codec, RdmaRpcProperties properties,
			RdmaConnectionDetails connectionDetails,
			List<? extends BiConsumer<String, RpcClient.Builder>> customizers) {
		this.transport = transport;
		this.codec = codec;
		this.properties = properties;
		this.connectionDetails = connectionDetails;
		this.customizers = customizers;
	}

	@Override
	public synchronized RpcClient client(String target) {
		if (this.closed) {
			throw new IllegalStateException("the clients are closed");
		}
		RpcClient client = this.clients.get(target);
		if (client == null) {
			RpcClient made = build(target);
			client = made;
			this.clients.put(target, made);
			this.consumers.forEach((consumer) -> consumer.accept(target, made));
		}
		return client;
	}

	private RpcClient build(String target) {
		ClientSettings settings = ClientSettings.of(target, this.properties);
		RpcClient.Builder builder = RpcClient.builder()
			.transport(this.transport)
			.codec(this.codec)
			.options(settings.options())
			.target(target, () -> this.connectionDetails.address(target));
		this.customizers.forEach((customizer) -> customizer.accept(target, builder));
		if (this.connectionDetails instanceof PropertiesRdmaConnectionDetails) {
			boolean configured = this.properties.client().containsKey(target)
					|| this.properties.client().containsKey(RdmaRpcProperties.DEFAULT_CLIENT);
			logger.info("Calls to '{}' go to {}{}", target,
					(settings.port() != 0) ? settings.host() + ":" + settings.port() : "the server of this application",
					configured ? "" : ", the default: there are no properties 'rdma.rpc.client." + target + "'");
		}
		return builder.build();
	}

	@Override
	public synchronized Map<String, RpcClient> clients() {
		return new LinkedHashMap<>(this.clients);
	}

	@Override
	public synchronized void onClient(BiConsumer<String, RpcClient> consumer) {
		this.consumers.add(consumer);
		this.clients.forEach(consumer);
	}

	@Override
	public void close() {
		Map<String, RpcClient> closing;
		synchronized (this) {
			this.closed = true;
			closing = clients();
		}
		closing.values().forEach(RpcClient::close);
	}

}
