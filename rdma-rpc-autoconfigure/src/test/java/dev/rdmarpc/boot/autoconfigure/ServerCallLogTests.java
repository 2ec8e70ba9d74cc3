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

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.observation.RdmaServerObservationContext;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The log lines of calls that are served. */
class ServerCallLogTests {

	/** The common pool may have a single thread. */
	private static final Executor THREADS = (task) -> new Thread(task).start();

	private static final long SLOW_MILLIS = 100;

	private static final Pattern SLOW = Pattern.compile(
			"Slow call of dev.rdmarpc.boot.Greeter/(\\w+) from 127\\.0\\.0\\.1:\\d+: OK, waited (\\d+) ms, ran (\\d+) ms");

	private final ListAppender<ILoggingEvent> access = new ListAppender<>();

	private final ListAppender<ILoggingEvent> slow = new ListAppender<>();

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withUserConfiguration(GreeterService.class)
		.withPropertyValues("rdma.rpc.server.dispatch=executor");

	@BeforeEach
	void listen() {
		this.access.list = new CopyOnWriteArrayList<>();
		this.slow.list = new CopyOnWriteArrayList<>();
		this.access.start();
		this.slow.start();
		logger("dev.rdmarpc.access").addAppender(this.access);
		logger("dev.rdmarpc.slow-calls").addAppender(this.slow);
	}

	@AfterEach
	void listenNoMore() {
		logger("dev.rdmarpc.access").detachAppender(this.access);
		logger("dev.rdmarpc.slow-calls").detachAppender(this.slow);
	}

	private static Logger logger(String name) {
		return (Logger) LoggerFactory.getLogger(name);
	}

	@Test
	void nothingIsLoggedUnlessAskedFor() {
		this.runner.run((context) -> {
			slowCall(context);
			assertThat(this.access.list).isEmpty();
			assertThat(this.slow.list).isEmpty();
		});
	}

	@Test
	void eachCallHasALineInTheAccessLog() {
		this.runner.withPropertyValues("rdma.rpc.server.access-log=true").run((context) -> {
			greeter(context).greet("world");
			assertThatExceptionOfType(RpcException.class).isThrownBy(() -> greeter(context).fail("no such thing"));
			await(() -> this.access.list.size() == 2);
			String number = "\\d+ us";
			assertThat(lines(this.access).get(0)).matches(
					"127\\.0\\.0\\.1:\\d+ dev.rdmarpc.boot.Greeter/greet OK, waited " + number + ", ran " + number);
			assertThat(lines(this.access).get(1)).contains("Greeter/fail NOT_FOUND, waited ");
			assertThat(this.slow.list).isEmpty();
		});
	}

	@Test
	void linesNameTheTrace() {
		ObservationRegistry registry = ObservationRegistry.create();
		registry.observationConfig().observationHandler(new Tracing());
		this.runner.withBean(ObservationRegistry.class, () -> registry)
			.withPropertyValues("rdma.rpc.server.access-log=true", "rdma.rpc.server.slow-call-threshold=1ns")
			.run((context) -> {
				greeter(context).greet("world");
				await(() -> this.access.list.size() == 1 && this.slow.list.size() == 1);
				assertThat(lines(this.access).get(0)).endsWith(", trace 4bf92f3577b34da6a3ce929d0e0e4736");
				assertThat(lines(this.slow).get(0)).endsWith(", trace 4bf92f3577b34da6a3ce929d0e0e4736");
			});
	}

	@Test
	void slowCallHasOneLineInAWhile() {
		this.runner.withPropertyValues("rdma.rpc.server.slow-call-threshold=" + SLOW_MILLIS + "ms").run((context) -> {
			slowCall(context);
			await(() -> !lines(this.slow).isEmpty());
			Matcher line = SLOW.matcher(lines(this.slow).get(0));
			assertThat(line.matches()).as(lines(this.slow).get(0)).isTrue();
			assertThat(line.group(1)).isEqualTo("await");
			assertThat(Long.parseLong(line.group(2)) + Long.parseLong(line.group(3)))
				.isGreaterThanOrEqualTo(SLOW_MILLIS - 1);
			slowCall(context);
			assertThat(lines(this.slow)).filteredOn((text) -> text.contains("/await ")).hasSize(1);
			assertThat(this.access.list).isEmpty();
		});
		this.slow.list.clear();
		this.runner.withPropertyValues("rdma.rpc.server.slow-call-threshold=1h").run((context) -> {
			slowCall(context);
			assertThat(this.slow.list).isEmpty();
		});
	}

	@Test
	void waitForAThreadCounts() {
		this.runner
			.withPropertyValues("rdma.rpc.server.slow-call-threshold=" + SLOW_MILLIS + "ms",
					"rdma.rpc.server.handler-threads=platform", "rdma.rpc.server.max-handler-threads=1")
			.run((context) -> {
				GreeterService service = context.getBean(GreeterService.class);
				CompletableFuture<Void> first = CompletableFuture.runAsync(() -> await(greeter(context), "first"),
						THREADS);
				assertThat(service.entered().await(20, TimeUnit.SECONDS)).isTrue();
				CompletableFuture<byte[]> second = CompletableFuture
					.supplyAsync(() -> greeter(context).reverse(new byte[] { 1, 2 }), THREADS);
				await(() -> context.getBean(RpcServer.class).metrics().waitingCalls() == 1);
				pass(SLOW_MILLIS);
				service.latch("first").countDown();
				assertThat(first).succeedsWithin(Duration.ofSeconds(20));
				assertThat(second).succeedsWithin(Duration.ofSeconds(20));
				await(() -> lines(this.slow).stream().anyMatch((line) -> line.contains("/reverse ")));
				Matcher line = SLOW
					.matcher(lines(this.slow).stream().filter((text) -> text.contains("/reverse ")).findFirst().get());
				assertThat(line.matches()).isTrue();
				assertThat(Long.parseLong(line.group(2))).isGreaterThanOrEqualTo(SLOW_MILLIS - 1);
			});
	}

	@Test
	void thresholdIsChecked() {
		this.runner.withPropertyValues("rdma.rpc.server.slow-call-threshold=0s")
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.rootCause()
				.hasMessageContaining("rdma.rpc.server.slow-call-threshold"));
	}

	private void slowCall(ApplicationContext context) {
		GreeterService service = context.getBean(GreeterService.class);
		String latch = "slow" + System.nanoTime();
		CompletableFuture<Void> call = CompletableFuture.runAsync(() -> await(greeter(context), latch));
		await(() -> service.entered().getCount() == 0 && context.getBean(RpcServer.class).activeCalls() == 1);
		pass(SLOW_MILLIS);
		service.latch(latch).countDown();
		assertThat(call).succeedsWithin(Duration.ofSeconds(20));
		await(() -> context.getBean(RpcServer.class).activeCalls() == 0);
	}

	/** Lets time pass from now on, after what is measured has begun. */
	private static void pass(long millis) {
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
		for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
	}

	private static void await(Greeter greeter, String latch) {
		try {
			greeter.await(latch);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static List<String> lines(ListAppender<ILoggingEvent> appender) {
		return appender.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
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

	private static final class Tracing implements ObservationHandler<Observation.Context> {

		@Override
		public void onScopeOpened(Observation.Context context) {
			MDC.put("traceId", "4bf92f3577b34da6a3ce929d0e0e4736");
		}

		@Override
		public void onScopeClosed(Observation.Context context) {
			MDC.remove("traceId");
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof RdmaServerObservationContext;
		}

	}

}
