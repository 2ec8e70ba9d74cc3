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

package dev.rdmarpc.sample.load;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.sample.store.FeatureStore;

/** Generates load if asked to. */
@Configuration(proxyBeanMethods = false)
@Profile("!server")
@ConditionalOnBooleanProperty("load.enabled")
class LoadConfiguration {

	@Bean
	LoadGenerator loadGenerator(@Qualifier("features") FeatureStore store, RegisteredMemory memory,
			LoadProperties properties, ConfigurableApplicationContext context) {
		return new LoadGenerator(new StoreOperations(store, memory, properties), properties, System.out, context);
	}

}
