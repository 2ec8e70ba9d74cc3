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

package dev.rdmarpc.boot.grpc;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.grpc.client.GrpcChannelFactory;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.grpc.server.lifecycle.GrpcServerStartedEvent;

import dev.rdmarpc.boot.grpc.GreeterApplication.CountingInterceptor;
import dev.rdmarpc.boot.grpc.GreeterApplication.GreeterService;
import dev.rdmarpc.boot.grpc.hello.GreetRequest;
import dev.rdmarpc.boot.grpc.hello.GreeterGrpc;
import dev.rdmarpc.boot.grpc.hello.Greeting;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** An application written for gRPC, with our starter and some properties. */
class GreeterApplicationTests {

	private static final long TIMEOUT_SECONDS = 60;

	private static final GreetRequest WORLD = GreetRequest.newBuilder().setName("world").setTimes(1000).build();

	@ParameterizedTest
	@ValueSource(strings = { "rdma", "http2" })
	void servesAndCallsWithAllThatBootOffers(String transport) throws Exception {
		List<Integer> announced = new ArrayList<>();
		ApplicationListener<GrpcServerStartedEvent> listener = (event) -> announced.add(event.getPort());
		ConfigurableApplicationContext context = start(listener);
		RegisteredMemory memory = context.getBean(RegisteredMemory.class);
		try {
			int http2Port = context.getBean("nettyGrpcServerLifecycle", GrpcServerLifecycle.class).getPort();
			assertThat(announced).containsExactly(http2Port);
			Channel channel = context.getBean(GrpcChannelFactory.class)
				.createChannel(transport.equals("rdma") ? "greeter" : "static://localhost:" + http2Port);
			GreeterGrpc.GreeterBlockingStub greeter = transport.equals("rdma")
					? context.getBean(GreeterGrpc.GreeterBlockingStub.class) : GreeterGrpc.newBlockingStub(channel);
			callsAreAnswered(context, greeter);
			healthAndReflectionAnswer(channel);
			assertThat(context.getBean(RdmaTransport.class).loops()).extracting(ChannelLoop::name)
				.filteredOn((name) -> name.startsWith("rdma-grpc-server"))
				.hasSize(1);
		}
		finally {
			context.close();
		}
		assertThat(memory.metrics().outstanding()).as("outstanding buffers").isZero();
	}

	private static void callsAreAnswered(ConfigurableApplicationContext context,
			GreeterGrpc.GreeterBlockingStub greeter) {
		assertThat(greeter.greet(WORLD).getText()).isEqualTo("Hello world");
		List<Greeting> greetings = new ArrayList<>();
		greeter.greetManyTimes(WORLD).forEachRemaining(greetings::add);
		assertThat(greetings).hasSize(1000);
		assertThatExceptionOfType(StatusRuntimeException.class)
			.isThrownBy(() -> greeter.greet(GreetRequest.getDefaultInstance()))
			.satisfies((ex) -> {
				assertThat(ex.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
				assertThat(ex.getStatus().getDescription()).isEqualTo("nobody to greet");
			});
		CountingInterceptor counted = context.getBean(CountingInterceptor.class);
		assertThat(counted.count("hello.Greeter/Greet")).isEqualTo(2);
		assertThat(counted.count("hello.Greeter/GreetManyTimes")).isEqualTo(1);
		for (String observation : List.of("grpc.client", "grpc.server")) {
			await(() -> observed(context, observation) == 3, observation + " observed thrice");
		}
	}

	private static long observed(ConfigurableApplicationContext context, String name) {
		return context.getBean(MeterRegistry.class).find(name).timers().stream().mapToLong(Timer::count).sum();
	}

	private static void healthAndReflectionAnswer(Channel channel) throws Exception {
		assertThat(HealthGrpc.newBlockingStub(channel).check(HealthCheckRequest.getDefaultInstance()).getStatus())
			.isEqualTo(ServingStatus.SERVING);
		CompletableFuture<ServerReflectionResponse> listed = new CompletableFuture<>();
		StreamObserver<ServerReflectionRequest> requests = ServerReflectionGrpc.newStub(channel)
			.serverReflectionInfo(new StreamObserver<>() {

				@Override
				public void onNext(ServerReflectionResponse response) {
					listed.complete(response);
				}

				@Override
				public void onError(Throwable ex) {
					listed.completeExceptionally(ex);
				}

				@Override
				public void onCompleted() {
					// the answer has been given
				}

			});
		requests.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
		assertThat(listed.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).getListServicesResponse().getServiceList())
			.extracting((service) -> service.getName())
			.contains("hello.Greeter", "grpc.health.v1.Health");
		requests.onCompleted();
	}

	@Test
	void whoeverStopsItWaitsForCalls() throws Exception {
		ConfigurableApplicationContext context = start((event) -> {
		});
		RegisteredMemory memory = context.getBean(RegisteredMemory.class);
		GreeterService service = context.getBean(GreeterService.class);
		GreeterGrpc.GreeterBlockingStub greeter = context.getBean(GreeterGrpc.GreeterBlockingStub.class);
		GrpcServerLifecycle server = context.getBean("rdmaGrpcServerLifecycle", GrpcServerLifecycle.class);
		CompletableFuture<String> reply = CompletableFuture
			.supplyAsync(() -> greeter.greet(GreetRequest.newBuilder().setName("slow").build()).getText());
		assertThat(service.begun.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		CountDownLatch closed = new CountDownLatch(1);
		new Thread(() -> {
			context.close();
			closed.countDown();
		}).start();
		await(() -> !server.isRunning(), "the server stops");
		assertThat(reply).isNotDone();
		service.goOn.countDown();
		assertThat(reply.get(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isEqualTo("Hello slow");
		assertThat(closed.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		assertThat(memory.metrics().outstanding()).as("outstanding buffers").isZero();
	}

	@Test
	void thereIsNoServerWithoutAPort() {
		try (ConfigurableApplicationContext context = builder((event) -> {
		}).run()) {
			assertThat(context.containsBean("nettyGrpcServerLifecycle")).isTrue();
			assertThat(context.containsBean("rdmaGrpcServerLifecycle")).isFalse();
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			rdma.rpc.grpc.server.port                        | 65536              | from 0 to 65535
			rdma.rpc.grpc.server.loops                       | 0                  | from 1 to 1024
			rdma.rpc.grpc.server.max-connections             | 0                  | at least 1
			rdma.rpc.grpc.server.max-concurrent-calls        | 0                  | at least 1
			spring.grpc.client.channel.greeter.target        | rdma://localhost:1 | rdma:///host:port
			spring.grpc.client.channel.greeter.target        | rdma:///localhost  | rdma:///host:port
			spring.grpc.client.channel.greeter.target        | rdma:///a:65536    | a port from 1 to 65535
			spring.grpc.client.channel.greeter.ssl.enabled   | true               | rdma.rpc.client.greeter.ssl.bundle
			spring.grpc.client.channel.greeter.ssl.bundle    | mine               | rdma.rpc.client.greeter.ssl.bundle
			""")
	void refusesBadValues(String name, String value, String expectation) {
		assertThatException().isThrownBy(() -> builder((event) -> {
		}).properties("rdma.rpc.grpc.server.port=0", "spring.grpc.client.channel.greeter.target=rdma:///localhost:1",
				name + "=" + value)
			.run())
			.havingRootCause()
			.withMessageContaining(name)
			.withMessageContaining(value)
			.withMessageContaining(expectation);
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void saysWhichPropertyHasAPortThatIsInUse(CapturedOutput output) throws Exception {
		try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getByName("0.0.0.0"))) {
			String port = String.valueOf(other.getLocalPort());
			assertThatException().isThrownBy(() -> builder((event) -> {
			}).properties("rdma.rpc.grpc.server.port=" + port).run())
				.withStackTraceContaining("RDMA server cannot listen on")
				.withStackTraceContaining(port);
			assertThat(output).contains("the port is already in use", "'rdma.rpc.grpc.server.port'");
		}
	}

	private static ConfigurableApplicationContext start(ApplicationListener<GrpcServerStartedEvent> listener) {
		return builder(listener)
			.properties("rdma.rpc.grpc.server.port=0",
					"spring.grpc.client.channel.greeter.target=rdma:///localhost:${local.rdma.grpc.port}")
			.run();
	}

	private static SpringApplicationBuilder builder(ApplicationListener<GrpcServerStartedEvent> listener) {
		return new SpringApplicationBuilder(GreeterApplication.class).web(WebApplicationType.NONE)
			.listeners(listener)
			.properties("spring.grpc.server.port=0", "rdma.rpc.provider=iwarp", "logging.level.root=warn",
					"spring.main.banner-mode=off");
	}

	private static void await(BooleanSupplier condition, String what) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - deadline).as(what).isNegative();
			LockSupport.parkNanos(1_000_000);
		}
	}

}
