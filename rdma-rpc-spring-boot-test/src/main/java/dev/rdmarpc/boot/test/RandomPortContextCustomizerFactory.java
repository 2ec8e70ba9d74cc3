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

package dev.rdmarpc.boot.test;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.support.TestPropertySourceUtils;

import dev.rdmarpc.verbs.iwarp.IwarpProvider;

/**
 * Has the server of an application under test listen on a port that the system chooses,
 * so that tests can run side by side: with {@link SpringBootTest}, unless its web
 * environment is {@link WebEnvironment#DEFINED_PORT} or the test sets the port. With
 * {@link AutoConfigureRdmaRpc} it listens on the loopback interface, too. The first of
 * the factories, so that what {@code @DynamicPropertySource} sets comes before it.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class RandomPortContextCustomizerFactory implements ContextCustomizerFactory {

	private static final String PORT = "rdma.rpc.server.port";

	private static final String ADDRESS = "rdma.rpc.server.address";

	private static final String PROVIDER = "rdma.rpc.provider";

	private static final String PROVIDERS = "rdma.rpc.providers";

	private static final String DEVICE = "rdma.rpc.device";

	@Override
	public @Nullable ContextCustomizer createContextCustomizer(Class<?> testClass,
			List<ContextConfigurationAttributes> configuration) {
		Map<String, Object> properties = new LinkedHashMap<>();
		if (TestContextAnnotationUtils.hasAnnotation(testClass, AutoConfigureRdmaRpc.class)) {
			properties.put(PROVIDER, IwarpProvider.NAME);
			properties.put(PROVIDERS, "");
			properties.put(DEVICE, "");
			properties.put(ADDRESS, InetAddress.getLoopbackAddress().getHostAddress());
			properties.put(PORT, 0);
		}
		SpringBootTest test = TestContextAnnotationUtils.findMergedAnnotation(testClass, SpringBootTest.class);
		if (test != null) {
			if (test.webEnvironment() == WebEnvironment.DEFINED_PORT) {
				properties.remove(PORT);
			}
			else {
				properties.put(PORT, 0);
			}
		}
		return properties.isEmpty() ? null : new RandomPort(properties);
	}

	/** Those with the same properties are equal, so that tests share their contexts. */
	private record RandomPort(Map<String, Object> properties) implements ContextCustomizer {

		@Override
		public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration test) {
			Map<String, Object> missing = new LinkedHashMap<>(this.properties);
			Map<String, Object> set = TestPropertySourceUtils
				.convertInlinedPropertiesToMap(test.getPropertySourceProperties());
			if (set.containsKey(PROVIDER) || set.containsKey(PROVIDERS)) {
				missing.keySet().removeAll(List.of(PROVIDER, PROVIDERS, DEVICE));
			}
			missing.keySet().removeAll(set.keySet());
			if (!missing.isEmpty()) {
				context.getEnvironment()
					.getPropertySources()
					.addFirst(new MapPropertySource("randomRdmaPort", missing));
			}
		}

	}

}
