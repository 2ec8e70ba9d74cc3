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
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler.IgnoredMeters;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

import dev.rdmarpc.boot.RdmaClientCustomizer;
import dev.rdmarpc.boot.RdmaServerCustomizer;
import dev.rdmarpc.boot.observation.CallMeters;
import dev.rdmarpc.boot.observation.RdmaCallMeterDescriptions;
import dev.rdmarpc.boot.observation.RdmaCallMeters;
import dev.rdmarpc.boot.observation.RdmaClientObservationConvention;
import dev.rdmarpc.boot.observation.RdmaClientObserver;
import dev.rdmarpc.boot.observation.RdmaServerObservationConvention;
import dev.rdmarpc.boot.observation.RdmaServerObserver;
import dev.rdmarpc.transport.ProviderSelection;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of observations of calls.
 */
@AutoConfiguration(before = { RdmaServerAutoConfiguration.class, RdmaClientAutoConfiguration.class }, afterName = {
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration" })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
public final class RdmaObservationAutoConfiguration {

	private static @Nullable String providerOf(ObjectProvider<ProviderSelection> selection) {
		ProviderSelection selected = selection.getIfUnique();
		return (selected != null) ? selected.provider().name() : null;
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ DefaultMeterObservationHandler.class, MetricsProperties.class })
	@ConditionalOnBean({ MeterRegistry.class, MetricsProperties.class })
	@ConditionalOnSingleCandidate(DefaultMeterObservationHandler.class)
	static class MetersConfiguration {

		@Bean
		@ConditionalOnMissingBean(CallMeters.class)
		RdmaCallMeters rdmaCallMeters(DefaultMeterObservationHandler handler, MeterRegistry registry,
				MetricsProperties properties) {
			return new RdmaCallMeters(handler, registry,
					!properties.getObservations().getIgnoredMeters().contains(IgnoredMeters.LONG_TASK_TIMER));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	static class DescriptionsConfiguration {

		@Bean
		@ConditionalOnMissingBean
		RdmaCallMeterDescriptions rdmaCallMeterDescriptions() {
			return new RdmaCallMeterDescriptions();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "rdma.rpc.observation.client", matchIfMissing = true)
	static class ClientConfiguration {

		@Bean
		@ConditionalOnMissingBean
		RdmaClientObserver rdmaClientObserver(ObservationRegistry registry,
				ObjectProvider<RdmaClientObservationConvention> convention, ObjectProvider<CallMeters> meters,
				ObjectProvider<ProviderSelection> selection) {
			return new RdmaClientObserver(registry, convention.getIfAvailable(), meters.getIfAvailable(),
					providerOf(selection));
		}

		@Bean
		@Order(0)
		RdmaClientCustomizer rdmaClientObservationCustomizer(RdmaClientObserver observer) {
			return (target, client) -> client.observer(observer);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "rdma.rpc.observation.server", matchIfMissing = true)
	static class ServerConfiguration {

		@Bean
		@ConditionalOnMissingBean
		RdmaServerObserver rdmaServerObserver(ObservationRegistry registry,
				ObjectProvider<RdmaServerObservationConvention> convention, ObjectProvider<CallMeters> meters,
				ObjectProvider<ProviderSelection> selection) {
			return new RdmaServerObserver(registry, convention.getIfAvailable(), meters.getIfAvailable(),
					providerOf(selection));
		}

		@Bean
		@Order(0)
		RdmaServerCustomizer rdmaServerObservationCustomizer(RdmaServerObserver observer) {
			return (server) -> server.observer(observer);
		}

	}

}
