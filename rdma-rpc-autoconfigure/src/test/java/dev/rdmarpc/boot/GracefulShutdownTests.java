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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Two applications, one of which closes while the other calls it. */
class GracefulShutdownTests {

	private static final Duration LONG = Duration.ofSeconds(20);

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

	@ParameterizedTest
	@ValueSource(strings = { "spring.threads.virtual.enabled=false", "spring.threads.virtual.enabled=true",
			"spring.task.execution.pool.shutdown.accept-tasks-after-context-close=true" })
	void callsThatRunAreAnsweredAndNewOnesAreUnavailable(String property) throws Exception {
		ConfigurableApplicationContext server = server(property);
		ConfigurableApplicationContext client = client(server, "running");
		GreeterService service = server.getBean(GreeterService.class);
		RegisteredMemory memory = server.getBean(RegisteredMemory.class);
		RpcServer rpcServer = server.getBean(RpcServer.class);
		CompletableFuture<Void> running = client
			.getBean("running.gracefulShutdownTests.AsyncGreeter", AsyncGreeter.class)
			.await("release");
		assertThat(service.entered().await(20, TimeUnit.SECONDS)).isTrue();
		CompletableFuture<Void> closing = CompletableFuture.runAsync(server::close);
		RpcException refused = callUntilRefused(client.getBean("running.greeter", Greeter.class));
		assertThat(refused.status()).isEqualTo(RpcStatus.UNAVAILABLE);
		assertThat(running).isNotDone();
		assertThat(closing).isNotDone();
		assertThat(rpcServer.activeCalls()).isOne();
		service.latch("release").countDown();
		assertThat(running).succeedsWithin(LONG);
		assertThat(closing).succeedsWithin(LONG);
		assertThat(rpcServer.activeCalls()).isZero();
		assertThat(memory.metrics().outstanding()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "spring.threads.virtual.enabled=false", "spring.threads.virtual.enabled=true" })
	void drainingEndsAfterItsTimeout(String property) throws Exception {
		ConfigurableApplicationContext server = server(property, "rdma.rpc.server.drain-timeout=50ms");
		ConfigurableApplicationContext client = client(server, "stuck");
		GreeterService service = server.getBean(GreeterService.class);
		RegisteredMemory memory = server.getBean(RegisteredMemory.class);
		CompletableFuture<Void> stuck = client.getBean("stuck.gracefulShutdownTests.AsyncGreeter", AsyncGreeter.class)
			.await("never");
		assertThat(service.entered().await(20, TimeUnit.SECONDS)).isTrue();
		CompletableFuture<Void> closing = CompletableFuture.runAsync(server::close);
		assertThat(closing).succeedsWithin(LONG);
		assertThat(stuck).failsWithin(LONG)
			.withThrowableThat()
			.havingCause()
			.isInstanceOfSatisfying(RpcException.class,
					(ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.UNAVAILABLE));
		assertThat(memory.metrics().outstanding()).isZero();
	}

	@Test
	void callsAreServedUntilTheServerDrains() {
		ConfigurableApplicationContext server = run(StrictServerApplication.class);
		ConfigurableApplicationContext client = client(server, "last");
		Greeter greeter = client.getBean("last.greeter", Greeter.class);
		LastCall lastCall = server.getBean(LastCall.class);
		lastCall.call = () -> greeter.reverse(new byte[] { 1, 2 });
		server.close();
		assertThat(lastCall.result).succeedsWithin(LONG).isEqualTo(new byte[] { 2, 1 });
	}

	@Test
	void applicationThatRestartsIsFoundAgain() {
		ConfigurableApplicationContext first = server();
		ConfigurableApplicationContext client = client(first, "again");
		Greeter greeter = client.getBean("again.greeter", Greeter.class);
		assertThat(greeter.greet("first")).isEqualTo("Hello first");
		int port = first.getBean(RpcServer.class).port();
		first.close();
		assertThatExceptionOfType(RpcException.class).isThrownBy(() -> greeter.greet("nobody"))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.UNAVAILABLE));
		server("rdma.rpc.server.port=" + port);
		assertThat(callUntilAnswered(greeter)).isEqualTo("Hello again");
	}

	@ParameterizedTest
	@ValueSource(strings = { "spring.threads.virtual.enabled=false", "spring.threads.virtual.enabled=true" })
	void contextThatStopsOrPausesServesAgainWhenItStarts(String property) {
		ConfigurableApplicationContext server = server(property);
		int port = server.getBean(RpcServer.class).port();
		ConfigurableApplicationContext both = run(BothApplication.class, property, "rdma.rpc.client.self.port=0",
				"rdma.rpc.client.other.host=127.0.0.1", "rdma.rpc.client.other.port=" + port,
				"rdma.rpc.client.default.max-backoff=100ms");
		Greeter self = both.getBean("self.greeter", Greeter.class);
		Greeter other = both.getBean("other.greeter", Greeter.class);
		for (int i = 0; i < 3; i++) {
			assertThat(callUntilAnswered(self)).isEqualTo("Hello again");
			assertThat(callUntilAnswered(other)).isEqualTo("Hello again");
			restart(both, i);
			assertThat(both.getBean(RpcServer.class).isRunning()).isTrue();
			assertThat(both.getEnvironment().getProperty("local.rdma.port", Integer.class))
				.isEqualTo(both.getBean(RpcServer.class).port());
		}
		assertThat(callUntilAnswered(self)).isEqualTo("Hello again");
		both.close();
	}

	private static void restart(ConfigurableApplicationContext context, int round) {
		RpcServer server = context.getBean(RpcServer.class);
		if (round == 0) {
			context.stop();
			assertThat(server.isRunning()).isFalse();
			context.start();
		}
		else if (round == 1) {
			context.pause();
			assertThat(server.isRunning()).isFalse();
			context.restart();
		}
		else {
			context.restart();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "spring.threads.virtual.enabled=false", "spring.threads.virtual.enabled=true" })
	void callsThatRunOrWaitAreAnsweredWhenTheContextStops(String property) throws Exception {
		ConfigurableApplicationContext server = server(property, "spring.task.execution.pool.core-size=2");
		ConfigurableApplicationContext client = client(server, "stopping");
		GreeterService service = server.getBean(GreeterService.class);
		RpcServer rpcServer = server.getBean(RpcServer.class);
		AsyncGreeter greeter = client.getBean("stopping.gracefulShutdownTests.AsyncGreeter", AsyncGreeter.class);
		List<CompletableFuture<Void>> calls = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			calls.add(greeter.await("release"));
		}
		assertThat(service.entered().await(20, TimeUnit.SECONDS)).isTrue();
		await(() -> rpcServer.activeCalls() == 5);
		CompletableFuture<Void> stopping = CompletableFuture.runAsync(server::stop);
		await(() -> !rpcServer.isRunning());
		service.latch("release").countDown();
		for (CompletableFuture<Void> call : calls) {
			assertThat(call).succeedsWithin(LONG);
		}
		assertThat(stopping).succeedsWithin(LONG);
		assertThat(rpcServer.activeCalls()).isZero();
		server.start();
		ConfigurableApplicationContext later = client(server, "later");
		assertThat(later.getBean("later.greeter", Greeter.class).greet("world")).isEqualTo("Hello world");
	}

	private static void await(BooleanSupplier condition) {
		long deadline = System.nanoTime() + LONG.toNanos();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime()).isLessThan(deadline);
			Thread.onSpinWait();
		}
	}

	private static RpcException callUntilRefused(Greeter greeter) {
		long deadline = System.nanoTime() + LONG.toNanos();
		while (System.nanoTime() - deadline < 0) {
			try {
				assertThat(greeter.greet("world")).isEqualTo("Hello world");
			}
			catch (RpcException ex) {
				return ex;
			}
		}
		throw new AssertionError("never refused");
	}

	private static String callUntilAnswered(Greeter greeter) {
		long deadline = System.nanoTime() + LONG.toNanos();
		while (true) {
			try {
				return greeter.greet("again");
			}
			catch (RpcException ex) {
				assertThat(ex.status()).isEqualTo(RpcStatus.UNAVAILABLE);
				assertThat(System.nanoTime()).isLessThan(deadline);
			}
		}
	}

	private ConfigurableApplicationContext server(String... properties) {
		return run(ServerApplication.class, properties);
	}

	private ConfigurableApplicationContext client(ConfigurableApplicationContext server, String target) {
		return run(ClientApplication.class, "the.target=" + target, "rdma.rpc.client." + target + ".host=127.0.0.1",
				"rdma.rpc.client." + target + ".port=" + server.getBean(RpcServer.class).port(),
				"rdma.rpc.client." + target + ".max-backoff=100ms", "rdma.rpc.client." + target + ".restart-timeout=0");
	}

	private ConfigurableApplicationContext run(Class<?> application, String... properties) {
		List<String> arguments = new ArrayList<>(List.of("--rdma.rpc.server.address=127.0.0.1",
				"--rdma.rpc.server.port=0", "--rdma.rpc.memory.initial=1MB", "--rdma.rpc.memory.extent=1MB",
				"--rdma.rpc.memory.leak-detection=paranoid", "--spring.jmx.enabled=false"));
		for (String property : properties) {
			arguments
				.removeIf((argument) -> argument.startsWith("--" + property.substring(0, property.indexOf('=') + 1)));
			arguments.add("--" + property);
		}
		ConfigurableApplicationContext context = new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.logStartupInfo(false)
			.registerShutdownHook(false)
			.run(arguments.toArray(String[]::new));
		this.contexts.add(context);
		return context;
	}

	/** {@link Greeter} with a future for the method that waits. */
	public interface AsyncGreeter {

		CompletableFuture<Void> await(String latch);

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(GreeterService.class)
	static class ServerApplication {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ GreeterService.class, LastCall.class })
	static class StrictServerApplication {

		@Bean
		ThreadPoolTaskExecutorCustomizer strict() {
			return (executor) -> executor.setStrictEarlyShutdown(true);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(GreeterService.class)
	@ImportRdmaClients(target = "self", types = Greeter.class)
	@ImportRdmaClients(target = "other", types = Greeter.class)
	static class BothApplication {

	}

	/**
	 * Calls when the context is closing and its executor takes no more, but the server
	 * does not drain yet.
	 */
	static class LastCall implements SmartLifecycle {

		private final CompletableFuture<byte[]> result = new CompletableFuture<>();

		private Supplier<byte[]> call = () -> new byte[0];

		private volatile boolean running;

		@Override
		public void start() {
			this.running = true;
		}

		@Override
		public void stop() {
			this.running = false;
			this.result.completeAsync(this.call).join();
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@ImportRdmaClients(target = "${the.target}", types = Greeter.class)
	@ImportRdmaClients(target = "${the.target}", types = AsyncGreeter.class, serviceName = "dev.rdmarpc.boot.Greeter")
	static class ClientApplication {

	}

}
