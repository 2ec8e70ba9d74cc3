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
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationPredicate;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationRegistryCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.boot.observation.DefaultRdmaClientObservationConvention;
import dev.rdmarpc.boot.observation.DefaultRdmaServerObservationConvention;
import dev.rdmarpc.boot.observation.RdmaCallMeters;
import dev.rdmarpc.boot.observation.RdmaClientObservationContext;
import dev.rdmarpc.boot.observation.RdmaClientObservationConvention;
import dev.rdmarpc.boot.observation.RdmaServerObservationContext;
import dev.rdmarpc.boot.observation.RdmaServerObservationConvention;
import dev.rdmarpc.rpc.RpcException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Calls feed their meters without an observation as long as an observation would do
 * nothing else, and nobody sees a difference in the meters.
 */
class CallMetersTests {

	private static final String CLIENT = "rdma.rpc.client.calls";

	private static final String SERVER = "rdma.rpc.server.calls";

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withConfiguration(AutoConfigurations.of(ObservationAutoConfiguration.class, MetricsAutoConfiguration.class,
				CompositeMeterRegistryAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class))
		.withUserConfiguration(WatchingService.class);

	@Test
	void metersAreTheSameWithAndWithoutObservations() {
		Map<String, Long> measured = new TreeMap<>();
		this.runner.run((context) -> {
			assertThat(useAll(context)).isFalse();
			measured.putAll(meters(context));
		});
		assertThat(measured).hasSize(14)
			.containsEntry("rdma.rpc.client.calls{error=RpcException,method=fail,service=" + Greeter.class.getName()
					+ ",status=NOT_FOUND} TIMER", 1L)
			.containsEntry("rdma.rpc.server.calls{error=IllegalStateException,method=fail,service="
					+ Greeter.class.getName() + ",status=UNKNOWN} TIMER", 1L);
		this.runner.withBean(Recording.class).run((context) -> {
			assertThat(useAll(context)).isTrue();
			assertThat(meters(context)).isEqualTo(measured);
		});
	}

	static List<Arguments> needs() {
		return List.of(need("a handler", (runner) -> runner.withBean(Recording.class)),
				need("a handler of meters",
						(runner) -> runner.withBean("own", MeterObservationHandler.class, RecordingMeters::new)),
				need("a second handler of the default kind",
						(runner) -> runner.withBean("own", DefaultMeterObservationHandler.class,
								() -> new DefaultMeterObservationHandler(new SimpleMeterRegistry()))),
				need("a predicate",
						(runner) -> runner.withBean(ObservationPredicate.class, () -> (name, context) -> true)),
				need("a filter", (runner) -> runner.withBean(ObservationFilter.class, () -> (context) -> context)),
				need("conventions", (runner) -> runner
					.withBean(RdmaClientObservationConvention.class, DefaultRdmaClientObservationConvention::new)
					.withBean(RdmaServerObservationConvention.class, DefaultRdmaServerObservationConvention::new)),
				need("global conventions",
						(runner) -> runner.withBean("client", GlobalObservationConvention.class, ClientConvention::new)
							.withBean("server", GlobalObservationConvention.class, ServerConvention::new)),
				need("a customizer that adds a handler",
						(runner) -> runner.withBean(ObservationRegistryCustomizer.class,
								() -> (registry) -> registry.observationConfig().observationHandler(new Recording()))),
				need("common key values",
						(runner) -> runner.withPropertyValues("management.observations.key-values.region=north")));
	}

	private static Arguments need(String what, UnaryOperator<ApplicationContextRunner> added) {
		return Arguments.of(what, added);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("needs")
	void callsAreObservationsForWhoeverNeedsThem(String what, UnaryOperator<ApplicationContextRunner> added) {
		added.apply(this.runner).run((context) -> {
			greeter(context).greet("world");
			assertThat(context.getBean(WatchingService.class).sawObservation()).isTrue();
		});
	}

	@Test
	void commonKeyValuesAreTagsOfTimers() {
		this.runner.withPropertyValues("management.observations.key-values.region=north").run((context) -> {
			greeter(context).greet("world");
			assertThat(context.getBean(MeterRegistry.class).get(CLIENT).tag("region", "north").timer().count()).isOne();
		});
	}

	@Test
	void whatIsSwitchedOffByPropertyIsNotMeasured() {
		this.runner.withPropertyValues("management.observations.enable.rdma.rpc.client=false").run((context) -> {
			greeter(context).greet("world");
			await(() -> context.getBean(MeterRegistry.class).find(SERVER).timer() != null);
			assertThat(context.getBean(WatchingService.class).sawObservation()).isFalse();
			assertThat(context.getBean(MeterRegistry.class).find(CLIENT).meters()).isEmpty();
			assertThat(context.getBean(MeterRegistry.class).find(CLIENT + ".active").meters()).isEmpty();
		});
	}

	@Test
	void handlersOfOtherObservationsMakeNoDifference() {
		this.runner.withBean("other", ObservationHandler.class, () -> new Recording() {

			@Override
			public boolean supportsContext(Observation.Context context) {
				return !super.supportsContext(context);
			}

		}).run((context) -> {
			greeter(context).greet("world");
			assertThat(context.getBean(WatchingService.class).sawObservation()).isFalse();
		});
	}

	@Test
	void aHandlerAddedLaterSeesTheNextCall() {
		this.runner.run((context) -> {
			greeter(context).greet("world");
			assertThat(context.getBean(WatchingService.class).sawObservation()).isFalse();
			Recording late = new Recording();
			context.getBean(ObservationRegistry.class).observationConfig().observationHandler(late);
			greeter(context).greet("world");
			assertThat(context.getBean(WatchingService.class).sawObservation()).isTrue();
			await(() -> late.stopped.size() == 2);
			assertThat(late.stopped).containsExactlyInAnyOrder(CLIENT, SERVER);
			Timer timer = context.getBean(MeterRegistry.class).get(CLIENT).timer();
			assertThat(timer.count()).isEqualTo(2);
		});
	}

	@Test
	void metersThatWereRemovedAreMadeAgain() {
		this.runner.run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			greeter(context).greet("world");
			Timer first = registry.get(CLIENT).timer();
			assertThat(first.count()).isOne();
			registry.clear();
			assertThat(registry.find(CLIENT).timers()).isEmpty();
			greeter(context).greet("world");
			assertThat(registry.get(CLIENT).timer()).isNotSameAs(first)
				.satisfies((timer) -> assertThat(timer.count()).isOne());
			assertThat(registry.get(CLIENT + ".active").longTaskTimers()).hasSize(1);
		});
	}

	@Test
	void callsInProgressAreActiveOnBothSides() throws Exception {
		this.runner.run((context) -> {
			WatchingService service = context.getBean(WatchingService.class);
			Thread caller = new Thread(() -> awaitLatch(context));
			caller.start();
			service.entered().await();
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			for (String name : new String[] { CLIENT, SERVER }) {
				LongTaskTimer active = registry.get(name + ".active").tag("status", "none").longTaskTimer();
				await(() -> active.activeTasks() == 1);
				await(() -> active.duration(TimeUnit.NANOSECONDS) > 0);
			}
			service.latch("active").countDown();
			caller.join();
			for (String name : new String[] { CLIENT, SERVER }) {
				await(() -> registry.get(name + ".active").longTaskTimer().activeTasks() == 0);
				await(() -> registry.find(name).timer() != null && registry.get(name).timer().count() == 1);
			}
		});
	}

	private static void awaitLatch(ApplicationContext context) {
		try {
			greeter(context).await("active");
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void activeCallsCanBeIgnoredAndTimersConfigured() {
		this.runner
			.withPropertyValues("management.metrics.observations.ignored-meters=long-task-timer",
					"management.metrics.distribution.percentiles.rdma.rpc.client.calls=0.5,0.9",
					"management.metrics.distribution.slo.rdma.rpc.client.calls=1s,2s",
					"management.metrics.enable.rdma.rpc.server=false")
			.run((context) -> {
				greeter(context).greet("world");
				MeterRegistry registry = context.getBean(MeterRegistry.class);
				assertThat(context.getBean(WatchingService.class).sawObservation()).isFalse();
				assertThat(registry.find(CLIENT + ".active").meters()).isEmpty();
				assertThat(registry.find(SERVER).meters()).isEmpty();
				Timer timer = registry.get(CLIENT).timer();
				assertThat(timer.takeSnapshot().percentileValues()).hasSize(2);
				assertThat(timer.takeSnapshot().histogramCounts()).hasSize(2);
			});
	}

	@Test
	void metersOfAnotherHandlerAreNotUsed() {
		this.runner
			.withBean("own", RdmaCallMeters.class,
					() -> new RdmaCallMeters(new DefaultMeterObservationHandler(new SimpleMeterRegistry()),
							new SimpleMeterRegistry(), true))
			.run((context) -> {
				greeter(context).greet("world");
				assertThat(context).doesNotHaveBean("rdmaCallMeters");
				assertThat(context.getBean(WatchingService.class).sawObservation()).isTrue();
			});
	}

	private static boolean useAll(ApplicationContext context) throws Exception {
		Greeter greeter = greeter(context);
		greeter.greet("world");
		greeter.greet("moon");
		assertThat(greeter.greetLater("world").get(20, TimeUnit.SECONDS)).isEqualTo("Later world");
		for (String message : new String[] { "no such thing", "" }) {
			assertThatExceptionOfType(RpcException.class).isThrownBy(() -> greeter.fail(message));
		}
		await(() -> meters(context).values().stream().mapToLong(Long::longValue).sum() == 10);
		return context.getBean(WatchingService.class).sawObservation();
	}

	/** Names with tags and type, and how many calls they count. */
	private static Map<String, Long> meters(ApplicationContext context) {
		Map<String, Long> meters = new TreeMap<>();
		for (Meter meter : context.getBean(MeterRegistry.class).getMeters()) {
			Meter.Id id = meter.getId();
			if (id.getName().startsWith("rdma.rpc.")) {
				Set<String> tags = new TreeSet<>();
				id.getTags().forEach((tag) -> tags.add(tag.getKey() + "=" + tag.getValue()));
				meters.put(id.getName() + tags.toString().replace("[", "{").replace("]", "}").replace(", ", ",") + " "
						+ id.getType(), (meter instanceof Timer timer) ? timer.count() : 0L);
			}
		}
		return meters;
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

	/** Notices whether its calls are observations. */
	@RdmaService
	static class WatchingService extends GreeterService {

		private final ObservationRegistry registry;

		private volatile boolean observed;

		WatchingService(ObservationRegistry registry) {
			this.registry = registry;
		}

		@Override
		public String greet(String name) {
			Observation current = this.registry.getCurrentObservation();
			this.observed = current != null && current.getContextView() instanceof RdmaServerObservationContext;
			return super.greet(name);
		}

		boolean sawObservation() {
			return this.observed;
		}

	}

	static class Recording implements ObservationHandler<Observation.Context> {

		private final List<String> stopped = new CopyOnWriteArrayList<>();

		@Override
		public void onStop(Observation.Context context) {
			this.stopped.add(context.getName());
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof RdmaClientObservationContext || context instanceof RdmaServerObservationContext;
		}

	}

	static class RecordingMeters extends Recording implements MeterObservationHandler<Observation.Context> {

	}

	static class ClientConvention extends DefaultRdmaClientObservationConvention
			implements GlobalObservationConvention<RdmaClientObservationContext> {

		@Override
		public KeyValues getLowCardinalityKeyValues(RdmaClientObservationContext context) {
			return super.getLowCardinalityKeyValues(context).and(KeyValue.of("own", "key"));
		}

	}

	static class ServerConvention extends DefaultRdmaServerObservationConvention
			implements GlobalObservationConvention<RdmaServerObservationContext> {

	}

}
