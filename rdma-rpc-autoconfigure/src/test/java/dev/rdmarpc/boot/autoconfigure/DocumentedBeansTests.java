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
import java.util.Arrays;
import java.util.List;

import io.github.resilience4j.bulkhead.BulkheadRegistry;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.ratelimiter.RateLimiterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.simple.SimpleDiscoveryClient;
import org.springframework.cloud.client.discovery.simple.SimpleDiscoveryProperties;

import dev.rdmarpc.boot.GreeterService;

import static org.assertj.core.api.Assertions.assertThat;

/** The table of beans is that of a context that has them all. */
class DocumentedBeansTests {

	private static final List<String> INTERNAL = List.of("rdmaServerFactory", "rdmaTransportMetricsNotifier",
			"rdmaConnectionSecurity", "rdmaRequiredClientsConnector", "rdmaServerObservationCustomizer",
			"rdmaClientObservationCustomizer", "rdmaSecurityServerCustomizer");

	@Test
	void everyBeanIsInTheGuide() throws Exception {
		List<List<String>> documented = Documentation
			.rows(Documentation.ROOT.resolve("docs/configuration.md"), "## Beans")
			.stream()
			.map((row) -> row.subList(0, 2))
			.toList();
		RdmaContextRunner.create()
			.withUserConfiguration(GreeterService.class)
			.withBean(SimpleMeterRegistry.class)
			.withBean(ObservationRegistry.class, ObservationRegistry::create)
			.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class,
					RdmaDiscoveryAutoConfiguration.class, RdmaResilienceAutoConfiguration.class,
					RdmaSecurityAutoConfiguration.class, RdmaValidationAutoConfiguration.class))
			.withBean(DiscoveryClient.class, () -> new SimpleDiscoveryClient(new SimpleDiscoveryProperties()))
			.withBean(CircuitBreakerRegistry.class, CircuitBreakerRegistry::ofDefaults)
			.withBean(RateLimiterRegistry.class, RateLimiterRegistry::ofDefaults)
			.withBean(BulkheadRegistry.class, BulkheadRegistry::ofDefaults)
			.withPropertyValues("management.info.rdma.enabled=true", "spring.jmx.enabled=true",
					"spring.task.execution.propagate-context=true", "management.endpoints.jmx.exposure.include=rdma")
			.run((context) -> {
				List<String> names = new ArrayList<>(Arrays.stream(context.getBeanDefinitionNames())
					.filter((name) -> name.matches("rdma[A-Z]\\w+"))
					.toList());
				assertThat(names).containsAll(INTERNAL);
				names.removeAll(INTERNAL);
				assertThat(documented).extracting((row) -> row.get(0).replace("`", ""))
					.containsExactlyInAnyOrderElementsOf(names);
				for (List<String> row : documented) {
					Class<?> type = context.getType(row.get(0).replace("`", ""));
					assertThat(typeNames(type)).as(row.get(0)).contains(row.get(1).replace("`", ""));
				}
			});
	}

	private static List<String> typeNames(Class<?> type) {
		List<String> names = new ArrayList<>();
		for (Class<?> current = type; current != null; current = current.getSuperclass()) {
			names.add(current.getSimpleName());
			Arrays.stream(current.getInterfaces()).map(Class::getSimpleName).forEach(names::add);
		}
		return names;
	}

}
