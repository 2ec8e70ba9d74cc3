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

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.ExceptionDepthComparator;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.util.ReflectionUtils;

import dev.rdmarpc.boot.RdmaAdvice;
import dev.rdmarpc.boot.RdmaExceptionHandler;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcExceptionHandler;
import dev.rdmarpc.rpc.RpcStatus;

/** Asks the methods of {@link RdmaAdvice} beans, advice by advice. */
final class AdviceExceptionHandler implements RpcExceptionHandler {

	/** Causes may form a circle. */
	private static final int MAX_CAUSES = 32;

	private final List<Advice> advices = new ArrayList<>();

	/** Also those of contexts above. A bean with a scope is asked by its proxy. */
	AdviceExceptionHandler(ConfigurableListableBeanFactory beans) {
		List<Object> found = new ArrayList<>();
		IdentityHashMap<Object, Object[]> orders = new IdentityHashMap<>();
		for (String name : BeanFactoryUtils.beanNamesForAnnotationIncludingAncestors(beans, RdmaAdvice.class)) {
			if (!ScopedProxyUtils.isScopedTarget(name)) {
				Object bean = beans.getBean(name);
				found.add(bean);
				orders.put(bean, orderSources(name, beans));
			}
		}
		found.sort(AnnotationAwareOrderComparator.INSTANCE.withSourceProvider(orders::get));
		found.forEach((bean) -> this.advices.add(new Advice(bean)));
	}

	/** Where else than on its class a bean may have its order, as for injected lists. */
	private static Object[] orderSources(String name, ConfigurableListableBeanFactory beans) {
		List<Object> sources = new ArrayList<>();
		if (beans.containsBeanDefinition(name)
				&& beans.getMergedBeanDefinition(name) instanceof RootBeanDefinition definition) {
			if (definition.getAttribute(AbstractBeanDefinition.ORDER_ATTRIBUTE) instanceof Integer order) {
				sources.add((Ordered) () -> order);
			}
			if (definition.getResolvedFactoryMethod() != null) {
				sources.add(definition.getResolvedFactoryMethod());
			}
		}
		return sources.toArray();
	}

	@Override
	public @Nullable Throwable handle(MethodDescriptor method, Throwable failure) {
		for (Advice advice : this.advices) {
			Throwable candidate = failure;
			for (int i = 0; i < MAX_CAUSES && candidate != null; i++, candidate = candidate.getCause()) {
				Method handler = advice.find(candidate.getClass());
				if (handler != null) {
					Throwable handled = advice.call(handler, method, candidate);
					if (handled != null) {
						return handled;
					}
					break;
				}
			}
		}
		return null;
	}

	/** A bean, and its methods by the exceptions that they handle. */
	private static final class Advice {

		private final Object bean;

		private final Map<Class<? extends Throwable>, Method> methods = new HashMap<>();

		Advice(Object bean) {
			this.bean = bean;
			MethodIntrospector.selectMethods(AopUtils.getTargetClass(bean),
					(MethodIntrospector.MetadataLookup<@Nullable RdmaExceptionHandler>) (
							method) -> AnnotatedElementUtils.findMergedAnnotation(method, RdmaExceptionHandler.class))
				.forEach(this::add);
		}

		private void add(Method declared, @Nullable RdmaExceptionHandler annotation) {
			if (annotation == null) {
				return;
			}
			String where = "@RdmaExceptionHandler on " + declared.getDeclaringClass().getName() + "."
					+ declared.getName();
			Class<?> result = declared.getReturnType();
			check(Throwable.class.isAssignableFrom(result) || result == RpcStatus.class, where + " returns "
					+ result.getName() + " (expected: RpcException, RpcStatus or an exception that services declare)");
			List<Class<? extends Throwable>> types = new ArrayList<>(Arrays.asList(annotation.value()));
			for (Class<?> parameter : declared.getParameterTypes()) {
				boolean exception = Throwable.class.isAssignableFrom(parameter);
				check(exception || parameter == MethodDescriptor.class, where + " has a parameter of type "
						+ parameter.getName() + " (expected: an exception, or MethodDescriptor)");
				if (exception && annotation.value().length == 0) {
					types.add(parameter.asSubclass(Throwable.class));
				}
				check(!exception || types.stream().allMatch(parameter::isAssignableFrom),
						where + " handles exceptions that are no " + parameter.getName() + ", which its parameter is");
			}
			check(!types.isEmpty(), where + " names no exception, neither in the annotation nor as a parameter");
			Method method = AopUtils.selectInvocableMethod(declared, this.bean.getClass());
			ReflectionUtils.makeAccessible(method);
			for (Class<? extends Throwable> type : types) {
				Method other = this.methods.put(type, method);
				check(other == null, where + " handles " + type.getName() + ", and so does "
						+ ((other != null) ? other.getName() : ""));
			}
		}

		private static void check(boolean valid, String message) {
			if (!valid) {
				throw new InvalidServiceException(message, "Correct the method");
			}
		}

		@Nullable Method find(Class<? extends Throwable> thrown) {
			return this.methods.keySet()
				.stream()
				.filter((type) -> type.isAssignableFrom(thrown))
				.min(new ExceptionDepthComparator(thrown))
				.map(this.methods::get)
				.orElse(null);
		}

		@Nullable Throwable call(Method handler, MethodDescriptor called, Throwable failure) {
			Object[] arguments = Arrays.stream(handler.getParameterTypes())
				.map((type) -> (type == MethodDescriptor.class) ? called : failure)
				.toArray();
			try {
				Object result = handler.invoke(this.bean, arguments);
				return (result instanceof RpcStatus status) ? new RpcException(status, failure.getMessage())
						: (Throwable) result;
			}
			catch (InvocationTargetException ex) {
				return ex.getTargetException();
			}
			catch (IllegalAccessException ex) {
				return ex;
			}
		}

	}

}
