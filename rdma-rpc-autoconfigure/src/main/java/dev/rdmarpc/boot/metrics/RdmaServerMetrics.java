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

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.context.ApplicationListener;

import dev.rdmarpc.boot.RdmaServerStartedEvent;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerMetrics;

/** Binds {@link RdmaServerMeters} to the server, once it has started. */
public class RdmaServerMetrics implements MeterBinder, ApplicationListener<RdmaServerStartedEvent> {

	private final Set<MeterRegistry> registries = new LinkedHashSet<>();

	private final Set<RpcServer> servers = new LinkedHashSet<>();

	@Override
	public synchronized void bindTo(MeterRegistry registry) {
		if (this.registries.add(registry)) {
			this.servers.forEach((server) -> bind(registry, server));
		}
	}

	@Override
	public synchronized void onApplicationEvent(RdmaServerStartedEvent event) {
		if (this.servers.add(event.getServer())) {
			this.registries.forEach((registry) -> bind(registry, event.getServer()));
		}
	}

	private static void bind(MeterRegistry registry, RpcServer server) {
		gauge(registry, server, RdmaServerMeters.CALLS_ACTIVE, RpcServerMetrics::activeCalls);
		gauge(registry, server, RdmaServerMeters.CALLS_WAITING, RpcServerMetrics::waitingCalls);
		counter(registry, server, RdmaServerMeters.HANDLERS, "loop", RpcServerMetrics::callsOnLoop);
		counter(registry, server, RdmaServerMeters.HANDLERS, "executor", RpcServerMetrics::callsOnExecutor);
		counter(registry, server, RdmaServerMeters.HANDLERS_MOVES, "loop", RpcServerMetrics::movesToLoop);
		counter(registry, server, RdmaServerMeters.HANDLERS_MOVES, "executor", RpcServerMetrics::movesToExecutor);
		gauge(registry, server, RdmaServerMeters.THREADS, RpcServerMetrics::threads);
		gauge(registry, server, RdmaServerMeters.THREADS_BUSY, RpcServerMetrics::busyThreads);
		gauge(registry, server, RdmaServerMeters.THREADS_MAX, RpcServerMetrics::maxThreads);
	}

	private static void gauge(MeterRegistry registry, RpcServer server, RdmaServerMeters meter,
			ToDoubleFunction<RpcServerMetrics> value) {
		Gauge.builder(meter.getName(), server, (current) -> value.applyAsDouble(current.metrics()))
			.baseUnit(meter.getBaseUnit())
			.register(registry);
	}

	private static void counter(MeterRegistry registry, RpcServer server, RdmaServerMeters meter, String place,
			ToDoubleFunction<RpcServerMetrics> count) {
		FunctionCounter.builder(meter.getName(), server, (current) -> count.applyAsDouble(current.metrics()))
			.tag(RdmaServerMeters.PlaceKeyNames.PLACE.asString(), place)
			.baseUnit(meter.getBaseUnit())
			.register(registry);
	}

}
