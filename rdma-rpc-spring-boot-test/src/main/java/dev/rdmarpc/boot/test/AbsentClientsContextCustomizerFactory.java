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

import java.lang.reflect.Proxy;
import java.util.List;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.util.ReflectionUtils;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaClients;

/**
 * Lets tests of a slice of the application start though {@link ImportRdmaClients} is on
 * its main class: a slice has no {@link RdmaClients}. Clients that the test does not
 * replace fail when they are called.
 */
class AbsentClientsContextCustomizerFactory implements ContextCustomizerFactory {

	@Override
	public ContextCustomizer createContextCustomizer(Class<?> testClass,
			List<ContextConfigurationAttributes> configuration) {
		return new AbsentClients();
	}

	/** All are equal, so that tests share their contexts. */
	private record AbsentClients() implements ContextCustomizer {

		@Override
		public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration test) {
			context.addBeanFactoryPostProcessor(new StandIns());
		}

	}

	/** Runs when all definitions are there, and before test beans replace any. */
	private static final class StandIns implements BeanDefinitionRegistryPostProcessor {

		@Override
		public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
			// there may be more definitions to come
		}

		@Override
		public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
			if (beans.getBeanNamesForType(RdmaClients.class, true, false).length > 0
					|| !(beans instanceof BeanDefinitionRegistry registry)) {
				return;
			}
			for (String name : registry.getBeanDefinitionNames()) {
				BeanDefinition client = registry.getBeanDefinition(name);
				if (client.hasAttribute(RdmaClients.class.getName())
						&& client.getAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE) instanceof Class<?> type
						&& client instanceof AbstractBeanDefinition definition) {
					registry.removeBeanDefinition(name);
					registry.registerBeanDefinition(name, standIn(name, type, definition));
				}
			}
		}

		private static <T> RootBeanDefinition standIn(String name, Class<T> type, AbstractBeanDefinition client) {
			RootBeanDefinition definition = new RootBeanDefinition(type, () -> type.cast(Proxy
				.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
					if (ReflectionUtils.isObjectMethod(method)) {
						return switch (method.getName()) {
							case "equals" -> proxy == arguments[0];
							case "hashCode" -> System.identityHashCode(proxy);
							default -> "no client for " + name;
						};
					}
					throw new IllegalStateException(
							"no client for " + name + ": this test does not configure RDMA (expected: @MockitoBean for "
									+ type.getSimpleName() + ", or @SpringBootTest)");
				})));
			definition.copyQualifiersFrom(client);
			definition.setResourceDescription(client.getResourceDescription());
			return definition;
		}

	}

}
