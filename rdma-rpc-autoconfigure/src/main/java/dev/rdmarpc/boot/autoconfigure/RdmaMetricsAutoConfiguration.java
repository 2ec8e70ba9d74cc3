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

import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.metrics.RdmaClientMetrics;
import dev.rdmarpc.boot.metrics.RdmaHedgingMetrics;
import dev.rdmarpc.boot.metrics.RdmaRetryMetrics;
import dev.rdmarpc.boot.metrics.RdmaServerMetrics;
import dev.rdmarpc.boot.metrics.RdmaTransportMetrics;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of the meters of transport and
 * clients.
 */
@AutoConfiguration(after = { RdmaTransportAutoConfiguration.class, RdmaClientAutoConfiguration.class }, afterName = {
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration" })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({ MeterRegistry.class, RdmaTransport.class })
public final class RdmaMetricsAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	RdmaTransportMetrics rdmaTransportMetrics() {
		return new RdmaTransportMetrics();
	}

	/** Tells the meters of a transport that is opened after them, or before. */
	@Bean
	static BeanPostProcessor rdmaTransportMetricsNotifier(ObjectProvider<RdmaTransportMetrics> metrics) {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				if (bean instanceof RdmaTransport transport) {
					metrics.orderedStream().forEach((binder) -> binder.opened(transport));
				}
				return bean;
			}

		};
	}

	@Bean
	@ConditionalOnMissingBean
	RdmaServerMetrics rdmaServerMetrics() {
		return new RdmaServerMetrics();
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBean(RdmaClients.class)
	RdmaRetryMetrics rdmaRetryMetrics() {
		return new RdmaRetryMetrics();
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBean(RdmaClients.class)
	RdmaHedgingMetrics rdmaHedgingMetrics() {
		return new RdmaHedgingMetrics();
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBean(RdmaClients.class)
	RdmaClientMetrics rdmaClientMetrics(RdmaClients clients) {
		return new RdmaClientMetrics(clients);
	}

}
