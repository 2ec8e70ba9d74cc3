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
		this.clients.onClient((target, client) -> bind(
				SourceMeters.of(registry, client.metrics()).with(RdmaClientMeters.KeyNames.TARGET, target)));
	}

	private static void bind(SourceMeters<QueuePairPoolMetrics> meters) {
		meters.gauge(RdmaClientMeters.OPEN, QueuePairPoolMetrics::open);
		meters.gauge(RdmaClientMeters.MIN, QueuePairPoolMetrics::min);
		meters.gauge(RdmaClientMeters.MAX, QueuePairPoolMetrics::max);
		meters.gauge(RdmaClientMeters.CALLS, QueuePairPoolMetrics::outstandingCalls);
		meters.gauge(RdmaClientMeters.HEALTH, (pool) -> health(pool.health()));
		meters.counter(RdmaClientMeters.CONNECTS, QueuePairPoolMetrics::connects);
		meters.counter(RdmaClientMeters.GROWTHS, QueuePairPoolMetrics::growths);
		meters.counter(RdmaClientMeters.SHRINKS, QueuePairPoolMetrics::shrinks);
		meters.counter(RdmaClientMeters.LOSSES, QueuePairPoolMetrics::losses);
		meters.counter(RdmaClientMeters.REPETITIONS, QueuePairPoolMetrics::repetitions);
	}

	private static double health(QueuePairPoolHealth health) {
		return switch (health) {
			case UP -> 1;
			case DEGRADED -> 0.5;
			case DOWN -> 0;
		};
	}

}
