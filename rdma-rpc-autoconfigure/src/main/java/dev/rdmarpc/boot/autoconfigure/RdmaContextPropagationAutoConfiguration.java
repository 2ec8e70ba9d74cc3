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

import io.micrometer.context.ContextSnapshotFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import dev.rdmarpc.rpc.ContextPropagation;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of the propagation of contexts by
 * Micrometer, where that of Spring Boot's task executors is enabled.
 */
@AutoConfiguration
@ConditionalOnClass(ContextSnapshotFactory.class)
public final class RdmaContextPropagationAutoConfiguration {

	@Bean
	@ConditionalOnBooleanProperty("spring.task.execution.propagate-context")
	@ConditionalOnMissingBean
	ContextPropagation rdmaContextPropagation(ObjectProvider<ContextSnapshotFactory> factories) {
		return new SnapshotPropagation(factories.getIfAvailable(() -> ContextSnapshotFactory.builder().build()));
	}

}
