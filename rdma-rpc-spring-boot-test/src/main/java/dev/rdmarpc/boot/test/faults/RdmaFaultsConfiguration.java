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

package dev.rdmarpc.boot.test.faults;

import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RailSelections;

/** Wraps the provider that the application has selected. */
@Configuration(proxyBeanMethods = false)
class RdmaFaultsConfiguration {

	@Bean
	RdmaFaults rdmaFaults(Environment environment, ObjectProvider<RdmaClients> clients) {
		Long seed = environment.getProperty(RdmaFaults.SEED_PROPERTY, Long.class);
		return new RdmaFaults((seed != null) ? seed : ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE),
				() -> clients.stream().flatMap((each) -> each.clients().keySet().stream()).collect(Collectors.toSet()));
	}

	@Bean
	static BeanPostProcessor rdmaFaultRail(ObjectProvider<RdmaFaults> faults) {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String name) {
				if (bean instanceof ProviderSelection selection) {
					return faulty(selection);
				}
				if (bean instanceof RailSelections rails) {
					return RailSelections.of(rails.all().stream().map(this::faulty).toList());
				}
				return bean;
			}

			private ProviderSelection faulty(ProviderSelection selection) {
				return (selection.provider() instanceof FaultProvider) ? selection
						: new ProviderSelection(new FaultProvider(selection.provider(), faults.getObject()),
								selection.reason(), selection.candidates());
			}

		};
	}

}
