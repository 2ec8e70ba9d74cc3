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
import java.util.Objects;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.RpcServer;

/** Offers the beans annotated with {@link RdmaService} through a server. */
final class ServiceExporter {

	private static final List<String> NO_SERVICES = List.of("java.", "javax.", "jakarta.", "org.springframework.",
			"org.aopalliance.", "kotlin.", "groovy.");

	private final ConfigurableListableBeanFactory beanFactory;

	ServiceExporter(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	void exportTo(RpcServer.Builder server) {
		for (String beanName : this.beanFactory.getBeanNamesForAnnotation(RdmaService.class)) {
			if (!ScopedProxyUtils.isScopedTarget(beanName)) {
				export(beanName, server);
			}
		}
	}

	private void export(String beanName, RpcServer.Builder server) {
		RdmaService annotation = Objects
			.requireNonNull(this.beanFactory.findAnnotationOnBean(beanName, RdmaService.class));
		List<Class<?>> types = interfaces(beanName, annotation);
		Assert.state(annotation.name().isEmpty() || types.size() == 1, () -> "@RdmaService of bean '" + beanName
				+ "' has the name '" + annotation.name() + "' and exports " + types + " (expected: one interface)");
		Object bean = this.beanFactory.getBean(beanName);
		for (Class<?> type : types) {
			Assert.state(type.isInstance(bean), () -> "@RdmaService of bean '" + beanName + "' names " + type.getName()
					+ ", which " + bean.getClass().getName() + " does not implement");
			offer(server, annotation.name().isEmpty() ? type.getName() : annotation.name(), type, bean);
		}
	}

	private static <T> void offer(RpcServer.Builder server, String name, Class<T> type, Object bean) {
		server.service(name, type, type.cast(bean));
	}

	private List<Class<?>> interfaces(String beanName, RdmaService annotation) {
		if (annotation.interfaces().length > 0) {
			return Arrays.asList(annotation.interfaces());
		}
		Class<?> type = AutoProxyUtils.determineTargetClass(this.beanFactory, beanName);
		Assert.state(type != null, () -> "the type of bean '" + beanName + "' is not known: "
				+ "name its service in @RdmaService(interfaces = …)");
		List<Class<?>> found = new ArrayList<>();
		for (Class<?> candidate : ClassUtils.getAllInterfacesForClass(type)) {
			if (NO_SERVICES.stream().noneMatch(candidate.getName()::startsWith)) {
				found.add(candidate);
			}
		}
		Assert.state(!found.isEmpty(), () -> "@RdmaService of bean '" + beanName + "': " + type.getName()
				+ " implements no interface to serve");
		return found;
	}

}
