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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.util.ClassUtils;

import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.RpcServer;

/** Offers the beans annotated with {@link RdmaService} through a server. */
final class ServiceExporter {

	private static final List<String> NO_SERVICES = List.of("java.", "javax.", "jakarta.", "org.springframework.",
			"org.aopalliance.", "kotlin.", "groovy.");

	private final RpcServer.Builder server;

	private final Map<String, String> beansByService = new HashMap<>();

	ServiceExporter(RpcServer.Builder server) {
		this.server = server;
	}

	void export(List<ServiceBean> services) {
		services.forEach(this::export);
	}

	private void export(ServiceBean service) {
		String beanName = service.name();
		RdmaService annotation = service.annotation();
		Object bean = service.instance();
		List<Class<?>> types = interfaces(service);
		check(annotation.name().isEmpty() || types.size() == 1,
				() -> "@RdmaService of bean '" + beanName + "' has the name '" + annotation.name()
						+ "', but the bean has " + types.size() + " services: " + names(types)
						+ " (expected: one interface)",
				"Name one interface in @RdmaService(interfaces = …), or leave the name out");
		for (Class<?> type : types) {
			check(type.isInstance(bean),
					() -> "@RdmaService of bean '" + beanName + "' names " + type.getName() + ", which "
							+ bean.getClass().getName() + " does not implement",
					"Let the class implement the interface, or correct @RdmaService(interfaces = …)");
			String name = annotation.name().isEmpty() ? type.getName() : annotation.name();
			String other = this.beansByService.put(name, beanName);
			check(other == null,
					() -> "The beans '" + other + "' and '" + beanName + "' are both served as '" + name + "'",
					"Give one of them a name of its own with @RdmaService(name = …), or remove the annotation from it");
			offer(name, type, bean);
		}
	}

	private <T> void offer(String name, Class<T> type, Object bean) {
		this.server.service(name, type, type.cast(bean));
	}

	private static List<Class<?>> interfaces(ServiceBean service) {
		if (service.annotation().interfaces().length > 0) {
			return Arrays.asList(service.annotation().interfaces());
		}
		String beanName = service.name();
		Class<?> type = AutoProxyUtils.determineTargetClass(service.beanFactory(), beanName);
		if (type == null) {
			throw new InvalidServiceException("The type of bean '" + beanName + "' is not known",
					"Name its service in @RdmaService(interfaces = …)");
		}
		List<Class<?>> found = new ArrayList<>();
		for (Class<?> candidate : ClassUtils.getAllInterfacesForClass(type)) {
			if (NO_SERVICES.stream().noneMatch(candidate.getName()::startsWith)) {
				found.add(candidate);
			}
		}
		check(!found.isEmpty(),
				() -> "@RdmaService of bean '" + beanName + "': " + type.getName()
						+ " implements no interface to serve",
				"Let the class implement the interface that its callers know");
		return found;
	}

	private static String names(List<Class<?>> types) {
		return types.stream().map(Class::getName).collect(Collectors.joining(", "));
	}

	private static void check(boolean valid, Supplier<String> message, String action) {
		if (!valid) {
			throw new InvalidServiceException(message.get(), action);
		}
	}

}
