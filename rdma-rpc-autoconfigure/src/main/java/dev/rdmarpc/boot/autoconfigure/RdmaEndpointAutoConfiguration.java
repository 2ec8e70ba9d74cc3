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

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.autoconfigure.info.InfoContributorFallback;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaServerControl;
import dev.rdmarpc.boot.endpoint.RdmaEndpoint;
import dev.rdmarpc.boot.endpoint.RdmaInfoContributor;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of the Actuator endpoint
 * {@code rdma} and of the contribution to {@code info}.
 */
@AutoConfiguration(after = { RdmaServerAutoConfiguration.class, RdmaClientAutoConfiguration.class })
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnBean(RdmaTransport.class)
public final class RdmaEndpointAutoConfiguration {

	/** Hides tokens from the endpoints that show properties, whatever they show. */
	@Bean
	@ConditionalOnMissingBean(name = "rdmaTokenSanitizingFunction")
	SanitizingFunction rdmaTokenSanitizingFunction() {
		return (data) -> Tokens.isNameOf(data.getKey()) ? data.withSanitizedValue() : data;
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnAvailableEndpoint
	RdmaEndpoint rdmaEndpoint(ProviderSelection selection, BeanFactory beans, ObjectProvider<RpcServer> server,
			ObjectProvider<RdmaServerControl> control, ObjectProvider<RdmaClients> clients) {
		return new RdmaEndpoint(selection, new OpenedTransport(beans), server::getIfAvailable, control::getIfUnique,
				clients.getIfAvailable());
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnEnabledInfoContributor(value = "rdma", fallback = InfoContributorFallback.DISABLE)
	RdmaInfoContributor rdmaInfoContributor(ProviderSelection selection, BeanFactory beans,
			ObjectProvider<RpcServer> server) {
		return new RdmaInfoContributor(selection, new OpenedTransport(beans), server::getIfAvailable);
	}

}
