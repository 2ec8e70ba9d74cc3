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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.boot.health.RdmaHealthContributor;
import dev.rdmarpc.boot.metrics.RdmaServerMeters;
import dev.rdmarpc.boot.metrics.RdmaServerMetrics;
import dev.rdmarpc.rpc.RpcServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers of an application that declares nothing: they may block and call each other.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HandlerThreadsTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
		.withUserConfiguration(Handlers.class);

	@Test
	void callersOfAHandlerThatCallsItsOwnServiceAllReturn() {
		this.runner.run((context) -> {
			Work work = work(context);
			context.getBean(Handlers.class).self = work;
			List<CompletableFuture<Void>> callers = new ArrayList<>();
			for (int i = 0; i < 16; i++) {
				CompletableFuture<Void> caller = new CompletableFuture<>();
				new Thread(() -> caller.completeAsync(() -> {
					for (int call = 0; call < 20; call++) {
						assertThat(work.nested(3)).isEqualTo(3);
					}
					return null;
				}, Runnable::run)).start();
				callers.add(caller);
			}
			assertThat(callers).allSatisfy((caller) -> assertThat(caller).succeedsWithin(Duration.ofSeconds(100)));
		});
	}

	@Test
	void handlersThatBlockRunAtTheSameTime() {
		this.runner.run((context) -> {
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			AsyncWork work = context.getBean(RdmaClients.class)
				.client("any")
				.proxy(Work.class.getName(), AsyncWork.class);
			for (int i = 0; i < Handlers.TOGETHER; i++) {
				calls.add(work.meet());
			}
			assertThat(calls).allSatisfy((call) -> assertThat(call).succeedsWithin(Duration.ofSeconds(100)));
		});
	}

	@Test
	void metersTellWhereHandlersRan() {
		this.runner.withBean(SimpleMeterRegistry.class)
			.withPropertyValues("rdma.rpc.server.dispatch=executor")
			.run((context) -> {
				for (int i = 0; i < 3; i++) {
					assertThat(work(context).nested(0)).isZero();
				}
				SimpleMeterRegistry registry = context.getBean(SimpleMeterRegistry.class);
				context.getBean(RdmaServerMetrics.class).bindTo(registry);
				for (RdmaServerMeters meter : RdmaServerMeters.values()) {
					assertThat(registry.find(meter.getName()).meters()).as(meter.getName()).isNotEmpty();
				}
				assertThat(handlers(registry, "executor")).isEqualTo(3);
				assertThat(handlers(registry, "loop")).isZero();
				assertThat(registry.get(RdmaServerMeters.THREADS_MAX.getName()).gauge().value()).isPositive();
			});
	}

	private static double handlers(SimpleMeterRegistry registry, String place) {
		return registry.get(RdmaServerMeters.HANDLERS.getName()).tag("place", place).functionCounter().count();
	}

	@Test
	void healthIsDownWhileAllHandlersBlock() {
		this.runner
			.withPropertyValues("rdma.rpc.server.handler-threads=platform", "rdma.rpc.server.max-handler-threads=1",
					"rdma.rpc.server.dispatch=executor")
			.run((context) -> {
				AsyncWork work = context.getBean(RdmaClients.class)
					.client("any")
					.proxy(Work.class.getName(), AsyncWork.class);
				CompletableFuture<Void> running = work.block();
				CompletableFuture<Void> waiting = work.block();
				await(() -> context.getBean(RpcServer.class).metrics().waitingCalls() == 1);
				assertThat(health(context).getStatus()).isEqualTo(Status.UP);
				await(() -> health(context).getStatus().equals(Status.DOWN));
				assertThat(health(context).getDetails().get("problem")).asString()
					.contains("waiting calls: 1, busy threads: 1")
					.contains("Handlers.block");
				context.getBean(Handlers.class).release.countDown();
				assertThat(running).succeedsWithin(Duration.ofSeconds(20));
				assertThat(waiting).succeedsWithin(Duration.ofSeconds(20));
				assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			});
	}

	private static Health health(ApplicationContext context) {
		HealthIndicator indicator = (HealthIndicator) context.getBean(RdmaHealthContributor.class)
			.getContributor("server");
		return indicator.health();
	}

	private static Work work(ApplicationContext context) {
		return context.getBean(RdmaClients.class).client("any").proxy(Work.class);
	}

	private static void await(BooleanSupplier condition) {
		long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - deadline).as("condition not met in time").isNegative();
			LockSupport.parkNanos(1_000_000);
		}
	}

	/** The service. */
	public interface Work {

		int nested(int depth);

		void meet();

		void block();

	}

	/** The same with futures. */
	public interface AsyncWork {

		CompletableFuture<Void> meet();

		CompletableFuture<Void> block();

	}

	/** Serves it. */
	@RdmaService
	static class Handlers implements Work {

		static final int TOGETHER = 32;

		private final CyclicBarrier together = new CyclicBarrier(TOGETHER);

		private final CountDownLatch release = new CountDownLatch(1);

		private volatile Work self = this;

		@Override
		public int nested(int depth) {
			return (depth == 0) ? 0 : 1 + this.self.nested(depth - 1);
		}

		@Override
		public void meet() {
			try {
				this.together.await(60, TimeUnit.SECONDS);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public void block() {
			try {
				assertThat(this.release.await(60, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
