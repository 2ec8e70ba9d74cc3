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

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.context.ApplicationListener;

import dev.rdmarpc.boot.RdmaServerStartedEvent;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerMetrics;
import dev.rdmarpc.transport.ChannelListener.Limit;
import dev.rdmarpc.transport.PeerShare;

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
		SourceMeters<RpcServer> meters = SourceMeters.of(registry, server);
		SourceMeters<RpcServer> onLoop = meters.with(RdmaServerMeters.PlaceKeyNames.PLACE, "loop");
		SourceMeters<RpcServer> onExecutor = meters.with(RdmaServerMeters.PlaceKeyNames.PLACE, "executor");
		meters.gauge(RdmaServerMeters.CALLS_ACTIVE, current(RpcServerMetrics::activeCalls));
		meters.gauge(RdmaServerMeters.CALLS_WAITING, current(RpcServerMetrics::waitingCalls));
		meters.counter(RdmaServerMeters.CALLS_DENIED, current(RpcServerMetrics::callsDenied));
		for (PeerShare.Limit limit : PeerShare.Limit.values()) {
			meters.with(RdmaServerMeters.LimitKeyNames.LIMIT, tag(limit))
				.counter(RdmaServerMeters.CALLS_LIMITED,
						current((metrics) -> metrics.callsLimited().getOrDefault(limit, 0L)));
		}
		meters.counter(RdmaServerMeters.CONNECTIONS_GIVEN_UP, current(RpcServerMetrics::connectionsGivenUp));
		for (Limit limit : Limit.values()) {
			meters.with(RdmaServerMeters.LimitKeyNames.LIMIT, tag(limit))
				.counter(RdmaServerMeters.CONNECTIONS_REJECTED,
						current((metrics) -> metrics.connectionsRejected().getOrDefault(limit, 0L)));
		}
		onLoop.counter(RdmaServerMeters.HANDLERS, current(RpcServerMetrics::callsOnLoop));
		onExecutor.counter(RdmaServerMeters.HANDLERS, current(RpcServerMetrics::callsOnExecutor));
		onLoop.counter(RdmaServerMeters.HANDLERS_MOVES, current(RpcServerMetrics::movesToLoop));
		onExecutor.counter(RdmaServerMeters.HANDLERS_MOVES, current(RpcServerMetrics::movesToExecutor));
		meters.gauge(RdmaServerMeters.THREADS, current(RpcServerMetrics::threads));
		meters.gauge(RdmaServerMeters.THREADS_BUSY, current(RpcServerMetrics::busyThreads));
		meters.gauge(RdmaServerMeters.THREADS_MAX, current(RpcServerMetrics::maxThreads));
	}

	private static ToDoubleFunction<RpcServer> current(ToDoubleFunction<RpcServerMetrics> value) {
		return (server) -> value.applyAsDouble(server.metrics());
	}

	private static String tag(Limit limit) {
		return switch (limit) {
			case CONNECTIONS -> "connections";
			case CONNECTIONS_OF_ADDRESS -> "address";
			case RATE_OF_ADDRESS -> "rate";
			case CONNECTIONS_OF_PRINCIPAL -> "principal";
		};
	}

	private static String tag(PeerShare.Limit limit) {
		return switch (limit) {
			case CALLS -> "calls";
			case REQUEST_BYTES -> "size";
			case REPLY_BYTES -> "replies";
		};
	}

}
