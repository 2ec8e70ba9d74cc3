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

package dev.rdmarpc.boot.absent;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Applications without one library or another that this module can use: what needs it is
 * not there, the rest works. A library is taken away together with those that cannot be
 * without it. There is no web server in any of them.
 */
class AbsentLibrariesTests {

	private static final List<String> OPTIONAL = List.of("rdmaClientObserver", "rdmaServerObserver",
			"rdmaTransportMetrics", "rdmaHealthContributor", "rdmaEndpoint", "rdmaValidationExceptionHandler",
			"rdmaGrpcChannelFactory", "rdmaContextPropagation", "rdmaDiscoveryAddressResolverFactory",
			"rdmaCircuitBreakerInterceptor", "rdmaSecurityContextInterceptor");

	private static final String OBSERVERS = "rdmaClientObserver rdmaServerObserver ";

	static List<Arguments> libraries() {
		String all = String.join(" ", OPTIONAL);
		return List.of(Arguments.of("none", "", "no.such.Type", ""),
				Arguments.of("Micrometer's meters", "micrometer-core resilience4j-spring-boot4",
						"io.micrometer.core.instrument.MeterRegistry",
						"rdmaTransportMetrics rdmaCircuitBreakerInterceptor"),
				Arguments.of("Micrometer's observations",
						"micrometer-observation spring-boot-micrometer-observation micrometer-core micrometer-tracing resilience4j-spring-boot4",
						"io.micrometer.observation.ObservationRegistry",
						OBSERVERS + "rdmaTransportMetrics rdmaCircuitBreakerInterceptor"),
				Arguments.of("Micrometer", "micrometer- resilience4j-spring-boot4", "io.micrometer.common.KeyValue",
						OBSERVERS + "rdmaTransportMetrics rdmaCircuitBreakerInterceptor"),
				Arguments.of("Boot's meters", "spring-boot-micrometer-metrics",
						"org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
						"rdmaTransportMetrics"),
				Arguments.of("Boot's support of Micrometer", "spring-boot-micrometer-",
						"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
						OBSERVERS + "rdmaTransportMetrics"),
				Arguments.of("Actuator", "spring-boot-actuator",
						"org.springframework.boot.actuate.endpoint.annotation.Endpoint", "rdmaEndpoint"),
				Arguments.of("health", "spring-boot-health", "org.springframework.boot.health.contributor.Health",
						"rdmaHealthContributor"),
				Arguments.of("validation", "jakarta.validation-api hibernate-validator spring-boot-validation",
						"jakarta.validation.ConstraintViolationException", "rdmaValidationExceptionHandler"),
				Arguments.of("context propagation", "context-propagation", "io.micrometer.context.ContextSnapshot",
						"rdmaContextPropagation"),
				Arguments.of("Jackson", "jackson- spring-boot-jackson", "com.fasterxml.jackson.annotation.JsonInclude",
						""),
				Arguments.of("Boot's support of gRPC", "spring-boot-grpc-",
						"org.springframework.boot.grpc.client.autoconfigure.GrpcClientProperties",
						"rdmaGrpcChannelFactory"),
				Arguments.of("gRPC", "grpc- spring-boot-grpc- spring-grpc-", "io.grpc.Grpc", "rdmaGrpcChannelFactory"),
				Arguments.of("Spring Cloud", "spring-cloud-",
						"org.springframework.cloud.client.discovery.DiscoveryClient",
						"rdmaDiscoveryAddressResolverFactory"),
				Arguments.of("Resilience4j", "resilience4j-",
						"io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry",
						"rdmaCircuitBreakerInterceptor"),
				Arguments.of("Spring Security", "spring-security- spring-boot-security",
						"org.springframework.security.core.context.SecurityContextHolder",
						"rdmaSecurityContextInterceptor"),
				Arguments.of("Testcontainers", "testcontainers spring-boot-testcontainers",
						"org.testcontainers.containers.Container", ""),
				Arguments.of("Docker Compose", "spring-boot-docker-compose",
						"org.springframework.boot.docker.compose.core.RunningService", ""),
				Arguments.of("all of them",
						"testcontainers spring-boot-testcontainers spring-boot-docker-compose spring-security- spring-boot-security resilience4j- spring-cloud- grpc- spring-boot-grpc- spring-grpc- context-propagation micrometer- spring-boot-micrometer- spring-boot-actuator spring-boot-health jackson- "
								+ "spring-boot-jackson jakarta.validation-api hibernate-validator spring-boot-validation",
						"org.springframework.boot.health.contributor.Health", all));
	}

	@ParameterizedTest(name = "without {0}")
	@MethodSource("libraries")
	void serverAndClientWork(String libraries, String jars, String absentClass, String absentBeans) throws Exception {
		Set<String> prefixes = StringUtils.commaDelimitedListToSet(jars.replace(' ', ','));
		try (ReducedClassPath classPath = ReducedClassPath.without(prefixes)) {
			for (String prefix : prefixes) {
				assertThat(classPath.absent()).anyMatch((jar) -> jar.startsWith(prefix));
			}
			assertThatExceptionOfType(ClassNotFoundException.class).isThrownBy(() -> classPath.load(absentClass));
			Map<String, String> answer = classPath.call(SmallApplication.class);
			assertThat(answer).containsEntry("greeting", "Hello world").containsEntry("outstanding", "0");
			List<String> expected = new ArrayList<>(OPTIONAL);
			expected.removeAll(List.of(absentBeans.split(" ")));
			assertThat(answer.get("beans").split(" ")).filteredOn(OPTIONAL::contains)
				.containsExactlyInAnyOrderElementsOf(expected);
		}
	}

}
