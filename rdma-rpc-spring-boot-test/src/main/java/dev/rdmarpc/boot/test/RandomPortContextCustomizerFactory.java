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

import java.util.Arrays;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/**
 * Has the server of an application under test listen on a port that the system chooses,
 * so that tests can run side by side: with {@link SpringBootTest}, unless its web
 * environment is {@link WebEnvironment#DEFINED_PORT} or the test sets the port.
 */
class RandomPortContextCustomizerFactory implements ContextCustomizerFactory {

	private static final String PROPERTY = "rdma.rpc.server.port";

	@Override
	public @Nullable ContextCustomizer createContextCustomizer(Class<?> testClass,
			List<ContextConfigurationAttributes> configuration) {
		SpringBootTest test = TestContextAnnotationUtils.findMergedAnnotation(testClass, SpringBootTest.class);
		return (test != null && test.webEnvironment() != WebEnvironment.DEFINED_PORT) ? new RandomPort() : null;
	}

	/** All are equal, so that tests share their contexts. */
	private record RandomPort() implements ContextCustomizer {

		@Override
		public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration test) {
			if (Arrays.stream(test.getPropertySourceProperties()).noneMatch(RandomPort::setsPort)) {
				context.getEnvironment()
					.getPropertySources()
					.addFirst(new MapPropertySource("randomRdmaPort", Map.of(PROPERTY, 0)));
			}
		}

		private static boolean setsPort(String property) {
			String text = property.strip();
			return text.startsWith(PROPERTY) && text.length() > PROPERTY.length()
					&& "=: \t".indexOf(text.charAt(PROPERTY.length())) >= 0;
		}

	}

}
