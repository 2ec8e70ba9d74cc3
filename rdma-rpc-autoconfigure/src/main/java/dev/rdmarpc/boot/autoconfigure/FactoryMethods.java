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

import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Which configuration a bean is from. */
final class FactoryMethods {

	private FactoryMethods() {
	}

	/**
	 * Whether a bean, or that of a parent context where there is none here, is made by a
	 * configuration of a package or of those below. What is generated ahead of time knows
	 * no more of that than the name of the factory bean, which for imported
	 * configurations is that of their class.
	 */
	static boolean isMadeIn(String packageName, String bean, ConfigurableListableBeanFactory beans) {
		if (!beans.containsBeanDefinition(bean)) {
			return beans.getParentBeanFactory() instanceof ConfigurableListableBeanFactory parent
					&& isMadeIn(packageName, bean, parent);
		}
		BeanDefinition definition = beans.getBeanDefinition(bean);
		String factory = definition.getFactoryBeanName();
		if (definition instanceof AnnotatedBeanDefinition annotated && annotated.getFactoryMethodMetadata() != null) {
			factory = annotated.getFactoryMethodMetadata().getDeclaringClassName();
		}
		return factory != null && factory.startsWith(packageName + ".");
	}

}
