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
import java.util.List;
import java.util.function.BiConsumer;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

import dev.rdmarpc.boot.RdmaAddressResolverFactory;
import dev.rdmarpc.boot.RdmaClientCustomizer;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaConnectionDetails;
import dev.rdmarpc.boot.RdmaPropertiesRefresh;
import dev.rdmarpc.boot.RdmaTargetConnectionDetails;
import dev.rdmarpc.boot.retry.RetryInterceptor;
import dev.rdmarpc.boot.retry.RetryListener;
import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.rpc.AttemptBudget;
import dev.rdmarpc.rpc.ContextPropagation;
import dev.rdmarpc.rpc.HedgingListener;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientInterceptor;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of the clients.
 */
@AutoConfiguration(after = { RdmaTransportAutoConfiguration.class, RdmaContextPropagationAutoConfiguration.class })
public final class RdmaClientAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	RdmaConnectionDetails rdmaConnectionDetails(RdmaRpcProperties properties, Environment environment,
			ObjectProvider<RdmaAddressResolverFactory> resolvers) {
		return new PropertiesRdmaConnectionDetails(properties, environment, resolvers.orderedStream().toList());
	}

	@Bean
	@ConditionalOnMissingBean(RdmaClients.class)
	DefaultRdmaClients rdmaClients(ObjectProvider<RdmaTransport> transport, MessageCodec codec,
			RdmaRpcProperties properties, ConnectionSecurity security, RdmaConnectionDetails connectionDetails,
			ObjectProvider<RdmaTargetConnectionDetails> targetDetails,
			ObjectProvider<RpcClientInterceptor> interceptors, ObjectProvider<ContextPropagation> propagation,
			ObjectProvider<HedgingListener> hedgingListeners, ObjectProvider<RdmaClientCustomizer> customizers,
			ConfigurableListableBeanFactory beans, Environment environment) {
		new ImportedNames(properties, beans, environment).check();
		properties.client().keySet().forEach((target) -> {
			ClientSettings.of(target, properties);
			ClientAddresses.of(target, properties);
			security.client(target);
			new ClientRetries(target, properties).check();
			new ClientMethodSettings(target, properties).check();
		});
		List<BiConsumer<String, RpcClient.Builder>> applied = new ArrayList<>();
		applied.add((target, client) -> {
			ClientMethodSettings settings = new ClientMethodSettings(target, properties);
			client.hedging(new AttemptBudget(settings.budget()), new HedgingListeners(hedgingListeners));
		});
		applied.add((target, client) -> propagation.ifAvailable(client::contextPropagation));
		applied.add((target, client) -> interceptors.orderedStream().forEach(client::interceptor));
		customizers.orderedStream().forEach((customizer) -> applied.add(customizer::customize));
		return new DefaultRdmaClients(new LazyTransport(transport, beans, "rdmaClients"), codec, properties, security,
				new TargetConnectionDetails(targetDetails.orderedStream().toList(), connectionDetails), applied);
	}

	@Bean
	@ConditionalOnMissingBean
	RetryInterceptor rdmaRetryInterceptor(RdmaRpcProperties properties, ObjectProvider<RetryListener> listeners) {
		return new RetryInterceptor((target, method) -> new ClientRetries(target, properties).settings(method),
				(target) -> new AttemptBudget(new ClientRetries(target, properties).budget()), (target, method, retry,
						failure) -> listeners.forEach((listener) -> listener.retrying(target, method, retry, failure)));
	}

	@Bean
	@ConditionalOnMissingBean(RdmaPropertiesRefresh.class)
	EnvironmentPropertiesRefresh rdmaPropertiesRefresh(Environment environment, RdmaRpcProperties properties,
			ObjectProvider<DefaultRdmaClients> clients, ObjectProvider<RdmaServerFactory> server) {
		return new EnvironmentPropertiesRefresh(environment, properties, clients, server);
	}

	@Bean
	@ConditionalOnMissingBean
	RequiredClientsConnector rdmaRequiredClientsConnector(RdmaClients clients, RdmaRpcProperties properties,
			ConfigurableListableBeanFactory beans, Environment environment) {
		return new RequiredClientsConnector(clients, properties, new ImportedNames(properties, beans, environment));
	}

}
