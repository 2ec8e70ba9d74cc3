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

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshotFactory;
import io.micrometer.context.integration.Slf4jThreadLocalAccessor;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.ContextPropagation;

import static org.assertj.core.api.Assertions.assertThat;

/** What Micrometer knows of a thread follows calls to others. */
class ContextPropagationTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withBean(ObservationRegistry.class, ObservationRegistry::create)
		.withUserConfiguration(Serving.class);

	private final Slf4jThreadLocalAccessor accessor = new Slf4jThreadLocalAccessor("tenant");

	@BeforeEach
	void registerMdc() {
		ContextRegistry.getInstance().registerThreadLocalAccessor(this.accessor);
	}

	@AfterEach
	void forgetMdc() {
		MDC.clear();
		ContextRegistry.getInstance().removeThreadLocalAccessor(this.accessor.key().toString());
	}

	private static Patience client(ApplicationContext context) {
		return context.getBean("patience.contextPropagationTests.Patience", Patience.class);
	}

	@Test
	void loggingContextAndObservationFollowACall() {
		this.runner.withPropertyValues("spring.task.execution.propagate-context=true").run((context) -> {
			ObservationRegistry registry = context.getBean(ObservationRegistry.class);
			registry.observationConfig().observationHandler((observed) -> true);
			List<@Nullable Object> seen = new CopyOnWriteArrayList<>();
			Observation outer = Observation.start("outer", registry);
			MDC.put("tenant", "north");
			CompletableFuture<Void> all = outer.scoped(() -> client(context).later().thenAccept((result) -> {
				seen.add(MDC.get("tenant"));
				seen.add(registry.getCurrentObservation());
			}));
			MDC.clear();
			context.getBean(PatienceService.class).release.countDown();
			all.join();
			outer.stop();
			assertThat(seen).containsExactly("north", outer);
			assertThat(MDC.get("tenant")).isNull();
		});
	}

	@Test
	void nothingFollowsUnlessItIsWanted() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(ContextPropagation.class));
		this.runner.withPropertyValues("spring.task.execution.propagate-context=true")
			.withClassLoader(new FilteredClassLoader(ContextSnapshotFactory.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("rdmaContextPropagation"));
	}

	@Test
	void anotherPropagationCanReplaceIt() {
		List<String> captured = new CopyOnWriteArrayList<>();
		this.runner.withPropertyValues("spring.task.execution.propagate-context=true")
			.withBean(ContextPropagation.class, () -> () -> {
				captured.add("captured");
				return () -> () -> {
				};
			})
			.run((context) -> {
				assertThat(context).hasSingleBean(ContextPropagation.class);
				context.getBean(PatienceService.class).release.countDown();
				assertThat(client(context).later().join()).isEqualTo("late");
				assertThat(captured).hasSize(1);
			});
	}

	/** The service. */
	public interface Patience {

		CompletableFuture<String> later();

	}

	@RdmaService
	static class PatienceService implements Patience {

		private final CountDownLatch release = new CountDownLatch(1);

		@Override
		public CompletableFuture<String> later() {
			return CompletableFuture.supplyAsync(() -> {
				try {
					this.release.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
				return "late";
			});
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "patience", types = Patience.class)
	static class Serving {

		@Bean
		PatienceService patienceService() {
			return new PatienceService();
		}

	}

}
