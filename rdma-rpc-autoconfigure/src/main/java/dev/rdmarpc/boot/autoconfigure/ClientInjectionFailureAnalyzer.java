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

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.UnsatisfiedDependencyException;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.analyzer.AbstractInjectionFailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

import dev.rdmarpc.boot.RdmaClients;

/**
 * Explains that a client is chosen by its target, where none or no single one was found.
 * Precedes the analyzers of Spring Boot, of which one asks for the clients themselves,
 * which are gone.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class ClientInjectionFailureAnalyzer extends AbstractInjectionFailureAnalyzer<NoSuchBeanDefinitionException> {

	private final BeanFactory beanFactory;

	ClientInjectionFailureAnalyzer(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, NoSuchBeanDefinitionException cause,
			@Nullable String description) {
		Class<?> type = (cause.getResolvableType() != null) ? cause.getResolvableType().resolve() : null;
		Map<String, String> targets = (type != null) ? targets(type) : Map.of();
		if (type == null || targets.isEmpty()) {
			return null;
		}
		String wanted = ((description != null) ? description : "A component") + " required a single client of "
				+ type.getName();
		String choice = targets.keySet()
			.stream()
			.map((target) -> "@Qualifier(\"" + target + "\")")
			.collect(Collectors.joining(" or "));
		String action = "A client has its target as qualifier: " + choice + ".";
		if (cause instanceof NoUniqueBeanDefinitionException several) {
			return new FailureAnalysis(wanted + ", but there are " + several.getNumberOfBeansFound() + " such beans:\n"
					+ beans(several, targets), action, cause);
		}
		String qualifier = qualifier(rootFailure);
		String found = " There " + ((targets.size() == 1) ? "is one" : "are clients") + " for "
				+ targets.keySet().stream().map((target) -> "'" + target + "'").collect(Collectors.joining(", ")) + ".";
		if (qualifier == null) {
			return new FailureAnalysis(wanted + ", which could not be found." + found, action, cause);
		}
		String meant = NearMiss.of(qualifier, targets.keySet())
			.map((target) -> "Did you mean '" + target + "'? ")
			.orElse("");
		return new FailureAnalysis(
				wanted + " with the qualifier '" + qualifier + "', which could not be found." + found,
				meant + action + " Import one for '" + qualifier + "' with @ImportRdmaClients if there should be one.",
				cause);
	}

	/** The targets of the clients of a type, with the names of their beans. */
	private Map<String, String> targets(Class<?> type) {
		Map<String, String> targets = new TreeMap<>();
		if (this.beanFactory instanceof ConfigurableListableBeanFactory beans) {
			for (String name : beans.getBeanDefinitionNames()) {
				BeanDefinition definition = beans.getBeanDefinition(name);
				if (definition.getAttribute(RdmaClients.class.getName()) instanceof String target
						&& definition.getAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE) instanceof Class<?> client
						&& type.isAssignableFrom(client)) {
					targets.put(target, name);
				}
			}
		}
		return targets;
	}

	private static String beans(NoUniqueBeanDefinitionException cause, Map<String, String> targets) {
		List<String> names = (cause.getBeanNamesFound() != null) ? List.copyOf(cause.getBeanNamesFound()) : List.of();
		return names.stream().map((name) -> {
			String target = targets.entrySet()
				.stream()
				.filter((entry) -> entry.getValue().equals(name))
				.map(Map.Entry::getKey)
				.findFirst()
				.orElse(null);
			return "\t- " + name + ((target != null) ? ": the client for '" + target + "'" : ": no client");
		}).collect(Collectors.joining("\n"));
	}

	private @Nullable String qualifier(Throwable failure) {
		UnsatisfiedDependencyException unsatisfied = findCause(failure, UnsatisfiedDependencyException.class);
		if (unsatisfied == null || unsatisfied.getInjectionPoint() == null) {
			return null;
		}
		return Arrays.stream(unsatisfied.getInjectionPoint().getAnnotations())
			.filter(Qualifier.class::isInstance)
			.map((annotation) -> ((Qualifier) annotation).value())
			.findFirst()
			.orElse(null);
	}

}
