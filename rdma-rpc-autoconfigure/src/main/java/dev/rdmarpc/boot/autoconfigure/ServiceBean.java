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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.RpcServer;

/**
 * A bean annotated with {@link RdmaService}, on its class, on a superclass or interface,
 * or on its bean method. It need not be an autowire candidate.
 *
 * @param name its name
 * @param annotation its annotation
 * @param beanFactory the factory that has it, which may be an ancestor
 */
record ServiceBean(String name, RdmaService annotation, ConfigurableListableBeanFactory beanFactory) {

	/**
	 * Finds the beans to serve without creating any: those of a factory, and of its
	 * ancestors up to one that has its own server. Before singletons are instantiated, it
	 * cannot find beans whose annotation is on a class that no bean definition names.
	 */
	static List<ServiceBean> find(ConfigurableListableBeanFactory beanFactory) {
		List<ServiceBean> found = new ArrayList<>();
		collect(beanFactory, found);
		BeanFactory ancestor = beanFactory.getParentBeanFactory();
		while (ancestor instanceof ConfigurableListableBeanFactory current && !hasServer(current)) {
			collect(current, found);
			ancestor = current.getParentBeanFactory();
		}
		return found;
	}

	static boolean hasServer(ConfigurableListableBeanFactory beanFactory) {
		return beanFactory.getBeanNamesForType(RpcServer.class, true, false).length > 0;
	}

	/** Whether the application has a typed client, and so may need no server. */
	static boolean hasClient(ConfigurableListableBeanFactory beanFactory) {
		return Arrays.stream(beanFactory.getBeanDefinitionNames())
			.map(beanFactory::getBeanDefinition)
			.anyMatch((definition) -> definition.hasAttribute(RdmaClients.class.getName()));
	}

	private static void collect(ConfigurableListableBeanFactory beanFactory, List<ServiceBean> found) {
		Set<String> names = new LinkedHashSet<>(List.of(beanFactory.getBeanDefinitionNames()));
		names.addAll(List.of(beanFactory.getSingletonNames()));
		for (String name : names) {
			if (!ScopedProxyUtils.isScopedTarget(name) && !isExcluded(beanFactory, name)) {
				RdmaService annotation = annotation(beanFactory, name);
				if (annotation != null) {
					found.add(new ServiceBean(name, annotation, beanFactory));
				}
			}
		}
	}

	/**
	 * Whether a bean is an abstract definition, or a client whose interface may have the
	 * annotation.
	 */
	private static boolean isExcluded(ConfigurableListableBeanFactory beanFactory, String name) {
		if (!beanFactory.containsBeanDefinition(name)) {
			return false;
		}
		BeanDefinition definition = beanFactory.getBeanDefinition(name);
		return definition.isAbstract() || definition.hasAttribute(RdmaClients.class.getName());
	}

	private static @Nullable RdmaService annotation(ConfigurableListableBeanFactory beanFactory, String name) {
		RdmaService annotation = beanFactory.findAnnotationOnBean(name, RdmaService.class, false);
		if (annotation == null && beanFactory.containsSingleton(name)) {
			Object instance = beanFactory.getSingleton(name);
			if (instance != null && !(instance instanceof FactoryBean)) {
				return AnnotatedElementUtils.findMergedAnnotation(AopProxyUtils.ultimateTargetClass(instance),
						RdmaService.class);
			}
		}
		return annotation;
	}

	/** The bean itself. */
	Object instance() {
		return this.beanFactory.getBean(this.name);
	}

}
