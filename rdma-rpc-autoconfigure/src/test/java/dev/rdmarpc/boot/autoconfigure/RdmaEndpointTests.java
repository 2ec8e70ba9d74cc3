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
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.availability.ApplicationAvailabilityBean;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaServerControl;
import dev.rdmarpc.boot.RdmaServerStartedEvent;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ClientDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ServerDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaEndpoint;
import dev.rdmarpc.boot.endpoint.RdmaParts;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The operations of the endpoint, on a server and a client that make calls. */
class RdmaEndpointTests {

	private static final String SERVICE = Greeter.class.getName();

	/** The common pool may have a single thread. */
	private static final Executor THREADS = (task) -> new Thread(task).start();

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withUserConfiguration(GreeterService.class)
		.withBean(ApplicationAvailabilityBean.class)
		.withPropertyValues("management.endpoints.jmx.exposure.include=rdma", "spring.jmx.enabled=true");

	@Test
	void eachPartIsShownAlone() {
		this.runner.withPropertyValues("rdma.rpc.provider=iwarp").run((context) -> {
			greeter(context).greet("world");
			RdmaEndpoint endpoint = context.getBean(RdmaEndpoint.class);
			RdmaParts.Devices devices = (RdmaParts.Devices) endpoint.part("devices");
			assertThat(devices.device()).isIn(devices.devices());
			assertThat(devices.running()).isTrue();
			RdmaParts.Memory memory = (RdmaParts.Memory) endpoint.part("memory");
			assertThat(memory.pool().registered()).isPositive();
			assertThat(memory.settings().initial()).isEqualTo(1 << 20);
			assertThat(memory.receives()).extracting(RdmaParts.LoopReceives::loop)
				.containsExactlyInAnyOrder("rdma-rpc-server-0", "rdma-rpc-client-8192");
			assertThat(((ServerDescriptor) endpoint.part("server")).state()).isEqualTo("RUNNING");
			assertThat(((RdmaParts.Services) endpoint.part("services")).services()).singleElement()
				.satisfies((service) -> assertThat(service.name()).isEqualTo(SERVICE));
			assertThat(((RdmaParts.Clients) endpoint.part("clients")).clients()).singleElement()
				.satisfies((client) -> assertThat(client.deadline()).isEqualTo("PT30S"));
			assertThat(endpoint.part("nothing")).isNull();
			assertThat(endpoint.member("services", "nobody")).isNull();
			assertThat(endpoint.member("clients", "nobody")).isNull();
			assertThat(endpoint.member("devices", "iwarp0")).isNull();
		});
	}

	@Test
	void queuePairsAreShownFromBothEnds() {
		this.runner.run((context) -> {
			greeter(context).greet("world");
			RdmaParts.QueuePairs shown = (RdmaParts.QueuePairs) context.getBean(RdmaEndpoint.class).part("queue-pairs");
			assertThat(shown.queuePairs()).hasSize(2)
				.extracting(RdmaParts.QueuePair::role)
				.containsExactlyInAnyOrder("client", "server");
			assertThat(shown.queuePairs()).extracting(RdmaParts.QueuePair::number)
				.doesNotHaveDuplicates()
				.doesNotContain(0);
			assertThat(shown.queuePairs()).allSatisfy((pair) -> {
				assertThat(pair.state()).isEqualTo("OPEN");
				assertThat(pair.outstandingCalls()).isZero();
				assertThat(pair.sendCredits()).isPositive();
				assertThat(pair.promisedReceives()).isPositive();
				assertThat(pair.receivedFrames()).isPositive();
				assertThat(pair.cancels()).isZero();
				assertThat(pair.unfinishedBytes()).isZero();
			});
			RdmaParts.QueuePair client = shown.queuePairs()
				.stream()
				.filter((pair) -> pair.role().equals("client"))
				.findFirst()
				.get();
			assertThat(client.peer()).endsWith(":" + context.getBean(RpcServer.class).port());
			assertThat(client.localAddress()).contains("127.0.0.1:");
		});
	}

	@Test
	void whoIsNoCallerIsShownByItsAddress() {
		this.runner.run((context) -> {
			RpcServer server = context.getBean(RpcServer.class);
			try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
				stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
				assertThat(stranger.getInputStream().read()).as("the end").isNegative();
			}
			ServerDescriptor shown = (ServerDescriptor) context.getBean(RdmaEndpoint.class).part("server");
			assertThat(shown.suspects()).singleElement().satisfies((suspect) -> {
				assertThat(suspect.address()).isEqualTo("127.0.0.1");
				assertThat(suspect.givenUp()).isOne();
				assertThat(suspect.rejected()).isZero();
				assertThat(suspect.lastReason()).contains("does not speak MPA");
				assertThat(Instant.parse(suspect.lastTime())).isBeforeOrEqualTo(Instant.now());
			});
			assertThat(server.metrics().connectionsGivenUp()).isOne();
		});
	}

	@Test
	void servicesAreShownWithTheirSchemas() {
		this.runner.run((context) -> {
			RdmaParts.Service service = (RdmaParts.Service) context.getBean(RdmaEndpoint.class)
				.member("services", SERVICE);
			assertThat(service.schema()).contains("rpc_service").contains("greet(").contains("reverse(");
			assertThat(service.methods()).hasSize(5).allSatisfy((method) -> {
				assertThat(method.schema()).contains("rpc_service").contains("  " + method.name() + "(");
				assertThat(service.schema()).contains("  " + method.name() + "(");
			});
		});
	}

	@Test
	void limitsAreChangedAndChecked() {
		this.runner.run((context) -> {
			greeter(context).greet("world");
			RdmaEndpoint endpoint = context.getBean(RdmaEndpoint.class);
			ClientDescriptor client = endpoint.changeMember("clients", "greetings", "90500ms");
			assertThat(client.deadline()).isEqualTo("PT1M30.5S");
			assertThat(context.getBean(RdmaClients.class).client("greetings").defaultDeadline())
				.isEqualTo(Duration.ofMillis(90_500));
			assertThat(endpoint.changeMember("clients", "nobody", "1s")).isNull();
			assertThat(context.getBean(RdmaClients.class).clients()).containsOnlyKeys("greetings");
			assertThatExceptionOfType(InvalidEndpointRequestException.class)
				.isThrownBy(() -> endpoint.changeMember("clients", "greetings", "soon"))
				.satisfies((ex) -> assertThat(ex.getReason())
					.isEqualTo("deadline 'soon' (expected: a duration such as 500ms or PT2S, 0 for none)"));
			assertThatExceptionOfType(InvalidEndpointRequestException.class)
				.isThrownBy(() -> endpoint.changeMember("clients", "greetings", "-1s"))
				.withMessage("deadline -1s (expected: not negative)");
			assertThat(endpoint.change("server", null, 7).maxConcurrentCalls()).isEqualTo(7);
			assertThatExceptionOfType(InvalidEndpointRequestException.class)
				.isThrownBy(() -> endpoint.change("server", null, 0))
				.withMessage("maxConcurrentCalls 0 (expected: at least 1)");
			assertThatExceptionOfType(InvalidEndpointRequestException.class)
				.isThrownBy(() -> endpoint.change("server", null, null))
				.withMessageContaining("nothing to change");
			assertThat(endpoint.change("memory", true, null)).isNull();
			assertThat(context.getBean(RpcServer.class).options().maxConcurrentCalls()).isEqualTo(7);
			assertThat(context.getBean(RpcServer.class).isRunning()).isTrue();
			assertThat(greeter(context).greet("again")).isEqualTo("Hello again");
		});
	}

	@Test
	void serverIsDrainedAndPutBackIntoService() {
		this.runner.withPropertyValues("rdma.rpc.client.greetings.restart-timeout=0").run((context) -> {
			AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC);
			GreeterService service = context.getBean(GreeterService.class);
			RdmaEndpoint endpoint = context.getBean(RdmaEndpoint.class);
			Greeter greeter = greeter(context);
			CompletableFuture<Void> running = CompletableFuture.runAsync(() -> call(greeter));
			assertThat(service.entered().await(20, TimeUnit.SECONDS)).isTrue();
			assertThat(endpoint.change("server", true, null).state()).isEqualTo("DRAINING");
			assertThat(readiness(context)).isEqualTo(ReadinessState.REFUSING_TRAFFIC);
			await(() -> !context.getBean(RpcServer.class).isRunning());
			assertThat(greetUntilRefused(greeter).status()).isEqualTo(RpcStatus.UNAVAILABLE);
			assertThatExceptionOfType(InvalidEndpointRequestException.class)
				.isThrownBy(() -> endpoint.change("server", false, null))
				.withMessage("the server is still draining: 1 calls are running");
			assertThat(endpoint.change("server", true, null).state()).isEqualTo("DRAINING");
			assertThat(running).isNotDone();
			service.latch("running").countDown();
			assertThat(running).succeedsWithin(Duration.ofSeconds(20));
			RdmaServerControl control = context.getBean(RdmaServerControl.class);
			await(() -> control.state() == RdmaServerControl.State.STOPPED);
			assertThat(endpoint.change("server", true, null).state()).isEqualTo("STOPPED");
			assertThat(endpoint.change("server", false, null).state()).isEqualTo("RUNNING");
			assertThat(readiness(context)).isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
			assertThat(context.getEnvironment().getProperty("local.rdma.port", Integer.class))
				.isEqualTo(context.getBean(RpcServer.class).port());
			assertThat(greetUntilAnswered(greeter)).isEqualTo("Hello again");
			assertThat(endpoint.change("server", false, null).state()).isEqualTo("RUNNING");
		});
	}

	@Test
	void beansThatCallsUseAreStoppedAfterTheDrain() {
		this.runner.withBean(Backend.class).withPropertyValues("rdma.rpc.server.drain-timeout=30s").run((context) -> {
			GreeterService service = context.getBean(GreeterService.class);
			Backend backend = context.getBean(Backend.class);
			RpcServer server = context.getBean(RpcServer.class);
			Greeter greeter = greeter(context);
			CompletableFuture<Void> running = CompletableFuture.runAsync(() -> call(greeter), THREADS);
			assertThat(service.entered().await(20, TimeUnit.SECONDS)).isTrue();
			context.getBean(RdmaServerControl.class).drain();
			await(() -> !server.isRunning());
			CompletableFuture<Void> closing = CompletableFuture
				.runAsync(context.getSourceApplicationContext(ConfigurableApplicationContext.class)::close, THREADS);
			await(() -> !backend.isRunning() || isShuttingDown());
			boolean stopped = !backend.isRunning();
			service.latch("running").countDown();
			assertThat(stopped).as("the bean was stopped beside the call").isFalse();
			assertThat(running).succeedsWithin(Duration.ofSeconds(20));
			assertThat(closing).succeedsWithin(Duration.ofSeconds(20));
			assertThat(backend.isRunning()).isFalse();
		});
	}

	private static boolean isShuttingDown() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.anyMatch((thread) -> thread.getName().equals("rdma-rpc-shutdown"));
	}

	@Test
	void serverIsInServiceThoughAListenerOfItsStartFails() {
		AtomicBoolean failing = new AtomicBoolean();
		this.runner.withInitializer((context) -> context.addApplicationListener((event) -> {
			if (event instanceof RdmaServerStartedEvent && failing.get()) {
				throw new IllegalStateException("the directory is down");
			}
		})).run((context) -> {
			AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC);
			RdmaServerControl control = context.getBean(RdmaServerControl.class);
			control.drain();
			await(() -> control.state() == RdmaServerControl.State.STOPPED);
			failing.set(true);
			assertThatIllegalStateException().isThrownBy(control::resume).withMessage("the directory is down");
			assertThat(control.state()).isEqualTo(RdmaServerControl.State.RUNNING);
			assertThat(readiness(context)).isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
			assertThat(greetUntilAnswered(greeter(context))).isEqualTo("Hello again");
		});
	}

	@Test
	void applicationClosesWhileItsServerIsOutOfService() {
		List<RegisteredMemory> memory = new ArrayList<>();
		Set<Thread> others = keepAliveThreads();
		this.runner.run((context) -> {
			greeter(context).greet("world");
			memory.add(context.getBean(RegisteredMemory.class));
			RdmaServerControl control = context.getBean(RdmaServerControl.class);
			control.drain();
			await(() -> control.state() == RdmaServerControl.State.STOPPED);
			assertThat(newThreads(others)).isOne();
			control.resume();
			await(() -> newThreads(others) == 1);
			control.drain();
		});
		assertThat(memory.get(0).metrics().outstanding()).isZero();
		await(() -> newThreads(others) == 0);
	}

	/** Those of contexts that are closing may end at any time. */
	private static long newThreads(Set<Thread> others) {
		return keepAliveThreads().stream().filter((thread) -> !others.contains(thread)).count();
	}

	private static Set<Thread> keepAliveThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("rdma-rpc-keep-alive"))
			.collect(Collectors.toSet());
	}

	private static void call(Greeter greeter) {
		try {
			greeter.await("running");
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A call may still pass before the goodbye has been read. */
	private static RpcException greetUntilRefused(Greeter greeter) {
		long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
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

	private static String greetUntilAnswered(Greeter greeter) {
		long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
		while (true) {
			try {
				return greeter.greet("again");
			}
			catch (RpcException ex) {
				assertThat(System.nanoTime() - deadline).as(ex.toString()).isNegative();
			}
		}
	}

	private static ReadinessState readiness(ApplicationContext context) {
		return context.getBean(ApplicationAvailabilityBean.class).getReadinessState();
	}

	private static Greeter greeter(ApplicationContext context) {
		return context.getBean(RdmaClients.class).proxy("greetings", Greeter.class);
	}

	private static void await(BooleanSupplier condition) {
		long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - deadline).as("condition not met in time").isNegative();
			Thread.onSpinWait();
		}
	}

	/** A bean that is stopped after servers, by its phase. */
	private static final class Backend implements SmartLifecycle {

		private volatile boolean running;

		@Override
		public void start() {
			this.running = true;
		}

		@Override
		public void stop() {
			this.running = false;
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

		@Override
		public int getPhase() {
			return 0;
		}

	}

}
