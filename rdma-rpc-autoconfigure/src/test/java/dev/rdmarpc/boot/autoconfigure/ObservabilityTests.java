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
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.docs.MeterDocumentation;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.micrometer.observation.transport.ReceiverContext;
import io.micrometer.observation.transport.SenderContext;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.health.actuate.endpoint.StatusAggregator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import reactor.core.publisher.Mono;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaEndpoint;
import dev.rdmarpc.boot.endpoint.RdmaInfoContributor;
import dev.rdmarpc.boot.health.RdmaClientHealthIndicator;
import dev.rdmarpc.boot.health.RdmaHealthContributor;
import dev.rdmarpc.boot.metrics.RdmaClientMeters;
import dev.rdmarpc.boot.metrics.RdmaClientMetrics;
import dev.rdmarpc.boot.metrics.RdmaMeters;
import dev.rdmarpc.boot.metrics.RdmaTransportMetrics;
import dev.rdmarpc.boot.observation.DefaultRdmaServerObservationConvention;
import dev.rdmarpc.boot.observation.RdmaClientObserver;
import dev.rdmarpc.boot.observation.RdmaServerObservationConvention;
import dev.rdmarpc.boot.observation.RdmaServerObserver;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.QueuePairPoolMetrics;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What Micrometer and Actuator see of real calls. */
class ObservabilityTests {

	private static final String SERVICE = Greeter.class.getName();

	private final TestObservationRegistry observations = TestObservationRegistry.create();

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withUserConfiguration(GreeterService.class);

	private final ApplicationContextRunner observed = this.runner.withBean(ObservationRegistry.class,
			() -> this.observations);

	/** In the mode that Boot has Reactor propagate, where operators do not. */
	@Test
	void theObservationInReactorsContextIsTheParent() {
		this.observed.run((context) -> {
			Observation parent = Observation.start("parent", this.observations);
			ReactiveGreeter reactive = context.getBean(RdmaClients.class)
				.client("greetings")
				.proxy(SERVICE, ReactiveGreeter.class);
			assertThat(reactive.greet("world")
				.contextWrite((reactor) -> reactor.put(ObservationThreadLocalAccessor.KEY, parent))
				.block(Duration.ofSeconds(30))).contains("world");
			TestObservationRegistryAssert.assertThat(this.observations)
				.hasObservationWithNameEqualTo("rdma.rpc.client.calls")
				.that()
				.hasParentObservationEqualTo(parent);
			parent.stop();
		});
	}

	@Test
	void callIsObservedOnBothSides() {
		this.observed.run((context) -> {
			greeter(context).greet("world");
			for (String name : new String[] { "rdma.rpc.client.calls", "rdma.rpc.server.calls" }) {
				TestObservationRegistryAssert.assertThat(this.observations)
					.hasObservationWithNameEqualTo(name)
					.that()
					.hasBeenStopped()
					.doesNotHaveError()
					.hasContextualNameEqualTo(SERVICE + "/greet")
					.hasLowCardinalityKeyValue("service", SERVICE)
					.hasLowCardinalityKeyValue("method", "greet")
					.hasLowCardinalityKeyValue("status", "OK")
					.hasHighCardinalityKeyValueWithKey("peer");
			}
		});
	}

	@Test
	void failureIsObservedOnBothSides() {
		this.observed.run((context) -> {
			assertThatExceptionOfType(RpcException.class).isThrownBy(() -> greeter(context).fail("no such thing"));
			for (String name : new String[] { "rdma.rpc.client.calls", "rdma.rpc.server.calls" }) {
				TestObservationRegistryAssert.assertThat(this.observations)
					.hasObservationWithNameEqualTo(name)
					.that()
					.hasBeenStopped()
					.hasError()
					.hasLowCardinalityKeyValue("status", "NOT_FOUND");
			}
		});
	}

	@Test
	void contextTravelsWithTheRequest() {
		AtomicReference<String> received = new AtomicReference<>();
		this.observations.observationConfig()
			.observationHandler(new Sending())
			.observationHandler(new Receiving(received));
		this.observed.run((context) -> {
			greeter(context).greet("world");
			assertThat(received).hasValue("00-abc-def-01");
		});
	}

	@Test
	void observationsCanBeSwitchedOffAndReplaced() {
		this.observed.withPropertyValues("rdma.rpc.observation.client=false")
			.run((context) -> assertThat(context).doesNotHaveBean(RdmaClientObserver.class)
				.hasSingleBean(RdmaServerObserver.class));
		this.observed.withPropertyValues("rdma.rpc.observation.server=false")
			.withBean("own", RdmaClientObserver.class, () -> new RdmaClientObserver(ObservationRegistry.NOOP, null))
			.run((context) -> {
				assertThat(context).hasBean("own")
					.hasSingleBean(RdmaClientObserver.class)
					.doesNotHaveBean(RdmaServerObserver.class);
				greeter(context).greet("world");
				TestObservationRegistryAssert.assertThat(this.observations).doesNotHaveAnyObservation();
			});
	}

	@Test
	void ownConventionNamesObservations() {
		this.observed
			.withBean(RdmaServerObservationConvention.class, () -> new DefaultRdmaServerObservationConvention() {

				@Override
				public String getName() {
					return "served";
				}

			})
			.run((context) -> {
				greeter(context).greet("world");
				TestObservationRegistryAssert.assertThat(this.observations)
					.hasObservationWithNameEqualTo("served")
					.that()
					.hasBeenStopped();
			});
	}

	@Test
	void everyMeterIsBound() {
		this.runner.withBean(SimpleMeterRegistry.class).run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			context.getBean(RdmaTransportMetrics.class).bindTo(registry);
			greeter(context).greet("world");
			context.getBean(RdmaClientMetrics.class).bindTo(registry);
			List<MeterDocumentation> meters = new ArrayList<>(List.of(RdmaMeters.values()));
			meters.addAll(List.of(RdmaClientMeters.values()));
			// Of targets with several addresses, and of those that retry or hedge.
			meters.removeAll(List.of(RdmaClientMeters.ADDRESS_STATE, RdmaClientMeters.RETRIES, RdmaClientMeters.HEDGES,
					RdmaClientMeters.HEDGES_WON, RdmaClientMeters.HEDGES_SUPPRESSED));
			for (MeterDocumentation meter : meters) {
				assertThat(registry.get(meter.getName()).meters()).as(meter.getName())
					.allSatisfy((bound) -> assertThat(bound.getId().getType()).isEqualTo(meter.getType()));
			}
			assertThat(registry.get("rdma.queue.pairs.open").gauge().value()).isEqualTo(2);
			assertThat(registry.get("rdma.memory.registered").gauge().value())
				.isEqualTo((double) context.getBean(RegisteredMemory.class).metrics().registeredBytes());
			assertThat(registry.get("rdma.completion.entries").functionCounter().count()).isPositive();
			await(() -> registry.get("rdma.receives.replacements").functionCounter().count() > 0);
			assertThat(registry.get("rdma.receives.promised").gauge().value()).isPositive();
			assertThat(registry.get("rdma.receives.memory").gauge().value())
				.isGreaterThanOrEqualTo(registry.get("rdma.receives.posted").gauge().value() * 8192);
			assertThat(registry.get("rdma.receives.refills").functionCounter().count()).isPositive();
			assertThat(registry.get("rdma.frames").tag("direction", "received").functionCounter().count())
				.isGreaterThanOrEqualTo(4);
			double sent = registry.get("rdma.bytes").tag("direction", "sent").functionCounter().count();
			assertThat(sent).isPositive();
			greeter(context).reverse(new byte[1000]);
			assertThat(registry.get("rdma.bytes").tag("direction", "sent").functionCounter().count())
				.isGreaterThan(sent + 2000);
		});
	}

	@Test
	void everyMeterSaysWhatItMeansAndHasItsUnitOnce() {
		this.runner.withBean(SimpleMeterRegistry.class).run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			greeter(context).greet("world");
			context.getBeansOfType(MeterBinder.class).values().forEach((binder) -> binder.bindTo(registry));
			List<Meter.Id> ids = registry.getMeters()
				.stream()
				.map(Meter::getId)
				.filter((id) -> id.getName().startsWith("rdma.") && !id.getName().startsWith("rdma.rpc."))
				.toList();
			assertThat(ids).extracting(Meter.Id::getName)
				.contains("rdma.queue.pairs.open", "rdma.client.queue.pairs.open", "rdma.server.threads");
			assertThat(ids).allSatisfy((id) -> {
				assertThat(id.getDescription()).as(id.getName()).endsWith(".");
				String unit = String.valueOf(id.getBaseUnit()).replaceAll("[^a-z]", "");
				assertThat(id.getName().replaceAll("[^a-z]", "")).as(id.getName()).doesNotContain(unit);
			});
			assertThat(registry.get("rdma.queue.pairs.open").gauge().getId().getBaseUnit()).isNull();
			assertThat(registry.get("rdma.memory.registered").gauge().getId().getBaseUnit()).isEqualTo("bytes");
		});
	}

	@Test
	void metersNeedARegistryAndGiveWay() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(RdmaTransportMetrics.class)
			.doesNotHaveBean(RdmaClientMetrics.class));
		this.runner.withBean(SimpleMeterRegistry.class)
			.withBean("own", RdmaTransportMetrics.class)
			.withBean("ownOfClients", RdmaClientMetrics.class)
			.run((context) -> assertThat(context).hasSingleBean(RdmaTransportMetrics.class)
				.hasBean("own")
				.hasSingleBean(RdmaClientMetrics.class)
				.hasBean("ownOfClients"));
	}

	@Test
	void clientsHaveMetersEachAsSoonAsThereIsOne() {
		this.runner
			.withPropertyValues("rdma.rpc.client.second.queue-pairs.min=2", "rdma.rpc.client.second.queue-pairs.max=3")
			.withBean(SimpleMeterRegistry.class)
			.run((context) -> {
				RdmaClients clients = context.getBean(RdmaClients.class);
				RpcClient first = clients.client("first");
				MeterRegistry registry = context.getBean(MeterRegistry.class);
				context.getBean(RdmaClientMetrics.class).bindTo(registry);
				RpcClient second = clients.client("second");
				assertThat(gauge(registry, RdmaClientMeters.MAX, "first")).isEqualTo(first.metrics().max());
				assertThat(gauge(registry, RdmaClientMeters.MIN, "second")).isEqualTo(2);
				assertThat(gauge(registry, RdmaClientMeters.OPEN, "second")).isZero();
				assertThat(gauge(registry, RdmaClientMeters.HEALTH, "second")).isOne();
				second.proxy(Greeter.class).greet("world");
				await(() -> gauge(registry, RdmaClientMeters.OPEN, "second") == 2);
				// one that is open is counted a moment later
				FunctionCounter connects = registry.get(RdmaClientMeters.CONNECTS.getName())
					.tag("target", "second")
					.functionCounter();
				await(() -> connects.count() == 2);
				assertThat(gauge(registry, RdmaClientMeters.OPEN, "first")).isZero();
			});
	}

	private static double gauge(MeterRegistry registry, RdmaClientMeters meter, String target) {
		return registry.get(meter.getName()).tag("target", target).gauge().value();
	}

	private static void await(BooleanSupplier condition) {
		long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - deadline).as("condition not met in time").isNegative();
			Thread.onSpinWait();
		}
	}

	@Test
	void healthOfServerAndClients() {
		this.runner.run((context) -> {
			greeter(context).greet("world");
			assertThat(health(context, "server").getStatus()).isEqualTo(Status.UP);
			assertThat(health(context, "server").getDetails()).containsEntry("address",
					context.getBean(RpcServer.class).address().toString());
			assertThat(health(context, "client.greetings").getStatus()).isEqualTo(Status.UP);
			assertThat(context.getBean(RdmaHealthContributor.class).getContributor("client.others")).isNull();
			context.getBean(RpcServer.class).stop();
			assertThat(health(context, "server").getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
		});
	}

	@Test
	void healthIsDownWhileALoopIsHeldUpAndNothingWaitsForIt() {
		this.runner
			.withPropertyValues("management.endpoints.jmx.exposure.include=rdma", "spring.jmx.enabled=true",
					"management.info.rdma.enabled=true")
			.withBean(SimpleMeterRegistry.class)
			.run((context) -> {
				greeter(context).greet("world");
				assertThat(health(context, "transport").getStatus()).isEqualTo(Status.UP);
				ChannelLoop loop = context.getBean(RpcServer.class).loops().get(0);
				CountDownLatch release = new CountDownLatch(1);
				Thread blocked = new Thread(() -> loop.execute(() -> awaitUninterrupted(release)), "held-by-the-test");
				blocked.start();
				await(() -> health(context, "transport").getStatus().equals(Status.DOWN));
				assertThat(health(context, "transport").getDetails().toString()).contains(loop.name())
					.contains("held-by-the-test")
					.contains(ObservabilityTests.class.getSimpleName());
				assertThat(context.getBean(RdmaEndpoint.class).rdma().problems()).singleElement()
					.asString()
					.contains(loop.name());
				context.getBean(SimpleMeterRegistry.class)
					.getMeters()
					.forEach((meter) -> meter.measure().forEach(Measurement::getValue));
				assertThat(context.getBean(RpcServer.class).channels()).hasSize(1);
				release.countDown();
				await(() -> health(context, "transport").getStatus().equals(Status.UP));
				blocked.join();
			});
	}

	@Test
	void healthIsDownUntilADeviceThatDoesNotRunIsOpenedAgain() {
		this.runner.run((context) -> {
			assertThat(health(context, "transport").getStatus()).isEqualTo(Status.UP);
			RdmaTransport transport = context.getBean(RdmaTransport.class);
			SimpleMeterRegistry registry = new SimpleMeterRegistry();
			new RdmaTransportMetrics(transport).bindTo(registry);
			Gauge up = registry.get("rdma.rails.up").tag("rail", transport.rail().name()).gauge();
			AtomicReference<Health> down = new AtomicReference<>();
			await(() -> {
				transport.device().close();
				down.set(health(context, "transport"));
				return down.get().getStatus().equals(Status.DOWN) && up.value() == 0;
			});
			assertThat(down.get().getDetails()).containsKey("railsDown");
			assertThat(down.get().getDetails().toString()).contains("device " + transport.device().name());
			await(() -> health(context, "transport").getStatus().equals(Status.UP) && up.value() == 1);
		});
	}

	private static void awaitUninterrupted(CountDownLatch release) {
		while (release.getCount() > 0) {
			LockSupport.parkNanos(1_000_000);
		}
	}

	@Test
	void targetIsUnknownUntilItIsConnected() {
		this.runner.run((context) -> {
			greeter(context);
			assertThat(health(context, "client.greetings").getStatus()).isEqualTo(Status.UNKNOWN);
			greeter(context).greet("world");
			assertThat(health(context, "client.greetings").getStatus()).isEqualTo(Status.UP);
		});
	}

	@Test
	void targetWithoutConnectionIsDownOnlyWhereItIsRequired() {
		this.runner
			.withPropertyValues("rdma.rpc.server.enabled=false", "rdma.rpc.client.greetings.initial-backoff=1h",
					"rdma.rpc.client.greetings.max-backoff=1h")
			.run((context) -> {
				assertThatExceptionOfType(RpcException.class).isThrownBy(() -> greeter(context).greet("world"));
				assertThat(health(context, "client.greetings").getStatus()).isEqualTo(Status.UNKNOWN);
				assertThat(health(context, "client.greetings").getDetails()).containsEntry("required", false)
					.containsKey("lastFailure");
			});
		this.runner
			.withPropertyValues("rdma.rpc.server.enabled=false", "rdma.rpc.client.greetings.required=true",
					"rdma.rpc.client.greetings.initial-backoff=1h", "rdma.rpc.client.greetings.max-backoff=1h")
			.run((context) -> {
				assertThatExceptionOfType(RpcException.class).isThrownBy(() -> greeter(context).greet("world"));
				assertThat(health(context, "client.greetings").getStatus()).isEqualTo(Status.DOWN);
			});
	}

	@Test
	void targetIsDegradedWhileSomeOfItsQueuePairsAreLost() {
		this.runner
			.withPropertyValues("rdma.rpc.server.max-connections=3", "rdma.rpc.client.greetings.required=true",
					"rdma.rpc.client.greetings.queue-pairs.min=3", "rdma.rpc.client.greetings.queue-pairs.max=3",
					"rdma.rpc.client.greetings.initial-backoff=1h", "rdma.rpc.client.greetings.max-backoff=1h")
			.run((context) -> {
				QueuePairPoolMetrics pool = context.getBean(RdmaClients.class).client("greetings").metrics();
				greeter(context).greet("world");
				await(() -> pool.open() == 3);
				assertThat(health(context, "client.greetings").getDetails()).containsEntry("queuePairs", "3 of 3");
				List<RpcChannel> accepted = context.getBean(RpcServer.class).channels();
				accepted.get(1).close("lost by the test");
				await(() -> pool.open() == 2);
				assertThat(health(context, "client.greetings").getStatus())
					.isEqualTo(RdmaClientHealthIndicator.DEGRADED);
				await(() -> !context.getBean(RdmaClients.class).client("greetings").lastFailure().isEmpty());
				Health degraded = health(context, "client.greetings");
				assertThat(degraded.getStatus()).isEqualTo(RdmaClientHealthIndicator.DEGRADED);
				assertThat(degraded.getDetails()).containsEntry("queuePairs", "2 of 3").containsKey("lastFailure");
				accepted.forEach((channel) -> channel.close("lost by the test"));
				await(() -> pool.open() == 0);
				assertThat(health(context, "client.greetings").getStatus()).isEqualTo(Status.DOWN);
			});
	}

	@Test
	void degradedCountsInAnOrderThatKnowsIt() {
		Set<Status> both = Set.of(Status.UP, RdmaClientHealthIndicator.DEGRADED);
		assertThat(StatusAggregator.getDefault().getAggregateStatus(both)).isEqualTo(Status.UP);
		assertThat(StatusAggregator.of("down", "out-of-service", "degraded", "up", "unknown").getAggregateStatus(both))
			.isEqualTo(RdmaClientHealthIndicator.DEGRADED);
	}

	@Test
	void healthAndEndpointCanBeSwitchedOff() {
		this.runner.withPropertyValues("management.health.rdma.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(RdmaHealthContributor.class)
				.doesNotHaveBean(RdmaEndpoint.class)
				.doesNotHaveBean(RdmaInfoContributor.class));
	}

	@Test
	void endpointAndInfoShowProviderServerAndClients() {
		this.runner
			.withPropertyValues("rdma.rpc.provider=iwarp", "management.endpoints.jmx.exposure.include=rdma",
					"spring.jmx.enabled=true", "management.info.rdma.enabled=true")
			.run((context) -> {
				greeter(context).greet("world");
				RdmaDescriptor shown = context.getBean(RdmaEndpoint.class).rdma();
				assertThat(shown.provider().name()).isEqualTo("iwarp");
				assertThat(shown.server().connections()).isEqualTo(1);
				assertThat(shown.server().maxConnections()).isEqualTo(1024);
				assertThat(shown.server().services()).singleElement().satisfies((service) -> {
					assertThat(service.name()).isEqualTo(SERVICE);
					assertThat(service.methods()).extracting((method) -> method.signature())
						.contains("Greeter.greet(String)", "Greeter.reverse(byte[])");
				});
				assertThat(shown.clients()).singleElement().satisfies((client) -> {
					assertThat(client.state()).isEqualTo("READY");
					assertThat(client.health()).isEqualTo("UP");
					assertThat(client.pool().open()).isEqualTo(1);
					assertThat(client.pool().connects()).isEqualTo(1);
				});
				assertThat(shown.loops()).hasSize(2).allSatisfy((loop) -> assertThat(loop.channels()).hasSize(1));
				Info.Builder info = new Info.Builder();
				context.getBean(RdmaInfoContributor.class).contribute(info);
				assertThat(info.build().getDetails().toString()).contains("provider=iwarp")
					.contains("port=" + context.getBean(RpcServer.class).port());
			});
	}

	private static Greeter greeter(ApplicationContext context) {
		return context.getBean(RdmaClients.class).proxy("greetings", Greeter.class);
	}

	private static Health health(ApplicationContext context, String component) {
		HealthIndicator indicator = (HealthIndicator) context.getBean(RdmaHealthContributor.class)
			.getContributor(component);
		return indicator.health();
	}

	private static final class Sending implements ObservationHandler<SenderContext<Object>> {

		@Override
		public void onStart(SenderContext<Object> context) {
			context.getSetter().set(context.getCarrier(), "traceparent", "00-abc-def-01");
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof SenderContext;
		}

	}

	private record Receiving(AtomicReference<String> received) implements ObservationHandler<ReceiverContext<Object>> {

		@Override
		public void onStart(ReceiverContext<Object> context) {
			this.received.set(context.getGetter().get(context.getCarrier(), "traceparent"));
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof ReceiverContext;
		}

	}

	/** {@link Greeter}, called by subscribers. */
	interface ReactiveGreeter {

		Mono<String> greet(String name);

	}

}
