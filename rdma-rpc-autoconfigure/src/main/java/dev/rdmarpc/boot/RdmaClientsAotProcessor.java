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

package dev.rdmarpc.boot;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Tells a native image which interfaces have clients: they are proxies. */
class RdmaClientsAotProcessor implements BeanFactoryInitializationAotProcessor {

	@Override
	public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
			ConfigurableListableBeanFactory beanFactory) {
		List<Class<?>> types = new ArrayList<>();
		for (String name : beanFactory.getBeanDefinitionNames()) {
			BeanDefinition client = beanFactory.getBeanDefinition(name);
			if (client.hasAttribute(RdmaClients.class.getName())
					&& client.getAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE) instanceof Class<?> type) {
				types.add(type);
			}
		}
		return types.isEmpty() ? null : (context, code) -> types
			.forEach((type) -> context.getRuntimeHints().proxies().registerJdkProxy(type));
	}

}
