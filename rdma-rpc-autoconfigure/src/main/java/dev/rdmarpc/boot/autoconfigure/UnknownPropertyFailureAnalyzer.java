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

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Names what was probably meant by a property that does not exist, and those that do and
 * are empty. Precedes the analyzer of Spring Boot, which names what was not bound.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

	private static final String PREFIX = "rdma.rpc.";

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, UnboundConfigurationPropertiesException cause) {
		List<ConfigurationProperty> unknown = cause.getUnboundProperties()
			.stream()
			.filter((property) -> property.getName().toString().startsWith(PREFIX))
			.toList();
		if (unknown.isEmpty()) {
			return null;
		}
		return new FailureAnalysis(
				unknown.stream().map(UnknownPropertyFailureAnalyzer::describe).collect(Collectors.joining("\n")),
				"Correct or remove " + ((unknown.size() > 1) ? "them." : "it."), cause);
	}

	private static String describe(ConfigurationProperty property) {
		String name = property.getName().toString();
		String origin = (property.getOrigin() != null) ? " (from " + property.getOrigin() + ")" : "";
		List<String> known = known(property.getName());
		if (known.contains(name)) {
			return "Property '" + name + "'" + origin + " has the value '" + property.getValue()
					+ "', which sets nothing. Expected: a value; without the property its default applies.";
		}
		return "There is no property '" + name + "'" + origin + "."
				+ NearMiss.of(name, known).map((meant) -> " Did you mean '" + meant + "'?").orElse("");
	}

	private static List<String> known(ConfigurationPropertyName name) {
		List<String> known = new ArrayList<>();
		String target = (name.getNumberOfElements() > 3) ? name.getElement(3, Form.ORIGINAL) : "default";
		collect(PREFIX, RdmaRpcProperties.class, target, known);
		return known;
	}

	private static void collect(String prefix, Class<?> type, String target, List<String> names) {
		for (RecordComponent component : type.getRecordComponents()) {
			String name = prefix + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
			if (component.getType().isRecord()) {
				collect(name + ".", component.getType(), target, names);
			}
			else if (type == RdmaRpcProperties.class && component.getType() == Map.class) {
				collect(name + "." + target + ".", RdmaRpcProperties.Client.class, target, names);
			}
			else {
				names.add(name);
			}
		}
	}

}
