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

package dev.rdmarpc.boot;

import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;

import dev.rdmarpc.boot.autoconfigure.RdmaClientAutoConfiguration;
import dev.rdmarpc.boot.autoconfigure.RdmaTransportAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** What is generated ahead of time. */
class AheadOfTimeTests {

	@Test
	void interfacesOfClientsHaveProxyHints() {
		RuntimeHints hints = hints(Calling.class);
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Greeter.class)).accepts(hints);
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Runnable.class)).rejects(hints);
	}

	@Test
	void withoutClientsThereAreNone() {
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Greeter.class)).rejects(hints(Idle.class));
	}

	private static RuntimeHints hints(Class<?> application) {
		DefaultGenerationContext generation = new DefaultGenerationContext(
				new ClassNameGenerator(ClassName.get(application)), new InMemoryGeneratedFiles());
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(application);
			new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
			generation.writeGeneratedContent();
		}
		return generation.getRuntimeHints();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greeters", types = Greeter.class)
	@ImportAutoConfiguration({ RdmaTransportAutoConfiguration.class, RdmaClientAutoConfiguration.class })
	static class Calling {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RdmaTransportAutoConfiguration.class, RdmaClientAutoConfiguration.class })
	static class Idle {

	}

}
