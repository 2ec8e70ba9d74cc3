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

package dev.rdmarpc.boot.connection;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetailsNotFoundException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.testcontainers.containers.GenericContainer;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.RdmaTargetConnectionDetails;
import dev.rdmarpc.boot.autoconfigure.RdmaContextRunner;
import dev.rdmarpc.boot.connection.TargetConnectionDetailsTests.TwoTargets;
import dev.rdmarpc.rpc.RpcException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Containers that are annotated as connections, by Boot's support of Testcontainers. The
 * containers are stand-ins, whose ports are those of servers of the test.
 */
class ContainerConnectionTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withConfiguration(AutoConfigurations.of(ServiceConnectionAutoConfiguration.class))
		.withPropertyValues("rdma.rpc.client.greetings.port=1", "rdma.rpc.client.farewells.port=1");

	@Test
	void eachTargetIsInItsContainer() {
		RunningServers.run((one, two) -> {
			StandIn greetings = new StandIn(Map.of(7471, one, 8080, 1));
			StandIn farewells = new StandIn(Map.of(9000, two));
			this.runner.withUserConfiguration(TwoTargets.class, GreetingsContainer.class, FarewellsContainer.class)
				.withBean("first", StandIn.class, () -> greetings)
				.withBean("second", StandIn.class, () -> farewells)
				.run((context) -> {
					assertThat(context.getBeansOfType(RdmaTargetConnectionDetails.class)).hasSize(2);
					assertThat(context.getBean("greetings.greeter", Greeter.class).greet("x")).isEqualTo("one");
					assertThat(context.getBean("farewells.greeter", Greeter.class).greet("x")).isEqualTo("two");
					assertThat(greetings.started).isTrue();
					assertThat(farewells.started).isTrue();
				});
		});
	}

	@Test
	void theConnectionSaysWhereItComesFrom() {
		this.runner.withUserConfiguration(GreetingsContainer.class)
			.withBean("first", StandIn.class, () -> new StandIn(Map.of(7471, 1)))
			.run((context) -> assertThat(context.getBean(RdmaTargetConnectionDetails.class)).asString()
				.contains("@ServiceConnection")
				.contains("greetingsContainer"));
	}

	@Test
	void theOwnPortMustBeClear() {
		this.runner.withUserConfiguration(TwoTargets.class, GreetingsContainer.class)
			.withPropertyValues("rdma.rpc.client.greetings.connect-timeout=1s")
			.withBean("first", StandIn.class, () -> new StandIn(Map.of(8080, 1, 9000, 2)))
			.run((context) -> assertThatExceptionOfType(RpcException.class)
				.isThrownBy(() -> context.getBean("greetings.greeter", Greeter.class).greet("x"))
				.withMessageContaining("greetingsContainer")
				.withMessageContaining("8080")
				.withMessageContaining("expected: 7471 among them"));
	}

	@Test
	void containersOfOtherTypesAreNone() {
		this.runner.withUserConfiguration(OtherContainer.class)
			.run((context) -> assertThat(context).getFailure().isInstanceOf(ConnectionDetailsNotFoundException.class));
	}

	@Configuration(proxyBeanMethods = false)
	static class GreetingsContainer {

		@Bean
		@ServiceConnection(name = "greetings", type = RdmaTargetConnectionDetails.class)
		GenericContainer<?> greetingsContainer(Map<String, StandIn> containers) {
			return containers.get("first");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class FarewellsContainer {

		@Bean
		@ServiceConnection(name = "farewells", type = RdmaTargetConnectionDetails.class)
		GenericContainer<?> farewellsContainer(Map<String, StandIn> containers) {
			return containers.get("second");
		}

	}

	/** Names a target, but does not say that it is one. */
	@Configuration(proxyBeanMethods = false)
	static class OtherContainer {

		@Bean
		@ServiceConnection(name = "greetings")
		GenericContainer<?> otherContainer() {
			return new StandIn(Map.of(7471, 1));
		}

	}

	/** A container that is none: its ports are open already. */
	static class StandIn extends GenericContainer<StandIn> {

		private final Map<Integer, Integer> ports;

		private boolean started;

		StandIn(Map<Integer, Integer> ports) {
			super("dev.rdmarpc/stand-in");
			this.ports = ports;
			Set<Integer> exposed = new HashSet<>(ports.keySet());
			addExposedPorts(exposed.stream().mapToInt(Integer::intValue).toArray());
		}

		@Override
		public void start() {
			this.started = true;
		}

		@Override
		public void stop() {
			this.started = false;
		}

		@Override
		public boolean isRunning() {
			return this.started;
		}

		@Override
		public String getHost() {
			assertThat(this.started).as("has been started").isTrue();
			return "127.0.0.1";
		}

		@Override
		public Integer getMappedPort(int port) {
			assertThat(this.started).as("has been started").isTrue();
			return this.ports.get(port);
		}

		@Override
		public boolean equals(Object other) {
			return this == other;
		}

		@Override
		public int hashCode() {
			return System.identityHashCode(this);
		}

	}

}
