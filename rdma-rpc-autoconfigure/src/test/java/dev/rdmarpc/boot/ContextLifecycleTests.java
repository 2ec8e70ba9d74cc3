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

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What contexts take of the process, and give back. */
class ContextLifecycleTests {

	/** The common pool may have a single thread. */
	private static final Executor THREADS = (task) -> new Thread(task).start();

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int RESTARTS = 20;

	private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

	@AfterEach
	void nothingIsLeft() {
		for (ConfigurableApplicationContext context : this.contexts) {
			RegisteredMemory memory = context.isActive() ? context.getBean(RegisteredMemory.class) : null;
			context.close();
			if (memory != null) {
				assertThat(memory.metrics().outstanding()).isZero();
			}
		}
	}

	/** Seconds each where others use the processors, too. */
	@Test
	@Timeout(value = 400, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
	void twentyRestartsGiveEverythingBack() {
		for (int i = 0; i < 2; i++) {
			runAndClose();
		}
		Taken before = Taken.now();
		for (int i = 0; i < RESTARTS; i++) {
			runAndClose();
		}
		assertGivenBack(before);
	}

	private void runAndClose() {
		try (ConfigurableApplicationContext context = run(Application.class)) {
			assertThat(greeter(context).greet("Ada")).isEqualTo("Hello Ada");
			assertThat(greeter(context).reverse(new byte[1 << 20])).hasSize(1 << 20);
		}
	}

	/** After the transport was opened, and after the server has begun to listen. */
	@ParameterizedTest
	@ValueSource(classes = { FailingBean.class, FailingStart.class })
	void aContextThatFailsLeavesNothing(Class<?> failing) {
		assertFails(failing);
		Taken before = Taken.now();
		for (int i = 0; i < 3; i++) {
			assertFails(failing);
		}
		assertGivenBack(before);
	}

	private void assertFails(Class<?> failing) {
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> run(failing))
			.havingRootCause()
			.withMessage("no application today");
	}

	@Test
	void contextsOfOneProcessDoNotDisturbEachOther() {
		ConfigurableApplicationContext first = run(Application.class);
		ConfigurableApplicationContext second = run(Application.class, "rdma.rpc.client.greeters.host=127.0.0.1",
				"rdma.rpc.client.greeters.port=" + first.getBean(RpcServer.class).port());
		ConfigurableApplicationContext third = run(Application.class);
		assertThat(first.getBean(RegisteredMemory.class)).isNotSameAs(second.getBean(RegisteredMemory.class));
		for (ConfigurableApplicationContext context : this.contexts) {
			assertThat(greeter(context).greet("Ada")).isEqualTo("Hello Ada");
		}
		third.close();
		assertThat(greeter(second).greet("Ada")).isEqualTo("Hello Ada");
		second.close();
		assertThat(greeter(first).greet("Ada")).isEqualTo("Hello Ada");
	}

	@Test
	void lazyInitializationStartsTheServerAndConnectsClientsWhenTheyAreUsed() {
		ConfigurableApplicationContext context = run(Application.class, "spring.main.lazy-initialization=true");
		assertThat(context.getBeanFactory().containsSingleton("rdmaServer")).isTrue();
		assertThat(context.getBean(RpcServer.class).isRunning()).isTrue();
		assertThat(context.getBeanFactory().containsSingleton("greeters.greeter")).isFalse();
		assertThat(context.getBean(User.class).greeter.greet("Ada")).isEqualTo("Hello Ada");
	}

	@Test
	void anApplicationThatDrainsIsNotReady() throws Exception {
		ConfigurableApplicationContext context = run(Application.class);
		ApplicationAvailability availability = context.getBean(ApplicationAvailability.class);
		assertThat(availability.getReadinessState()).isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
		GreeterService service = context.getBean(GreeterService.class);
		CompletableFuture<Void> running = runningCall(context, service);
		CompletableFuture<Void> closing = CompletableFuture.runAsync(context::close, THREADS);
		await("readiness", () -> availability.getReadinessState() == ReadinessState.REFUSING_TRAFFIC);
		assertThat(closing).isNotDone();
		service.latch("release").countDown();
		assertThat(closing).succeedsWithin(PATIENCE);
		assertThat(running).succeedsWithin(PATIENCE);
	}

	@Test
	void anApplicationThatIsStoppedIsNotReadyUntilItIsStartedAgain() {
		ConfigurableApplicationContext context = run(Application.class);
		ApplicationAvailability availability = context.getBean(ApplicationAvailability.class);
		context.stop();
		assertThat(availability.getReadinessState()).isEqualTo(ReadinessState.REFUSING_TRAFFIC);
		context.start();
		assertThat(availability.getReadinessState()).isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
	}

	private static CompletableFuture<Void> runningCall(ConfigurableApplicationContext context, GreeterService service)
			throws InterruptedException {
		Greeter greeter = greeter(context);
		CompletableFuture<Void> running = CompletableFuture.runAsync(() -> {
			try {
				greeter.await("release");
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}, THREADS);
		assertThat(service.entered().await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
		return running;
	}

	private static Greeter greeter(ConfigurableApplicationContext context) {
		return context.getBean("greeters.greeter", Greeter.class);
	}

	private static void assertGivenBack(Taken before) {
		await("what was taken comes back, beyond " + before, () -> {
			System.gc();
			return Taken.now().isWithin(before);
		});
	}

	private static void await(String what, BooleanSupplier condition) {
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (!condition.getAsBoolean()) {
			assertThat(end - System.nanoTime()).as("%s; now %s", what, Taken.now()).isPositive();
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
		}
	}

	private ConfigurableApplicationContext run(Class<?> application, String... properties) {
		List<String> arguments = new ArrayList<>(List.of("--rdma.rpc.server.address=127.0.0.1",
				"--rdma.rpc.server.port=0", "--rdma.rpc.client.default.port=0",
				"--rdma.rpc.memory.leak-detection=paranoid", "--spring.jmx.enabled=false"));
		for (String property : properties) {
			arguments.add("--" + property);
		}
		ConfigurableApplicationContext context = new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.logStartupInfo(false)
			.run(arguments.toArray(String[]::new));
		this.contexts.add(context);
		return context;
	}

	/**
	 * What the process has.
	 *
	 * @param directBytes of direct buffers
	 * @param descriptors of sockets, selectors and the like
	 * @param threads that are alive
	 */
	private record Taken(long directBytes, long descriptors, Set<String> threads) {

		static Taken now() {
			long bytes = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)
				.stream()
				.filter((pool) -> pool.getName().equals("direct"))
				.mapToLong(BufferPoolMXBean::getMemoryUsed)
				.sum();
			Set<String> threads = new HashSet<>();
			Thread.getAllStackTraces().keySet().forEach((thread) -> threads.add(thread.getName()));
			threads.removeIf((name) -> !name.contains("rdma") && !name.contains("iwarp"));
			return new Taken(bytes, openDescriptors(), threads);
		}

		private static long openDescriptors() {
			Path directory = Path.of("/proc/self/fd");
			if (!Files.isDirectory(directory)) {
				return 0;
			}
			try (Stream<Path> open = Files.list(directory)) {
				return open.filter(Taken::isNoFile).count();
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private static boolean isNoFile(Path descriptor) {
			try {
				return Files.readSymbolicLink(descriptor).toString().matches("(socket|pipe|anon_inode):.*");
			}
			catch (IOException ex) {
				return false;
			}
		}

		boolean isWithin(Taken before) {
			return this.directBytes <= before.directBytes + (1 << 20) && this.descriptors <= before.descriptors
					&& before.threads.containsAll(this.threads);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ GreeterService.class, User.class })
	@ImportRdmaClients(target = "greeters", types = Greeter.class)
	static class Application {

	}

	static class User {

		private final Greeter greeter;

		User(@Qualifier("greeters") Greeter greeter) {
			this.greeter = greeter;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class FailingBean {

		@Bean
		InitializingBean failing(RpcServer server, @Qualifier("greeters") Greeter greeter) {
			return () -> {
				throw new IllegalStateException("no application today");
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class FailingStart {

		@Bean
		SmartLifecycle failing(RpcServer server, @Qualifier("greeters") Greeter greeter) {
			return new SmartLifecycle() {

				@Override
				public void start() {
					assertThat(server.isRunning()).isTrue();
					assertThat(greeter.greet("Ada")).isEqualTo("Hello Ada");
					throw new IllegalStateException("no application today");
				}

				@Override
				public void stop() {
				}

				@Override
				public boolean isRunning() {
					return false;
				}

			};
		}

	}

}
