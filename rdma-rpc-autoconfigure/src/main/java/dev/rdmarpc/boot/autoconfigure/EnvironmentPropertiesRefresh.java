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

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;

import dev.rdmarpc.boot.RdmaPropertiesRefresh;

/**
 * Binds the properties again, on demand and when Spring Cloud says that the environment
 * has changed. Its event is known by name, so that nothing depends on its class. Which
 * properties have changed according to the event does not matter: a placeholder may refer
 * to one of them.
 */
class EnvironmentPropertiesRefresh implements RdmaPropertiesRefresh, GenericApplicationListener {

	private static final Logger logger = LoggerFactory.getLogger(EnvironmentPropertiesRefresh.class);

	private static final String EVENT = "org.springframework.cloud.context.environment.EnvironmentChangeEvent";

	private final Environment environment;

	/** What has been in effect since the start. */
	private final RdmaRpcProperties initial;

	private final ObjectProvider<DefaultRdmaClients> clients;

	private final ObjectProvider<RdmaServerFactory> server;

	/** What was seen last. */
	private RdmaRpcProperties seen;

	EnvironmentPropertiesRefresh(Environment environment, RdmaRpcProperties initial,
			ObjectProvider<DefaultRdmaClients> clients, ObjectProvider<RdmaServerFactory> server) {
		this.environment = environment;
		this.initial = initial;
		this.clients = clients;
		this.server = server;
		this.seen = initial;
	}

	@Override
	public synchronized Set<String> refresh() {
		RdmaRpcProperties bound = bind();
		DefaultRdmaClients refreshedClients = this.clients.getIfAvailable();
		RdmaServerFactory refreshedServer = this.server.getIfAvailable();
		if (refreshedClients != null) {
			refreshedClients.check(bound);
		}
		check(bound);
		boolean ofClients = refreshedClients != null;
		boolean ofServer = refreshedServer != null;
		Set<String> fixed = ChangedProperties.fixed(this.initial, bound, ofClients, ofServer);
		Set<String> untold = new TreeSet<>(fixed);
		untold.retainAll(ChangedProperties.fixed(this.seen, bound, ofClients, ofServer));
		if (refreshedClients != null) {
			refreshedClients.refresh(bound);
		}
		if (refreshedServer != null) {
			refreshedServer.refresh(bound);
		}
		this.seen = bound;
		if (!untold.isEmpty()) {
			logger.warn("Changed properties that take effect when the application is started again: {}",
					String.join(", ", untold));
		}
		return fixed;
	}

	/** What the start would refuse. */
	private static void check(RdmaRpcProperties bound) {
		PropertyMapping.memory(bound.memory());
		PropertyMapping.transport(bound);
		PropertyMapping.codec(bound.codec());
		PropertyMapping.iwarp(bound.iwarp(), bound.memory());
		PropertyMapping.shm(bound.shm());
		PropertyMapping.server(bound);
		ServerCallLog.check(bound.server());
		ConnectionSecurity.tokens(bound.server());
		if (bound.grpc().server().port() != null) {
			PropertyMapping.grpcAddress(bound.grpc().server());
		}
	}

	private RdmaRpcProperties bind() {
		return Binder.get(this.environment)
			.bindOrCreate("rdma.rpc", Bindable.of(RdmaRpcProperties.class),
					new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter()));
	}

	@Override
	public boolean supportsEventType(ResolvableType eventType) {
		Class<?> type = eventType.resolve();
		return type != null && type.getName().equals(EVENT);
	}

	/**
	 * Only logs what is wrong, because others wait for the event, and the values that are
	 * in effect remain so.
	 */
	@Override
	public void onApplicationEvent(ApplicationEvent event) {
		try {
			refresh();
		}
		catch (BindException | InvalidConfigurationPropertyValueException ex) {
			logger.error("Changed properties below 'rdma.rpc' are not valid, none of them takes effect: {}",
					describe(ex), ex);
		}
	}

	private static @Nullable String describe(Exception failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof UnboundConfigurationPropertiesException unknown) {
				return unknown.getUnboundProperties()
					.stream()
					.map((property) -> "there is no property '" + property.getName() + "'")
					.collect(Collectors.joining(", "));
			}
			if (cause instanceof InvalidConfigurationPropertyValueException invalid) {
				return "'" + invalid.getName() + "' is '" + Tokens.shown(invalid.getName(), invalid.getValue()) + "'. "
						+ invalid.getReason();
			}
		}
		ConfigurationProperty property = (failure instanceof BindException bind) ? bind.getProperty() : null;
		if (property == null) {
			return failure.getMessage();
		}
		Class<?> type = ((BindException) failure).getTarget().getType().resolve(Object.class);
		return "'" + property.getName() + "' is '" + Tokens.shown(property.getName().toString(), property.getValue())
				+ "'. Expected: "
				+ (type.isEnum() ? "one of " + List.of(type.getEnumConstants()) : type.getSimpleName()) + ".";
	}

}
