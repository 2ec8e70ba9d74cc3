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

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaServerCustomizer;
import dev.rdmarpc.boot.RdmaServerStartedEvent;
import dev.rdmarpc.rpc.RdmaReflection;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.rpc.ServiceDescriptor;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;

class RdmaServerAutoConfigurationTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create();

	@Test
	void thereIsNoServerWithoutServices() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(RpcServer.class));
	}

	@Test
	void annotatedBeanIsServed() {
		this.runner.withUserConfiguration(GreeterService.class).run((context) -> {
			RpcServer server = context.getBean(RpcServer.class);
			assertThat(server.isRunning()).isTrue();
			assertThat(server.services()).extracting(ServiceDescriptor::name).containsExactly(Greeter.class.getName());
			assertThat(context.getEnvironment().getProperty("local.rdma.port", Integer.class)).isEqualTo(server.port());
			assertThat(client(context, Greeter.class).greet("world")).isEqualTo("Hello world");
		});
	}

	@Test
	void reflectionIsServedIfAskedFor() {
		this.runner.withUserConfiguration(GreeterService.class)
			.withPropertyValues("rdma.rpc.server.reflection.enabled=true")
			.run((context) -> {
				RdmaReflection reflection = context.getBean(RdmaClients.class)
					.client("any")
					.proxy(RdmaReflection.SERVICE, RdmaReflection.class);
				assertThat(reflection.services("").names()).containsExactly(Greeter.class.getName(),
						RdmaReflection.SERVICE);
				assertThat(reflection.service(Greeter.class.getName()).schema()).contains("greet(");
			});
	}

	@Test
	void serverCanBeSwitchedOff() {
		this.runner.withUserConfiguration(GreeterService.class)
			.withPropertyValues("rdma.rpc.server.enabled=false")
			.run((context) -> assertThat(context).hasSingleBean(GreeterService.class).doesNotHaveBean(RpcServer.class));
	}

	@Test
	void ownServerTakesItsPlace() {
		this.runner.withUserConfiguration(GreeterService.class, OwnServer.class).run((context) -> {
			assertThat(context).hasSingleBean(RpcServer.class);
			RpcServer server = context.getBean("ownServer", RpcServer.class);
			assertThat(server.isRunning()).isTrue();
			assertThat(server.services()).extracting(ServiceDescriptor::name).containsExactly("own");
		});
	}

	@Test
	void customizersComeAfterProperties() {
		this.runner.withUserConfiguration(GreeterService.class)
			.withBean(RdmaServerCustomizer.class,
					() -> (server) -> server.service("another", Echo.class, (text) -> text))
			.run((context) -> assertThat(context.getBean(RpcServer.class).services())
				.extracting(ServiceDescriptor::name)
				.containsExactly(Greeter.class.getName(), "another"));
	}

	@Test
	void startIsPublished() {
		List<Integer> ports = new ArrayList<>();
		this.runner.withUserConfiguration(GreeterService.class)
			.withBean("listener", StartedListener.class, () -> new StartedListener(ports))
			.run((context) -> assertThat(ports).containsExactly(context.getBean(RpcServer.class).port()));
	}

	@Test
	void serverStopsWithTheContext() {
		RpcServer[] server = new RpcServer[1];
		RdmaTransport[] transport = new RdmaTransport[1];
		this.runner.withUserConfiguration(GreeterService.class).run((context) -> {
			server[0] = context.getBean(RpcServer.class);
			transport[0] = context.getBean(RdmaTransport.class);
			client(context, Greeter.class).greet("world");
		});
		assertThat(server[0].isRunning()).isFalse();
		assertThat(server[0].activeCalls()).isZero();
		assertThat(transport[0].loops()).isEmpty();
		assertThat(transport[0].memory().metrics().outstanding()).isZero();
	}

	@Test
	void portInUseFails() throws Exception {
		try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			this.runner.withUserConfiguration(GreeterService.class)
				.withPropertyValues("rdma.rpc.server.port=" + taken.getLocalPort())
				.run((context) -> assertThat(context).getFailure()
					.rootCause()
					.satisfies((ex) -> assertThat(
							new RdmaServerStartFailureAnalyzer().analyze(context.getStartupFailure()).getDescription())
						.contains("port " + taken.getLocalPort())
						.contains("already in use")));
		}
	}

	private static <T> T client(ApplicationContext context, Class<T> type) {
		return context.getBean(RdmaClients.class).proxy("any", type);
	}

	/** A service. */
	public interface Echo {

		String echo(String text);

	}

	record StartedListener(List<Integer> ports) {

		@EventListener
		void started(RdmaServerStartedEvent event) {
			this.ports.add(event.getAddress().getPort());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnServer {

		@Bean
		RpcServer ownServer(RdmaTransport transport) {
			return RpcServer.builder()
				.transport(transport)
				.options(RpcServerOptions.DEFAULTS.withLoopback(0))
				.service("own", Echo.class, (text) -> text)
				.build();
		}

	}

}
