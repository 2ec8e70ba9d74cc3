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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetailsFactories;
import org.springframework.boot.docker.compose.core.ConnectionPorts;
import org.springframework.boot.docker.compose.core.ImageReference;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.lifecycle.DockerComposeServicesReadyEvent;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.mock.env.MockEnvironment;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.RdmaTargetConnectionDetails;
import dev.rdmarpc.boot.autoconfigure.RdmaContextRunner;
import dev.rdmarpc.boot.connection.TargetConnectionDetailsTests.TwoTargets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Services of Docker Compose, by Boot's support of it. The services are stand-ins, whose
 * ports are those of servers of the test.
 */
class DockerComposeConnectionTests {

	private static final String CONNECTION_LABEL = "org.springframework.boot.service-connection";

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withUserConfiguration(TwoTargets.class)
		.withPropertyValues("rdma.rpc.client.greetings.port=1", "rdma.rpc.client.farewells.port=1");

	@Test
	void eachTargetIsInItsService() {
		RunningServers.run((one, two) -> {
			Service greetings = new Service("greetings", "rdma-rpc", Map.of(), Map.of(7471, one, 8080, 1));
			Service other = new Service("backend", "acme/farewells:1.2",
					Map.of(CONNECTION_LABEL, "rdma-rpc", "dev.rdmarpc.target", "farewells"), Map.of(9000, two));
			Service database = new Service("database", "postgres:17", Map.of(), Map.of(5432, 1));
			this.runner.withInitializer((context) -> servicesAreReady(context, List.of(greetings, database, other)))
				.run((context) -> {
					assertThat(context.getBeansOfType(RdmaTargetConnectionDetails.class)).hasSize(2);
					assertThat(context.getBean("greetings.greeter", Greeter.class).greet("x")).isEqualTo("one");
					assertThat(context.getBean("farewells.greeter", Greeter.class).greet("x")).isEqualTo("two");
				});
		});
	}

	@Test
	void labelsNameTargetsAndPort() {
		RdmaTargetConnectionDetails details = details(
				Map.of("dev.rdmarpc.target", "stock, prices,stock", "dev.rdmarpc.port", "9000"),
				Map.of(7471, 1, 9000, 2));
		assertThat(details.locates("prices")).isTrue();
		assertThat(details.locates("stock")).isTrue();
		assertThat(details.locates("shop")).isFalse();
		assertThat(details.address()).isEqualTo(new InetSocketAddress(InetAddress.getLoopbackAddress(), 2));
		assertThat(details).hasToString("service 'shop' of Docker Compose");
	}

	@Test
	void withoutLabelsTheNameOfTheServiceIsTheTarget() {
		RdmaTargetConnectionDetails details = details(Map.of(), Map.of(7471, 1, 9000, 2));
		assertThat(details.locates("shop")).isTrue();
		assertThat(details.address().getPort()).isOne();
	}

	@Test
	void theOwnPortMustBeClear() {
		assertThatIllegalStateException().isThrownBy(() -> details(Map.of(), Map.of(8080, 1, 9000, 2)))
			.withMessageContaining("the service 'shop'")
			.withMessageContaining("expected: 7471 among them");
		assertThatIllegalStateException().isThrownBy(() -> details(Map.of("dev.rdmarpc.port", "rdma"), Map.of(7471, 1)))
			.withMessageContaining("the service 'shop' has the label dev.rdmarpc.port: rdma");
	}

	private static RdmaTargetConnectionDetails details(Map<String, String> labels, Map<Integer, Integer> ports) {
		Service service = new Service("shop", "rdma-rpc:latest", labels, ports);
		DockerComposeConnectionSource source = create(DockerComposeConnectionSource.class,
				new Class<?>[] { RunningService.class, Environment.class }, service, new MockEnvironment());
		return (RdmaTargetConnectionDetails) new ConnectionDetailsFactories(null).getConnectionDetails(source, true)
			.get(RdmaTargetConnectionDetails.class);
	}

	/** What Boot does when the services run. */
	private static void servicesAreReady(ApplicationContext context, List<RunningService> services) {
		DockerComposeServicesReadyEvent event = create(DockerComposeServicesReadyEvent.class,
				new Class<?>[] { ApplicationContext.class, List.class }, context, services);
		listener().onApplicationEvent(event);
	}

	@SuppressWarnings("unchecked")
	private static ApplicationListener<ApplicationEvent> listener() {
		return SpringFactoriesLoader.forDefaultResourceLocation()
			.load(ApplicationListener.class)
			.stream()
			.filter((candidate) -> candidate.getClass().getSimpleName().startsWith("DockerComposeServiceConnections"))
			.findFirst()
			.orElseThrow();
	}

	private static <T> T create(Class<T> type, Class<?>[] parameters, Object... arguments) {
		try {
			return BeanUtils.instantiateClass(type.getDeclaredConstructor(parameters), arguments);
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A service that is none: its ports are open already. */
	private record Service(String name, String imageName, Map<String, String> labels,
			Map<Integer, Integer> mapped) implements RunningService {

		@Override
		public ImageReference image() {
			return ImageReference.of(this.imageName);
		}

		@Override
		public String host() {
			return "127.0.0.1";
		}

		@Override
		public Map<String, String> env() {
			return Map.of();
		}

		@Override
		public ConnectionPorts ports() {
			return new Ports(this.mapped);
		}

	}

	/** The ports of a service. */
	private record Ports(Map<Integer, Integer> mapped) implements ConnectionPorts {

		@Override
		public int get(int containerPort) {
			Integer port = this.mapped.get(containerPort);
			if (port == null) {
				throw new IllegalStateException("No host port mapping found for container port " + containerPort);
			}
			return port;
		}

		@Override
		public List<Integer> getAll() {
			return getAll(null);
		}

		@Override
		public List<Integer> getAll(String protocol) {
			return List.copyOf(this.mapped.values());
		}

	}

}
