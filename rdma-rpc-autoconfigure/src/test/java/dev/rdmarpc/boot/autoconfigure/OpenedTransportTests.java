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

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.health.contributor.HealthContributors;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaEndpoint;
import dev.rdmarpc.boot.endpoint.RdmaInfoContributor;
import dev.rdmarpc.boot.health.RdmaHealthContributor;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Device and memory are opened by the first client or server, and not by whoever looks.
 */
@ExtendWith(OutputCaptureExtension.class)
class OpenedTransportTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create().withBean(SimpleMeterRegistry.class);

	@Test
	void nothingIsOpenedThatNobodyUses() {
		this.runner.run((context) -> {
			bindMeters(context);
			assertThat(isOpen(context)).isFalse();
		});
	}

	@Test
	void lookingOpensNothing() {
		this.runner
			.withPropertyValues("management.endpoints.jmx.exposure.include=rdma", "spring.jmx.enabled=true",
					"management.info.rdma.enabled=true")
			.run((context) -> {
				bindMeters(context);
				RdmaDescriptor shown = context.getBean(RdmaEndpoint.class).rdma();
				assertThat(shown.provider().candidates()).isNotEmpty();
				assertThat(shown.device()).isNull();
				assertThat(shown.memory()).isNull();
				assertThat(shown.loops()).isEmpty();
				for (String part : new String[] { "devices", "memory", "queue-pairs", "server", "services",
						"clients" }) {
					context.getBean(RdmaEndpoint.class).part(part);
				}
				assertThat(context.getBean(RdmaHealthContributor.class).stream())
					.extracting(HealthContributors.Entry::name)
					.doesNotContain("transport");
				Info.Builder info = new Info.Builder();
				context.getBean(RdmaInfoContributor.class).contribute(info);
				assertThat(info.build().getDetails().toString()).contains("provider=").doesNotContain("device=");
				assertThat(isOpen(context)).isFalse();
			});
	}

	@Test
	void firstClientOpensAndItsMetersFollow() {
		this.runner.run((context) -> {
			bindMeters(context);
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			assertThat(registry.find("rdma.memory.registered").gauge()).isNull();
			context.getBean(RdmaClients.class).client("somewhere");
			assertThat(isOpen(context)).isTrue();
			assertThat(registry.get("rdma.memory.registered").gauge().value()).isPositive();
			assertThat(context.getBean(RdmaHealthContributor.class).stream()).extracting(HealthContributors.Entry::name)
				.contains("transport");
		});
	}

	@Test
	void serverOpens() {
		RdmaContextRunner.create()
			.withUserConfiguration(GreeterService.class)
			.run((context) -> assertThat(isOpen(context)).isTrue());
	}

	@Test
	void propertiesAreCheckedThoughNothingIsOpened() {
		RdmaContextRunner.create()
			.withPropertyValues("rdma.rpc.memory.max=5B")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("rdma.rpc.memory.max"));
	}

	@Test
	void oneShortLineForEachRailSaysWhatWasOpened(CapturedOutput output) {
		RdmaContextRunner.create().withPropertyValues("rdma.rpc.provider=iwarp").run((context) -> {
			assertThat(output).doesNotContain("Opened device");
			context.getBean(RdmaClients.class).proxy("somewhere", Greeter.class);
			assertThat(output.getOut().lines().filter((line) -> line.contains("Opened device"))).singleElement()
				.asString()
				.endsWith("Opened device iwarp0 of verbs provider iwarp");
			assertThat(output).doesNotContain("disni");
		});
	}

	private static void bindMeters(ApplicationContext context) {
		MeterRegistry registry = context.getBean(MeterRegistry.class);
		context.getBeansOfType(MeterBinder.class).values().forEach((binder) -> binder.bindTo(registry));
	}

	private static boolean isOpen(ApplicationContext context) {
		boolean memory = ((ConfigurableApplicationContext) context).getBeanFactory()
			.containsSingleton("rdmaRegisteredMemory");
		assertThat(new OpenedTransport(context.getAutowireCapableBeanFactory()).get() != null).isEqualTo(memory);
		return memory && context.getBean(RegisteredMemory.class).metrics().registeredBytes() > 0;
	}

}
