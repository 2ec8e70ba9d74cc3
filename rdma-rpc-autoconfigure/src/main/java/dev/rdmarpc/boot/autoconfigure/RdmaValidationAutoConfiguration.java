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

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of what callers are told of
 * arguments that validation rejects: after the advices of the application, which may say
 * something else.
 */
@AutoConfiguration(after = RdmaServerAutoConfiguration.class)
@ConditionalOnClass(name = "jakarta.validation.ConstraintViolationException")
@ConditionalOnBooleanProperty(name = "rdma.rpc.server.enabled", matchIfMissing = true)
public final class RdmaValidationAutoConfiguration {

	@Bean
	@Lazy
	@ConditionalOnMissingBean(name = "rdmaValidationExceptionHandler")
	ValidationExceptionHandler rdmaValidationExceptionHandler() {
		return new ValidationExceptionHandler();
	}

}
