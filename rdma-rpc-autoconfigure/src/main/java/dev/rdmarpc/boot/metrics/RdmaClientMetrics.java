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

import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.rpc.QueuePairPoolHealth;
import dev.rdmarpc.rpc.QueuePairPoolMetrics;

/**
 * Binds {@link RdmaClientMeters} to the clients of an application, including clients
 * created later.
 */
public class RdmaClientMetrics implements MeterBinder {

	private final RdmaClients clients;

	/** Creates the binder for all clients. */
	public RdmaClientMetrics(RdmaClients clients) {
		this.clients = clients;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		this.clients.onClient((target, client) -> new Binding(registry, target, client.metrics()).bind());
	}

	private static double health(QueuePairPoolHealth health) {
		return switch (health) {
			case UP -> 1;
			case DEGRADED -> 0.5;
			case DOWN -> 0;
		};
	}

	private record Binding(MeterRegistry registry, String target, QueuePairPoolMetrics metrics) {

		void bind() {
			gauge(RdmaClientMeters.OPEN, QueuePairPoolMetrics::open);
			gauge(RdmaClientMeters.MIN, QueuePairPoolMetrics::min);
			gauge(RdmaClientMeters.MAX, QueuePairPoolMetrics::max);
			gauge(RdmaClientMeters.CALLS, QueuePairPoolMetrics::outstandingCalls);
			gauge(RdmaClientMeters.HEALTH, (pool) -> health(pool.health()));
			counter(RdmaClientMeters.CONNECTS, QueuePairPoolMetrics::connects);
			counter(RdmaClientMeters.GROWTHS, QueuePairPoolMetrics::growths);
			counter(RdmaClientMeters.SHRINKS, QueuePairPoolMetrics::shrinks);
			counter(RdmaClientMeters.LOSSES, QueuePairPoolMetrics::losses);
			counter(RdmaClientMeters.REPETITIONS, QueuePairPoolMetrics::repetitions);
		}

		private void gauge(RdmaClientMeters meter, ToDoubleFunction<QueuePairPoolMetrics> value) {
			Gauge.builder(meter.getName(), this.metrics, value)
				.tag(RdmaClientMeters.KeyNames.TARGET.asString(), this.target)
				.baseUnit(meter.getBaseUnit())
				.register(this.registry);
		}

		private void counter(RdmaClientMeters meter, ToDoubleFunction<QueuePairPoolMetrics> count) {
			FunctionCounter.builder(meter.getName(), this.metrics, count)
				.tag(RdmaClientMeters.KeyNames.TARGET.asString(), this.target)
				.baseUnit(meter.getBaseUnit())
				.register(this.registry);
		}

	}

}
