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
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.annotation.Bean;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.health.RdmaHealthContributor;
import dev.rdmarpc.rpc.RpcServer;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of the health of transport, server
 * and clients.
 */
@AutoConfiguration(after = { RdmaServerAutoConfiguration.class, RdmaClientAutoConfiguration.class },
		beforeName = "org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration")
@ConditionalOnClass({ Health.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnEnabledHealthIndicator("rdma")
public final class RdmaHealthContributorAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = { "rdmaHealthIndicator", "rdmaHealthContributor" })
	RdmaHealthContributor rdmaHealthContributor(BeanFactory beans, ObjectProvider<RpcServer> server,
			ObjectProvider<RdmaClients> clients, RdmaRpcProperties properties) {
		return new RdmaHealthContributor(new OpenedTransport(beans), server::getIfAvailable, clients.getIfAvailable(),
				(target) -> ClientSettings.of(target, properties).required());
	}

}
