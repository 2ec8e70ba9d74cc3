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

package dev.rdmarpc.boot.metrics;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.search.RequiredSearch;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.Priority;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

import static org.assertj.core.api.Assertions.assertThat;

class RdmaTransportMetricsTests {

	private static final Duration DEADLINE = Duration.ofSeconds(30);

	/** So few that requests wait for more. */
	private static final ChannelOptions FEW_CREDITS = ChannelOptions.DEFAULTS.withCredits(ChannelOptions.MIN_CREDITS,
			ChannelOptions.MIN_CREDITS);

	/** Of each class at a time. */
	private static final int CALLS = 100;

	/** Too long to share a Send, and so the credit of another one. */
	private static final int SMALL = 2000;

	/** Too large for a frame, so that it is read. */
	private static final int LARGE = 1 << 20;

	@Test
	void everyMeterThatIsDocumentedExists() {
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory)) {
			SimpleMeterRegistry registry = new SimpleMeterRegistry();
			new RdmaTransportMetrics(transport).bindTo(registry);
			assertThat(registry.getMeters()).map((meter) -> meter.getId().getName())
				.containsOnly(Arrays.stream(RdmaMeters.values()).map(RdmaMeters::getName).toArray(String[]::new));
		}
	}

	@Test
	void metersOfMemoryFollowIt() {
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory)) {
			SimpleMeterRegistry registry = new SimpleMeterRegistry();
			new RdmaTransportMetrics(transport).bindTo(registry);
			double before = value(registry, RdmaMeters.MEMORY_ALLOCATED);
			RegisteredBuffer buffer = memory.allocate(1024);
			assertThat(value(registry, RdmaMeters.MEMORY_ALLOCATED) - before).isEqualTo(1024);
			assertThat(value(registry, RdmaMeters.MEMORY_EXTENTS_ADDED)).isEqualTo(4);
			buffer.release();
			assertThat(value(registry, RdmaMeters.MEMORY_ALLOCATED)).isEqualTo(before);
			assertThat(value(registry, RdmaMeters.MEMORY_CACHED)).isGreaterThanOrEqualTo(1024);
		}
	}

	/**
	 * What each class shows is its own: those whose turn comes later show nothing yet.
	 */
	@Test
	void metersByPriorityFollowTheCallsOfTheirClass() throws Exception {
		TransportOptions options = TransportOptions.DEFAULTS.withProvider("iwarp", "");
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport.open(options, memory);
				RpcServer server = RpcServer.builder()
					.transport(transport)
					.options(RpcServerOptions.DEFAULTS.withLoopback(0).withChannel(FEW_CREDITS))
					.service(Store.class, (value) -> CompletableFuture.completedFuture(value.length))
					.build()
					.start();
				RpcClient client = RpcClient.builder()
					.transport(transport)
					.target("127.0.0.1", server.port())
					.options(RpcClientOptions.DEFAULTS.withDefaultDeadline(DEADLINE).withChannel(FEW_CREDITS))
					.build()) {
			SimpleMeterRegistry registry = new SimpleMeterRegistry();
			new RdmaTransportMetrics(transport).bindTo(registry);
			Store store = client.proxy(Store.class);
			for (Priority own : List.of(Priority.LOW, Priority.NORMAL, Priority.HIGH)) {
				assertThat(shown(registry, own)).as("of %s", own).containsOnly(0.0);
				callUntil(() -> shown(registry, own).stream().allMatch((shown) -> shown > 0), store, own);
			}
			assertThat(overtaken(registry, Priority.LOW)).isZero();
			callUntil(() -> overtaken(registry, Priority.LOW) > 0, store, Priority.LOW, Priority.HIGH);
			assertThat(overtaken(registry, Priority.NORMAL)).isZero();
			callUntil(() -> overtaken(registry, Priority.NORMAL) > 0, store, Priority.NORMAL, Priority.HIGH);
			assertThat(overtaken(registry, Priority.HIGH)).isZero();
		}
	}

	@Test
	void noCounterBecomesLessWhenLoopsEnd() {
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory)) {
			SimpleMeterRegistry registry = new SimpleMeterRegistry();
			new RdmaTransportMetrics(transport).bindTo(registry);
			try (RpcServer server = RpcServer.builder()
				.transport(transport)
				.options(RpcServerOptions.DEFAULTS.withLoopback(0))
				.service(Store.class, (value) -> CompletableFuture.completedFuture(value.length))
				.build()
				.start();
					RpcClient client = RpcClient.builder()
						.transport(transport)
						.target("127.0.0.1", server.port())
						.options(RpcClientOptions.DEFAULTS.withDefaultDeadline(DEADLINE))
						.build()) {
				Store store = client.proxy(Store.class);
				for (int i = 0; i < CALLS; i++) {
					assertThat(store.put(new byte[SMALL]).join()).isEqualTo(SMALL);
				}
				Map<Meter.Id, Double> before = counters(registry);
				int loops = transport.loops().size();
				server.stop();
				assertThat(transport.loops()).hasSizeLessThan(loops);
				assertThat(counters(registry))
					.allSatisfy((id, count) -> assertThat(count).as("%s", id).isGreaterThanOrEqualTo(before.get(id)));
				assertThat(before).anySatisfy((id, count) -> assertThat(count).isGreaterThan(CALLS * SMALL));
			}
		}
	}

	private static Map<Meter.Id, Double> counters(SimpleMeterRegistry registry) {
		Map<Meter.Id, Double> counters = new HashMap<>();
		for (Meter meter : registry.getMeters()) {
			if (meter instanceof FunctionCounter counter) {
				counters.put(meter.getId(), counter.count());
			}
			else if (meter instanceof FunctionTimer timer) {
				counters.put(meter.getId(), timer.count());
			}
		}
		return counters;
	}

	/** Calls in these classes, one after the other, until meters show it. */
	private static void callUntil(BooleanSupplier shown, Store store, Priority... priorities) throws Exception {
		long begin = System.nanoTime();
		do {
			assertThat(System.nanoTime() - begin).as("time without effect").isLessThan(DEADLINE.toNanos());
			List<CompletableFuture<Integer>> replies = new ArrayList<>();
			for (Priority priority : priorities) {
				Store own = CallOptions.NONE.withPriority(priority).on(store);
				replies.add(own.put(new byte[LARGE]));
				for (int i = 0; i < CALLS; i++) {
					replies.add(own.put(new byte[SMALL]));
				}
			}
			for (CompletableFuture<Integer> reply : replies) {
				assertThat(reply.get(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isPositive();
			}
		}
		while (!shown.getAsBoolean());
	}

	/** What there is to see of a class that nobody passes: messages, waits, reads. */
	private static List<Double> shown(SimpleMeterRegistry registry, Priority priority) {
		FunctionTimer waits = find(registry, RdmaMeters.MESSAGES_WAITS, priority).functionTimer();
		return List.of(find(registry, RdmaMeters.MESSAGES_QUEUED, priority).functionCounter().count(), waits.count(),
				waits.totalTime(TimeUnit.NANOSECONDS),
				find(registry, RdmaMeters.READ_SLICES, priority).functionCounter().count());
	}

	private static double overtaken(SimpleMeterRegistry registry, Priority priority) {
		return find(registry, RdmaMeters.MESSAGES_OVERTAKEN, priority).functionCounter().count();
	}

	private static RequiredSearch find(SimpleMeterRegistry registry, RdmaMeters meter, Priority priority) {
		return registry.get(meter.getName()).tag("priority", priority.name().toLowerCase(Locale.ROOT));
	}

	private static double value(SimpleMeterRegistry registry, RdmaMeters meter) {
		Meter found = registry.get(meter.getName()).meter();
		return found.measure().iterator().next().getValue();
	}

	/** Takes what is small and what is large. */
	interface Store {

		CompletableFuture<Integer> put(byte[] value);

	}

}
