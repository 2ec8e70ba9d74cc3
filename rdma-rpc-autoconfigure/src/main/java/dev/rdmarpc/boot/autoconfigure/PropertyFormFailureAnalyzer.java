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

import java.net.InetAddress;
import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.util.ClassUtils;
import org.springframework.util.unit.DataSize;

/**
 * Names the expected form of a property value that cannot be converted. Precedes the
 * analyzer of Spring Boot, which names only the failed conversion, and leaves enums to
 * it, since it lists their values.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class PropertyFormFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("rdma.rpc");

	private static final Map<Class<?>, String> FORMS = Map.of(Integer.class, "a whole number", Boolean.class,
			"true or false", Duration.class, "a duration such as 50us, 100ms, 2s or 1m", DataSize.class,
			"a size such as 512B, 8KB, 16MB or 1GB", InetAddress.class, "an address or the name of a host");

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
		ConfigurationProperty property = cause.getProperty();
		Class<?> type = cause.getTarget().getType().resolve(Object.class);
		String form = (property != null && type == Map.class) ? formOfMap(property)
				: FORMS.get(ClassUtils.resolvePrimitiveIfNecessary(type));
		if (property == null || form == null || !PREFIX.isAncestorOf(property.getName())) {
			return null;
		}
		String origin = (property.getOrigin() != null) ? " (from " + property.getOrigin() + ")" : "";
		return new FailureAnalysis(
				"The property '" + property.getName() + "' has the value '"
						+ Tokens.shown(property.getName().toString(), property.getValue()) + "'" + origin
						+ ", which cannot be read. Expected: " + form + ".",
				"Correct the value of '" + property.getName() + "'.", cause);
	}

	/** Only of tokens, whose values the analyzer of Spring Boot would show. */
	private static @Nullable String formOfMap(ConfigurationProperty property) {
		return Tokens.isNameOf(property.getName().toString())
				? "tokens by the names of their owners, as in '" + property.getName() + ".reports'" : null;
	}

}
