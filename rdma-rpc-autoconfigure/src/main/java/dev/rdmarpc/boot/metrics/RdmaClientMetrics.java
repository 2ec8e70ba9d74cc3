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
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.metrics.RdmaClientMeters.AddressKeyNames;
import dev.rdmarpc.rpc.QueuePairPoolHealth;
import dev.rdmarpc.rpc.QueuePairPoolMetrics;
import dev.rdmarpc.rpc.RpcClient;

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
		this.clients.onClient((target, client) -> {
			bind(SourceMeters.of(registry, client.metrics()).with(RdmaClientMeters.KeyNames.TARGET, target));
			bindAddresses(registry, target, client);
		});
	}

	private static void bindAddresses(MeterRegistry registry, String target, RpcClient client) {
		DescribedMeter meter = RdmaClientMeters.ADDRESS_STATE;
		MultiGauge states = MultiGauge.builder(meter.getName())
			.description(meter.description())
			.baseUnit(meter.registeredUnit())
			.register(registry);
		client.onAddresses(
				(addresses) -> states.register(addresses.stream()
					.map((address) -> Row.of(Tags.of(AddressKeyNames.TARGET.asString(), target,
							AddressKeyNames.ADDRESS.asString(), address), client, (source) -> state(source, address)))
					.toList(), true));
	}

	private static double state(RpcClient client, String address) {
		return client.addresses()
			.stream()
			.filter((candidate) -> candidate.address().equals(address))
			.mapToDouble((found) -> (found.queuePairs() == 0) ? 0 : found.ejected() ? 0.5 : 1)
			.findFirst()
			.orElse(0);
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
