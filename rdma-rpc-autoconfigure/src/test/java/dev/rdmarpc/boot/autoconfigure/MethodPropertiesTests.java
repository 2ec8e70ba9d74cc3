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
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.boot.metrics.RdmaHedgingMetrics;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.AttemptBudget;
import dev.rdmarpc.rpc.HedgingOptions;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.MethodOptions;
import dev.rdmarpc.rpc.RdmaMethod;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.ServiceDescriptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Hedging and deadlines of methods, as properties ask for them. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MethodPropertiesTests {

	private static final String CLIENT = "rdma.rpc.client.finder.";

	@Test
	void slowCallsAreMadeOnceMoreAndCounted() {
		FinderService service = new FinderService();
		AtomicReference<RegisteredMemory> memory = new AtomicReference<>();
		RdmaContextRunner.create()
			.withUserConfiguration(Both.class)
			.withBean(FinderService.class, () -> service)
			.withPropertyValues(CLIENT + "hedging.max-attempts=2", CLIENT + "hedging.delay=5ms",
					CLIENT + "hedging.budget=1", CLIENT + "methods.Finder.find.hedging.max-attempts=1",
					CLIENT + "methods.Finder.find-hurried.deadline=20ms")
			.run((context) -> {
				memory.set(context.getBean(RegisteredMemory.class));
				MeterRegistry registry = context.getBean(MeterRegistry.class);
				context.getBean(RdmaHedgingMetrics.class).bindTo(registry);
				Finder finder = context.getBean(RdmaClients.class).proxy("finder", Finder.class);
				assertThat(finder.findFirst("blocking")).isEqualTo(2);
				assertThat(finder.findLater("future").get()).isEqualTo(2);
				assertThat(finder.findReactive("mono").block()).isEqualTo(2);
				assertThat(finder.findHurried("late").handle((value, failure) -> String.valueOf(failure)).get())
					.contains("DEADLINE_EXCEEDED");
				CompletableFuture<?>[] others = new CompletableFuture<?>[AttemptBudget.RESERVE + 2];
				for (int i = 0; i < others.length; i++) {
					others[i] = finder.findLater("more " + i);
				}
				awaitTrue(() -> count(registry, ".suppressed") > 0);
				CompletableFuture<Integer> once = finder.find("once");
				CompletableFuture<Integer> changed = finder.change("changed");
				service.free.countDown();
				CompletableFuture.allOf(others).get();
				assertThat(once.get()).isOne();
				assertThat(changed.get()).isOne();
				assertThat(count(registry, "")).as("attempts").isEqualTo(AttemptBudget.RESERVE);
				assertThat(count(registry, ".won")).as("answers of them").isBetween(1.0, count(registry, ""));
				assertThat(registry.get("rdma.rpc.client.hedges")
					.tag("target", "finder")
					.tag("method", "findReactive")
					.counter()
					.count()).isOne();
				awaitTrue(() -> context.getBean(RpcServer.class).activeCalls() == 0
						&& context.getBean(RdmaClients.class).client("finder").metrics().outstandingCalls() == 0);
			});
		assertThat(memory.get().metrics().outstanding()).isZero();
	}

	private static double count(MeterRegistry registry, String meter) {
		return registry.find("rdma.rpc.client.hedges" + meter)
			.counters()
			.stream()
			.mapToDouble((counter) -> counter.count())
			.sum();
	}

	private static void awaitTrue(BooleanSupplier condition) {
		long begin = System.nanoTime();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - begin).as("condition not met in time")
				.isLessThan(Duration.ofSeconds(30).toNanos());
			Thread.onSpinWait();
		}
	}

	@Test
	void theNearestEntryCounts() {
		ClientMethodSettings settings = settings("finder.hedging.max-attempts", "3", "default.hedging.delay", "7ms",
				"default.hedging.budget", "20", "finder.methods.Finder.find-later.hedging.delay", "9ms",
				"finder.methods.Finder.default.deadline", "2s", "default.methods.Finder.find.deadline", "1s",
				"default.methods.finder.change.deadline", "0");
		assertThat(settings.hedging()).isEqualTo(new HedgingOptions(3, Duration.ofMillis(7)));
		assertThat(settings.budget()).isEqualTo(0.2);
		assertThat(settings.of(method("findLater")))
			.isEqualTo(new MethodOptions(Duration.ofSeconds(2), new HedgingOptions(3, Duration.ofMillis(9))));
		assertThat(settings.of(method("find")).deadline()).isEqualTo(Duration.ofSeconds(1));
		assertThat(settings.of(method("change"))).isEqualTo(new MethodOptions(Duration.ZERO, null));
		assertThat(settings.of(method("watch"))).isEqualTo(new MethodOptions(Duration.ofSeconds(2), null));
		assertThat(settings("other.host", "x").of(method("find"))).isEqualTo(MethodOptions.NONE);
	}

	@Test
	void methodsThatCannotBeHedgedAreRefusedByTheirProperty() {
		for (String refused : List.of("change is not idempotent", "forget is one-way", "watch returns a stream")) {
			String name = refused.substring(0, refused.indexOf(' '));
			ClientMethodSettings settings = settings("finder.methods.Finder." + name + ".hedging.max-attempts", "2");
			assertThatThrownBy(() -> settings.of(method(name)))
				.hasMessageContaining(CLIENT + "methods.Finder." + name + ".hedging")
				.hasStackTraceContaining("an idempotent method with a reply and without streams, but ")
				.hasStackTraceContaining("Finder/" + refused);
		}
		RdmaContextRunner.create()
			.withUserConfiguration(Both.class)
			.withBean(FinderService.class)
			.withPropertyValues(CLIENT + "methods.Finder.change.hedging.max-attempts=2")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining(CLIENT + "methods.Finder.change.hedging"));
	}

	@Test
	void valuesAreChecked() {
		Map<String, String> wrong = Map.of("hedging.max-attempts", "11", "hedging.delay", "-1s", "hedging.budget", "0",
				"methods.Finder.find.hedging.max-attempts", "0", "methods.Finder.default.deadline", "-1s");
		wrong.forEach((property, value) -> assertThatThrownBy(() -> settings("finder." + property, value).check())
			.hasMessageContaining(CLIENT + property));
		for (String entry : List.of("finder.methods.Finder.find.", "default.methods.Finder.default.")) {
			assertThatThrownBy(() -> settings(entry + "hedging.budget", "20").check())
				.hasMessageContaining("rdma.rpc.client." + entry + "hedging.budget")
				.hasStackTraceContaining("is set for a target, not for a method");
		}
		assertThatThrownBy(() -> settings("finder.methods.Finder.fnid.deadline", "1s").of(method("find")))
			.hasStackTraceContaining("such as 'find'");
	}

	private static MethodDescriptor method(String name) {
		return ServiceDescriptor.of(Finder.class, new FlatBuffersCodec())
			.methods()
			.stream()
			.filter((method) -> method.name().equals(name))
			.findFirst()
			.orElseThrow();
	}

	private static ClientMethodSettings settings(String... namesAndValues) {
		Map<String, String> values = new ConcurrentHashMap<>();
		for (int i = 0; i < namesAndValues.length; i += 2) {
			values.put("rdma.rpc.client." + namesAndValues[i], namesAndValues[i + 1]);
		}
		return new ClientMethodSettings("finder",
				new Binder(List.of(new MapConfigurationPropertySource(values)), null,
						ApplicationConversionService.getSharedInstance())
					.bindOrCreate("rdma.rpc", Bindable.of(RdmaRpcProperties.class)));
	}

	/** Finds. */
	public interface Finder {

		@RdmaMethod(idempotent = true)
		CompletableFuture<Integer> find(String id);

		@RdmaMethod(idempotent = true)
		int findFirst(String id);

		@RdmaMethod(idempotent = true)
		CompletableFuture<Integer> findLater(String id);

		@RdmaMethod(idempotent = true)
		Mono<Integer> findReactive(String id);

		@RdmaMethod(deadlineMillis = 50_000)
		CompletableFuture<Integer> findHurried(String id);

		CompletableFuture<Integer> change(String id);

		@RdmaMethod(idempotent = true, oneWay = true)
		void forget();

		@RdmaMethod(idempotent = true)
		Flow.Publisher<Integer> watch();

	}

	/** Answers only the second time, unless it is free. */
	@RdmaService
	static class FinderService implements Finder {

		private final Map<String, AtomicInteger> times = new ConcurrentHashMap<>();

		private final CountDownLatch free = new CountDownLatch(1);

		private final CompletableFuture<Integer> never = new CompletableFuture<>();

		@Override
		public CompletableFuture<Integer> find(String id) {
			int now = this.times.computeIfAbsent(id, (any) -> new AtomicInteger()).incrementAndGet();
			if (now > 1) {
				return CompletableFuture.completedFuture(now);
			}
			return CompletableFuture.supplyAsync(() -> {
				try {
					this.free.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				return now;
			}, (task) -> new Thread(task).start());
		}

		@Override
		public int findFirst(String id) {
			return find(id).join();
		}

		@Override
		public CompletableFuture<Integer> findLater(String id) {
			return find(id);
		}

		@Override
		public Mono<Integer> findReactive(String id) {
			return Mono.fromFuture(find(id));
		}

		@Override
		public CompletableFuture<Integer> findHurried(String id) {
			return this.never;
		}

		@Override
		public CompletableFuture<Integer> change(String id) {
			return find(id);
		}

		@Override
		public void forget() {
		}

		@Override
		public Flow.Publisher<Integer> watch() {
			return (subscriber) -> {
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "finder", types = Finder.class)
	static class Both {

		@Bean
		MeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

	}

}
