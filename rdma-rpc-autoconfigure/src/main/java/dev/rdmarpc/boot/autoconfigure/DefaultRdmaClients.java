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

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * The clients that properties describe. They are closed after the beans that use them, so
 * that these beans can make calls until they are destroyed. Calls that are still
 * outstanding then fail.
 */
class DefaultRdmaClients implements RdmaClients, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(DefaultRdmaClients.class);

	private final Supplier<RdmaTransport> transport;

	private final MessageCodec codec;

	private final RdmaRpcProperties properties;

	/** For what can change at run time. */
	private volatile RdmaRpcProperties current;

	private final ConnectionSecurity security;

	private final TargetConnectionDetails connectionDetails;

	private final List<? extends BiConsumer<String, RpcClient.Builder>> customizers;

	private final Map<String, RpcClient> clients = new LinkedHashMap<>();

	private final List<BiConsumer<String, RpcClient>> consumers = new ArrayList<>();

	private boolean closed;

	DefaultRdmaClients(Supplier<RdmaTransport> transport, MessageCodec codec, RdmaRpcProperties properties,
			ConnectionSecurity security, TargetConnectionDetails connectionDetails,
			List<? extends BiConsumer<String, RpcClient.Builder>> customizers) {
		this.transport = transport;
		this.codec = codec;
		this.properties = properties;
		this.current = properties;
		this.security = security;
		this.connectionDetails = connectionDetails;
		this.customizers = customizers;
	}

	@Override
	public RpcClient client(String target) {
		RpcClient known = known(target);
		return (known != null) ? known : client(target, this.transport.get());
	}

	private synchronized @Nullable RpcClient known(String target) {
		if (this.closed) {
			throw new IllegalStateException("the clients are closed");
		}
		return this.clients.get(target);
	}

	/** The transport is given, because opening it may have to wait for other beans. */
	private synchronized RpcClient client(String target, RdmaTransport opened) {
		RpcClient client = known(target);
		if (client == null) {
			RpcClient made = build(target, opened);
			client = made;
			this.clients.put(target, made);
			this.consumers.forEach((consumer) -> consumer.accept(target, made));
		}
		return client;
	}

	private RpcClient build(String target, RdmaTransport opened) {
		ClientSettings settings = ClientSettings.of(target, this.properties);
		RpcClientOptions options = secured(target, settings.options()
			.withDefaultDeadline(ClientSettings.of(target, this.current).options().defaultDeadline()));
		ClientSettings.checkRails(target, this.properties, opened, options.channel());
		RpcClient.Builder builder = RpcClient.builder()
			.transport(opened)
			.codec(this.codec)
			.options(options)
			.methodOptions((method) -> new ClientMethodSettings(target, this.current).of(method));
		ClientAddresses addresses = ClientAddresses.of(target, this.properties);
		AddressResolver resolver = this.connectionDetails.resolver(target);
		if (resolver != null) {
			builder.addresses(target, resolver).loadBalancer(addresses.balancer()).outliers(addresses.outliers());
		}
		else {
			builder.target(target, () -> this.connectionDetails.address(target));
		}
		this.customizers.forEach((customizer) -> customizer.accept(target, builder));
		String owner = this.connectionDetails.describe(target);
		if (owner != null) {
			logger.info("Calls to '{}' go where {} says", target, owner);
		}
		else if (this.connectionDetails.areProperties(target)) {
			boolean configured = this.properties.client(target) != null
					|| this.properties.client(RdmaRpcProperties.DEFAULT_CLIENT) != null;
			logger.info("Calls to '{}' go to {}{}", target, addresses.isGiven() ? addresses : place(settings),
					configured ? "" : ", the default: there are no properties 'rdma.rpc.client." + target + "'");
		}
		return builder.build();
	}

	@Override
	public void defaultDeadline(String target, Duration deadline) {
		RpcClient client = client(target);
		Duration before = client.defaultDeadline();
		client.defaultDeadline(deadline);
		logger.info("Default deadline of calls to '{}' changed from {} to {}", target, before, deadline);
	}

	/**
	 * Checks all properties of clients, also against the methods that are called.
	 * @throws org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException
	 * if one is not valid
	 */
	void check(RdmaRpcProperties changed) {
		changed.client().keySet().forEach((target) -> check(target, changed));
		clients().forEach((target, client) -> {
			check(target, changed);
			ClientMethodSettings settings = new ClientMethodSettings(target, changed);
			client.methods().forEach(settings::of);
		});
	}

	private static void check(String target, RdmaRpcProperties properties) {
		ClientSettings.of(target, properties);
		ClientAddresses.of(target, properties);
		new ClientRetries(target, properties).check();
		new ClientMethodSettings(target, properties).check();
	}

	/**
	 * Applies what can change at run time. A deadline that was changed otherwise is left
	 * alone, unless its property has changed.
	 * @param changed have been checked
	 */
	synchronized void refresh(RdmaRpcProperties changed) {
		RdmaRpcProperties before = this.current;
		this.current = changed;
		this.clients.forEach((target, client) -> {
			Duration deadline = ClientSettings.of(target, changed).options().defaultDeadline();
			if (!deadline.equals(ClientSettings.of(target, before).options().defaultDeadline())) {
				defaultDeadline(target, deadline);
			}
			ClientMethodSettings settings = new ClientMethodSettings(target, changed);
			ClientMethodSettings old = new ClientMethodSettings(target, before);
			if (client.methods().stream().anyMatch((method) -> !Objects.equals(settings.of(method), old.of(method)))) {
				client.refreshMethodOptions();
				logger.info("Deadlines or hedging of methods of '{}' changed", target);
			}
		});
	}

	private static String place(ClientSettings settings) {
		return (settings.port() != 0) ? settings.host() + ":" + settings.port() : "the server of this application";
	}

	private RpcClientOptions secured(String target, RpcClientOptions options) {
		return options.withChannel(options.channel().withSecurity(this.security.client(target)));
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
