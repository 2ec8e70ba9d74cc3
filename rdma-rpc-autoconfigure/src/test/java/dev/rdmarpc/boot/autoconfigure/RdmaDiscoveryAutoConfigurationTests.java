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

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.composite.CompositeDiscoveryClientAutoConfiguration;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.cloud.client.discovery.simple.SimpleDiscoveryClientAutoConfiguration;
import org.springframework.cloud.commons.util.UtilAutoConfiguration;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.rpc.AddressHealth;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Targets that a registry of Spring Cloud knows. */
@ExtendWith(OutputCaptureExtension.class)
class RdmaDiscoveryAutoConfigurationTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withConfiguration(AutoConfigurations.of(RdmaDiscoveryAutoConfiguration.class))
		.withUserConfiguration(RdmaClientAddressesTests.OneImport.class)
		.withPropertyValues("rdma.rpc.client.greetings.addresses=discovery:///greeter-service",
				"rdma.rpc.client.greetings.resolution-interval=0");

	private static ServiceInstance instance(String id, int port, Map<String, String> metadata) {
		return new DefaultServiceInstance(id, "greeter-service", "127.0.0.1", port, false, metadata);
	}

	private static ServiceInstance instance(InetSocketAddress address) {
		return instance("id-" + address.getPort(), 8080, Map.of("rdma.port", String.valueOf(address.getPort())));
	}

	private static void await(BooleanSupplier condition) {
		long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime()).as("waited for too long").isLessThan(deadline);
			Thread.onSpinWait();
		}
	}

	@Test
	void instancesOfSpringCloudsOwnRegistryAreCalled() {
		RdmaContextRunner.create()
			.withUserConfiguration(GreeterService.class)
			.run((server) -> this.runner
				.withConfiguration(AutoConfigurations.of(UtilAutoConfiguration.class,
						CompositeDiscoveryClientAutoConfiguration.class, SimpleDiscoveryClientAutoConfiguration.class))
				.withPropertyValues(
						"spring.cloud.discovery.client.simple.instances.greeter-service[0].uri=http://127.0.0.1:8080",
						"spring.cloud.discovery.client.simple.instances.greeter-service[0].metadata.my-port="
								+ server.getBean(RpcServer.class).port(),
						"rdma.rpc.discovery.port-key=my-port")
				.run((context) -> assertThat(context.getBean(Greeter.class).greet("x")).isEqualTo("Hello x")));
	}

	@Test
	void aHeartbeatWithAnotherStateHasInstancesLookedUp() {
		Registry registry = new Registry();
		ApplicationContextRunner server = RdmaContextRunner.create().withUserConfiguration(GreeterService.class);
		server.run((one) -> server
			.run((two) -> this.runner.withBean(DiscoveryClient.class, () -> registry).run((context) -> {
				InetSocketAddress first = one.getBean(RpcServer.class).address();
				InetSocketAddress second = two.getBean(RpcServer.class).address();
				registry.known.add(instance(first));
				assertThat(context.getBean(Greeter.class).greet("x")).isEqualTo("Hello x");
				RpcClient client = context.getBean(RdmaClients.class).client("greetings");
				registry.known.add(instance(second));
				context.publishEvent(new HeartbeatEvent(registry, "state 1"));
				await(() -> client.metrics().open() == 2);
				registry.known.remove(0);
				int asked = registry.asked.size();
				context.publishEvent(new HeartbeatEvent(registry, "state 1"));
				assertThat(registry.asked).as("the state is the same").hasSize(asked);
				context.publishEvent(new HeartbeatEvent(registry, "state 2"));
				await(() -> client.addresses().size() == 1);
				assertThat(client.addresses()).extracting(AddressHealth::address)
					.containsExactly("127.0.0.1:" + second.getPort());
				assertThat(context.getBean(Greeter.class).greet("x")).isEqualTo("Hello x");
				client.close();
				context.publishEvent(new HeartbeatEvent(registry, "state 3"));
			})));
		assertThat(registry.asked).containsOnly("greeter-service");
	}

	@Test
	void instancesWithoutAPortForRdmaAreNotUsedAndReported(CapturedOutput output) {
		Registry registry = new Registry();
		registry.known.add(instance("none", 8080, Map.of()));
		registry.known.add(instance("wrong", 8081, Map.of("rdma.port", "seven")));
		this.runner.withBean(DiscoveryClient.class, () -> registry).run((context) -> {
			assertThatExceptionOfType(RpcException.class).isThrownBy(() -> context.getBean(Greeter.class).greet("x"))
				.withMessageContaining("none of 2 instances has a port in its metadata 'rdma.port'");
			assertThat(output).contains("Instance 127.0.0.1:8080 of service 'greeter-service' is not used");
		});
	}

	@Test
	void withoutRegistryTheSchemeIsNotKnown() {
		this.runner.run((context) -> assertThat(context).getFailure()
			.rootCause()
			.hasMessageContaining("rdma.rpc.client.greetings.addresses")
			.hasMessageContaining("The scheme 'discovery' needs a DiscoveryClient of Spring Cloud."));
		this.runner.withClassLoader(new FilteredClassLoader("org.springframework.cloud"))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("needs a DiscoveryClient"));
	}

	@Test
	void anIdWithASlashIsRefused() {
		this.runner.withBean(DiscoveryClient.class, Registry::new)
			.withPropertyValues("rdma.rpc.client.greetings.addresses=discovery:///a/b")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("the id of a service without a slash"));
	}

	private static final class Registry implements DiscoveryClient {

		final List<ServiceInstance> known = new CopyOnWriteArrayList<>();

		final List<String> asked = new CopyOnWriteArrayList<>();

		@Override
		public String description() {
			return "of the test";
		}

		@Override
		public List<ServiceInstance> getInstances(String serviceId) {
			this.asked.add(serviceId);
			return this.known;
		}

		@Override
		public List<String> getServices() {
			return List.of("greeter-service");
		}

	}

}
