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

import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

import dev.rdmarpc.memory.MemoryMetrics;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.LoopMetrics;
import dev.rdmarpc.transport.RdmaTransport;

/** Binds {@link RdmaMeters} to a transport, summed over its loops. */
public class RdmaTransportMetrics implements MeterBinder {

	private final RdmaTransport transport;

	/** Creates the binder for a transport. */
	public RdmaTransportMetrics(RdmaTransport transport) {
		this.transport = transport;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		bindMemory(registry);
		bindQueuePairs(registry);
		bindReceives(registry);
		bindCompletions(registry);
	}

	private void bindMemory(MeterRegistry registry) {
		RegisteredMemory memory = this.transport.memory();
		MemoryMetrics metrics = memory.metrics();
		gauge(registry, RdmaMeters.MEMORY_REGISTERED, metrics, MemoryMetrics::registeredBytes);
		gauge(registry, RdmaMeters.MEMORY_MAX, memory, (pool) -> pool.options().maxBytes());
		gauge(registry, RdmaMeters.MEMORY_ALLOCATED, metrics, MemoryMetrics::allocatedBytes);
		gauge(registry, RdmaMeters.MEMORY_CACHED, metrics, MemoryMetrics::cachedBytes);
		gauge(registry, RdmaMeters.MEMORY_USER, metrics, MemoryMetrics::userBytes);
		gauge(registry, RdmaMeters.MEMORY_STAGING, this.transport, (owner) -> owner.device().stagingBytes());
		gauge(registry, RdmaMeters.MEMORY_STAGING_MAX, this.transport, (owner) -> owner.device().maxStagingBytes());
		gauge(registry, RdmaMeters.MEMORY_EXTENTS, metrics, MemoryMetrics::extents);
		counter(registry, RdmaMeters.MEMORY_EXTENTS_ADDED, metrics, MemoryMetrics::extentsAdded);
		counter(registry, RdmaMeters.MEMORY_EXTENTS_REMOVED, metrics, MemoryMetrics::extentsRemoved);
		counter(registry, RdmaMeters.MEMORY_REGISTRATION_HITS, metrics, MemoryMetrics::registrationHits);
		gauge(registry, RdmaMeters.MEMORY_BUFFERS, metrics, MemoryMetrics::outstanding);
		counter(registry, RdmaMeters.MEMORY_ALLOCATIONS, metrics, MemoryMetrics::allocations);
		counter(registry, RdmaMeters.MEMORY_WAITS, metrics, MemoryMetrics::waits);
		counter(registry, RdmaMeters.MEMORY_FAILURES, metrics, MemoryMetrics::failures);
		counter(registry, RdmaMeters.MEMORY_LEAKS, metrics, MemoryMetrics::leaks);
	}

	private void bindQueuePairs(MeterRegistry registry) {
		gauge(registry, RdmaMeters.QUEUE_PAIRS_OPEN, this.transport,
				(owner) -> owner.loops().stream().mapToInt((loop) -> loop.channels().size()).sum());
		gauge(registry, RdmaMeters.QUEUE_PAIRS_MAX, this.transport, (owner) -> owner.device().limits().maxQueuePairs());
		gauge(registry, RdmaMeters.QUEUE_PAIRS_CALLS, this.transport,
				(owner) -> owner.loops().stream().mapToInt((loop) -> loop.outstandingCalls()).sum());
	}

	private void bindCompletions(MeterRegistry registry) {
		counter(registry, RdmaMeters.COMPLETION_ENTRIES, this.transport, sum(LoopMetrics::completions));
		counter(registry, RdmaMeters.COMPLETION_POLLS, this.transport, sum(LoopMetrics::polls));
		FunctionTimer
			.builder(RdmaMeters.COMPLETION_WAITS.getName(), this.transport,
					(owner) -> (long) sum(LoopMetrics::awaits).applyAsDouble(owner), sum(LoopMetrics::awaitNanos),
					TimeUnit.NANOSECONDS)
			.register(registry);
		counter(registry, RdmaMeters.READ_SINKS, this.transport, (owner) -> owner.device().readSinks());
		directed(registry, RdmaMeters.BYTES, "sent", LoopMetrics::sentBytes);
		directed(registry, RdmaMeters.BYTES, "received", LoopMetrics::receivedBytes);
		directed(registry, RdmaMeters.BYTES, "read", LoopMetrics::readBytes);
	}

	private void bindReceives(MeterRegistry registry) {
		gauge(registry, RdmaMeters.RECEIVES_POSTED, this.transport, sum(LoopMetrics::receivesPosted));
		gauge(registry, RdmaMeters.RECEIVES_PROMISED, this.transport, sum(LoopMetrics::receivesPromised));
		gauge(registry, RdmaMeters.RECEIVES_MEMORY, this.transport, sum(LoopMetrics::receiveMemoryBytes));
		counter(registry, RdmaMeters.RECEIVES_REFILLS, this.transport, sum(LoopMetrics::receivePosts));
		counter(registry, RdmaMeters.RECEIVES_REPLACEMENTS, this.transport, sum(LoopMetrics::receivesReplaced));
		directed(registry, RdmaMeters.FRAMES, "sent", LoopMetrics::framesSent);
		directed(registry, RdmaMeters.FRAMES, "received", LoopMetrics::framesReceived);
		counter(registry, RdmaMeters.FRAMES_CREDITS, this.transport, sum(LoopMetrics::creditFrames));
	}

	private void directed(MeterRegistry registry, RdmaMeters meter, String direction,
			ToLongFunction<LoopMetrics> count) {
		FunctionCounter.builder(meter.getName(), this.transport, sum(count))
			.tag(RdmaMeters.DirectionKeyNames.DIRECTION.asString(), direction)
			.baseUnit(meter.getBaseUnit())
			.register(registry);
	}

	private static ToDoubleFunction<RdmaTransport> sum(ToLongFunction<LoopMetrics> count) {
		return (owner) -> owner.loops().stream().mapToLong((loop) -> count.applyAsLong(loop.metrics())).sum();
	}

	private static <T> void gauge(MeterRegistry registry, RdmaMeters meter, T source, ToDoubleFunction<T> value) {
		Gauge.builder(meter.getName(), source, value).baseUnit(meter.getBaseUnit()).register(registry);
	}

	private static <T> void counter(MeterRegistry registry, RdmaMeters meter, T source, ToDoubleFunction<T> count) {
		FunctionCounter.builder(meter.getName(), source, count).baseUnit(meter.getBaseUnit()).register(registry);
	}

}
