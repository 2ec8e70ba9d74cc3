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
import java.util.List;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.generate.GenerationContext;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.aot.BeanRegistrationCode;
import org.springframework.beans.factory.aot.BeanRegistrationCodeFragments;
import org.springframework.beans.factory.aot.BeanRegistrationCodeFragmentsDecorator;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.javapoet.CodeBlock;

import dev.rdmarpc.boot.RdmaClients;

/**
 * Lets the definitions of clients keep their attributes, by which they are recognized,
 * and tells a native image about the interfaces.
 */
class ClientsAotProcessor implements BeanFactoryInitializationAotProcessor, BeanRegistrationAotProcessor {

	private static final String TARGET = RdmaClients.class.getName();

	@Override
	public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
			ConfigurableListableBeanFactory beanFactory) {
		List<Class<?>> types = new ArrayList<>();
		for (String name : beanFactory.getBeanDefinitionNames()) {
			BeanDefinition client = beanFactory.getBeanDefinition(name);
			if (client.hasAttribute(TARGET)
					&& client.getAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE) instanceof Class<?> type) {
				types.add(type);
			}
		}
		return types.isEmpty() ? null : (context, code) -> {
			ContractHints hints = new ContractHints(context.getRuntimeHints());
			types.forEach(hints::client);
		};
	}

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean registeredBean) {
		return registeredBean.getMergedBeanDefinition().hasAttribute(TARGET)
				? BeanRegistrationAotContribution.withCustomCodeFragments(ClientFragments::new) : null;
	}

	/** The code of a definition, with what makes it a client. */
	private static final class ClientFragments extends BeanRegistrationCodeFragmentsDecorator {

		ClientFragments(BeanRegistrationCodeFragments fragments) {
			super(fragments);
		}

		@Override
		public CodeBlock generateSetBeanDefinitionPropertiesCode(GenerationContext context, BeanRegistrationCode code,
				RootBeanDefinition definition, Predicate<String> attributes) {
			return super.generateSetBeanDefinitionPropertiesCode(context, code, definition,
					attributes.or(TARGET::equals).or(FactoryBean.OBJECT_TYPE_ATTRIBUTE::equals));
		}

	}

}
