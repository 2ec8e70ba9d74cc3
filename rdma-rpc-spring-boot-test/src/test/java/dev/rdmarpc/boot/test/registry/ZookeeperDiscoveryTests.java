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

package dev.rdmarpc.boot.test.registry;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RdmaMethod;
import dev.rdmarpc.rpc.RpcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications that find each other through a real registry: ZooKeeper, with Spring
 * Cloud's own registration and discovery.
 */
@Timeout(value = 170, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ZookeeperDiscoveryTests {

	private static final long PAUSE_NANOS = 200_000;

	private final List<RegisteredMemory> memories = new ArrayList<>();

	@Test
	void callsGoOnWhileServersComeAndGo() throws Exception {
		try (TestingServer zookeeper = new TestingServer(true);
				ConfigurableApplicationContext near = server(zookeeper, "near", "eu");
				ConfigurableApplicationContext far = server(zookeeper, "far", "us");
				ConfigurableApplicationContext calling = client(zookeeper)) {
			RpcClient client = calling.getBean(RdmaClients.class).client("places");
			Place place = calling.getBean(Place.class);
			client.connect();
			await(() -> client.metrics().open() == 2);
			AtomicReference<String> last = new AtomicReference<>();
			Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
			AtomicBoolean over = new AtomicBoolean();
			Thread caller = new Thread(() -> {
				while (!over.get()) {
					try {
						last.set(place.name());
					}
					catch (RuntimeException ex) {
						failures.add(ex);
					}
				}
			});
			caller.start();
			try {
				await(() -> "near".equals(last.get()));
				assertThat(SpringApplication.exit(near)).isZero();
				await(() -> "far".equals(last.get()) && client.addresses().size() == 1);
				try (ConfigurableApplicationContext another = server(zookeeper, "another", "eu")) {
					await(() -> "another".equals(last.get()));
					assertThat(client.addresses()).hasSize(2);
					assertThat(another.isRunning()).isTrue();
				}
				await(() -> "far".equals(last.get()));
				assertThat(far.isRunning()).isTrue();
			}
			finally {
				over.set(true);
				caller.join();
			}
			assertThat(failures).isEmpty();
		}
		assertThat(this.memories).hasSize(4)
			.allSatisfy((memory) -> assertThat(memory.metrics().outstanding()).isZero());
	}

	private ConfigurableApplicationContext server(TestingServer zookeeper, String name, String zone)
			throws IOException {
		return start(Serving.class, WebApplicationType.SERVLET, zookeeper, "--spring.application.name=place-service",
				"--server.port=0", "--rdma.rpc.server.address=127.0.0.1", "--rdma.rpc.server.port=" + freePort(),
				"--my.name=" + name, "--spring.cloud.zookeeper.discovery.instance-host=127.0.0.1",
				"--spring.cloud.zookeeper.discovery.metadata.rdma.port=${rdma.rpc.server.port}",
				"--spring.cloud.zookeeper.discovery.metadata.zone=" + zone);
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	private ConfigurableApplicationContext client(TestingServer zookeeper) {
		return start(Calling.class, WebApplicationType.NONE, zookeeper,
				"--spring.cloud.zookeeper.discovery.register=false", "--rdma.rpc.client.default.zone=eu",
				"--rdma.rpc.client.places.addresses=discovery:///place-service",
				"--rdma.rpc.client.places.resolution-interval=100ms");
	}

	private ConfigurableApplicationContext start(Class<?> application, WebApplicationType type, TestingServer zookeeper,
			String... arguments) {
		List<String> all = new ArrayList<>(List.of(arguments));
		all.addAll(List.of("--spring.cloud.zookeeper.enabled=true", "--spring.cloud.zookeeper.discovery.enabled=true",
				"--spring.cloud.zookeeper.connect-string=" + zookeeper.getConnectString(),
				"--rdma.rpc.memory.leak-detection=paranoid"));
		ConfigurableApplicationContext context = new SpringApplicationBuilder(application).web(type)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.run(all.toArray(String[]::new));
		this.memories.add(context.getBean(RegisteredMemory.class));
		return context;
	}

	private static void await(BooleanSupplier condition) {
		long begin = System.nanoTime();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - begin).as("condition not met in time")
				.isLessThan(Duration.ofSeconds(30).toNanos());
			LockSupport.parkNanos(PAUSE_NANOS);
		}
	}

	/** Says where it is. */
	public interface Place {

		@RdmaMethod(idempotent = true)
		String name();

	}

	@RdmaService
	static class Named implements Place {

		private final String name;

		Named(@Value("${my.name}") String name) {
			this.name = name;
		}

		@Override
		public String name() {
			return this.name;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Named.class)
	static class Serving {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@ImportRdmaClients(target = "places", types = Place.class)
	static class Calling {

	}

}
