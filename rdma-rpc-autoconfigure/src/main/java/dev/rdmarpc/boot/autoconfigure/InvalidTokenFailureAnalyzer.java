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

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Says what is wrong with a token. Precedes the analyzer of Spring Boot, which shows what
 * the environment has, whatever the exception says.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class InvalidTokenFailureAnalyzer extends AbstractFailureAnalyzer<InvalidConfigurationPropertyValueException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure,
			InvalidConfigurationPropertyValueException cause) {
		if (!Tokens.isNameOf(cause.getName())) {
			return null;
		}
		return new FailureAnalysis("The property '" + cause.getName()
				+ "' has a value, which is not shown, that is not valid. " + cause.getReason(),
				"Correct the value of '" + cause.getName() + "'.", cause);
	}

}
