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

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.RpcServer;

/**
 * Offers the beans annotated with {@link RdmaService} through a server: each under the
 * interface that its callers know, and under those that this one extends, as far as no
 * other bean is served under them.
 */
final class ServiceExporter {

	private static final Logger logger = LoggerFactory.getLogger(ServiceExporter.class);

	private static final List<String> NO_SERVICES = List.of("java.", "javax.", "jakarta.", "org.springframework.",
			"org.aopalliance.", "io.micrometer.", "org.reactivestreams.", "kotlin.", "groovy.");

	private final RpcServer.Builder server;

	private final Map<String, String> beansByService = new HashMap<>();

	private final Map<Class<?>, Map<String, Object>> inherited = new LinkedHashMap<>();

	ServiceExporter(RpcServer.Builder server) {
		this.server = server;
	}

	void export(List<ServiceBean> services) {
		services.forEach(this::export);
		this.inherited.forEach((type, beans) -> {
			if (beans.size() > 1) {
				logger.debug("{} is not served: it is an interface of the services of {}", type.getName(),
						beans.keySet());
			}
			else if (!this.beansByService.containsKey(type.getName())) {
				beans.values().forEach((bean) -> offer(type.getName(), type, bean));
			}
		});
	}

	private void export(ServiceBean service) {
		String beanName = service.name();
		RdmaService annotation = service.annotation();
		Object bean = service.instance();
		boolean named = annotation.interfaces().length > 0;
		List<Class<?>> types = named(service);
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
			if (!named && annotation.name().isEmpty()) {
				above(type).forEach(
						(above) -> this.inherited.computeIfAbsent(above, (key) -> new HashMap<>()).put(beanName, bean));
			}
		}
	}

	/** The interfaces that a bean asks to be served under. */
	private static List<Class<?>> named(ServiceBean service) {
		Class<?>[] named = service.annotation().interfaces();
		return (named.length > 0) ? Arrays.asList(named) : interfaces(service);
	}

	/** All interfaces under which a bean may be served. */
	static Set<Class<?>> types(ServiceBean service) {
		Set<Class<?>> types = new LinkedHashSet<>(named(service));
		List.copyOf(types).forEach((type) -> types.addAll(above(type)));
		return types;
	}

	private <T> void offer(String name, Class<T> type, Object bean) {
		this.server.service(name, type, type.cast(bean));
		Class<?> implementation = AopUtils.getTargetClass(bean);
		for (Method method : type.getMethods()) {
			if (method.isDefault() && !AopUtils.getMostSpecificMethod(method, implementation).isDefault()) {
				logger.warn(
						"{} overrides {}.{}, which is no call: it has a body, which runs where the client is. Make it "
								+ "abstract to have it served",
						implementation.getName(), type.getName(), method.getName());
			}
		}
	}

	/**
	 * The interface that clients of a bean can mean. If there are several, they have to
	 * be annotated themselves, so that none is served that nobody thought of.
	 */
	private static List<Class<?>> interfaces(ServiceBean service) {
		String beanName = service.name();
		Class<?> type = AutoProxyUtils.determineTargetClass(service.beanFactory(), beanName);
		if (type == null) {
			throw new InvalidServiceException("The type of bean '" + beanName + "' is not known",
					"Name its service in @RdmaService(interfaces = …)");
		}
		Set<Class<?>> found = new LinkedHashSet<>();
		for (Class<?> candidate : ClassUtils.getAllInterfacesForClass(type)) {
			if (isService(candidate)) {
				found.add(candidate);
			}
			else {
				found.addAll(above(candidate));
			}
		}
		List<Class<?>> nearest = found.stream()
			.filter((candidate) -> found.stream()
				.noneMatch((other) -> other != candidate && candidate.isAssignableFrom(other)))
			.toList();
		check(!nearest.isEmpty(),
				() -> "@RdmaService of bean '" + beanName + "': " + type.getName()
						+ " implements no interface to serve",
				"Let the class implement the interface that its callers know: one with methods and without type "
						+ "parameters");
		List<Class<?>> marked = nearest.stream()
			.filter((candidate) -> candidate.isAnnotationPresent(RdmaService.class))
			.toList();
		check(nearest.size() == 1 || !marked.isEmpty(),
				() -> "@RdmaService of bean '" + beanName + "': " + type.getName() + " implements several interfaces: "
						+ names(nearest),
				"Name those to serve in @RdmaService(interfaces = …), or annotate them with @RdmaService themselves");
		return (nearest.size() == 1) ? nearest : marked;
	}

	/** The interfaces that an interface extends and clients can mean. */
	private static Set<Class<?>> above(Class<?> type) {
		Set<Class<?>> found = new LinkedHashSet<>();
		for (Class<?> direct : type.getInterfaces()) {
			if (isService(direct)) {
				found.add(direct);
			}
			found.addAll(above(direct));
		}
		return found;
	}

	private static boolean isService(Class<?> type) {
		return NO_SERVICES.stream().noneMatch(type.getName()::startsWith) && !type.isSealed()
				&& type.getTypeParameters().length == 0
				&& Arrays.stream(type.getMethods()).anyMatch((method) -> Modifier.isAbstract(method.getModifiers()));
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
