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

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.MemoryMetrics;
import dev.rdmarpc.rpc.Priority;
import dev.rdmarpc.transport.LoopMetrics;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.verbs.VerbsDevice;

/** Binds {@link RdmaMeters} to a transport, summed over its loops. */
public class RdmaTransportMetrics implements MeterBinder {

	private final List<MeterRegistry> registries = new ArrayList<>();

	private @Nullable RdmaTransport transport;

	/** Creates a binder whose transport is not open yet. */
	public RdmaTransportMetrics() {
	}

	/** Creates the binder for a transport. */
	public RdmaTransportMetrics(RdmaTransport transport) {
		this.transport = transport;
	}

	/** Binds now, or when the transport is open. */
	@Override
	public synchronized void bindTo(MeterRegistry registry) {
		this.registries.add(registry);
		if (this.transport != null) {
			bind(registry, this.transport);
		}
	}

	/** The transport is open from now on; the first one counts. */
	public synchronized void opened(RdmaTransport opened) {
		if (this.transport == null) {
			this.transport = opened;
			this.registries.forEach((registry) -> bind(registry, opened));
		}
	}

	private static void bind(MeterRegistry registry, RdmaTransport transport) {
		bindMemory(SourceMeters.of(registry, transport.memory().metrics()));
		SourceMeters<RdmaTransport> meters = SourceMeters.of(registry, transport);
		bindLimits(meters);
		bindQueuePairs(meters);
		bindReceives(meters);
		bindCompletions(meters);
		bindTraffic(meters);
		bindPriorities(meters);
	}

	private static void bindMemory(SourceMeters<MemoryMetrics> meters) {
		meters.gauge(RdmaMeters.MEMORY_REGISTERED, MemoryMetrics::registeredBytes);
		meters.gauge(RdmaMeters.MEMORY_ALLOCATED, MemoryMetrics::allocatedBytes);
		meters.gauge(RdmaMeters.MEMORY_CACHED, MemoryMetrics::cachedBytes);
		meters.gauge(RdmaMeters.MEMORY_USER, MemoryMetrics::userBytes);
		meters.gauge(RdmaMeters.MEMORY_EXTENTS, MemoryMetrics::extents);
		meters.counter(RdmaMeters.MEMORY_EXTENTS_ADDED, MemoryMetrics::extentsAdded);
		meters.counter(RdmaMeters.MEMORY_EXTENTS_REMOVED, MemoryMetrics::extentsRemoved);
		meters.counter(RdmaMeters.MEMORY_REGISTRATION_HITS, MemoryMetrics::registrationHits);
		meters.gauge(RdmaMeters.MEMORY_BUFFERS, MemoryMetrics::outstanding);
		meters.counter(RdmaMeters.MEMORY_ALLOCATIONS, MemoryMetrics::allocations);
		meters.counter(RdmaMeters.MEMORY_WAITS, MemoryMetrics::waits);
		meters.counter(RdmaMeters.MEMORY_FAILURES, MemoryMetrics::failures);
		meters.counter(RdmaMeters.MEMORY_LEAKS, MemoryMetrics::leaks);
	}

	private static void bindLimits(SourceMeters<RdmaTransport> meters) {
		meters.gauge(RdmaMeters.MEMORY_MAX, (owner) -> owner.memory().options().maxBytes());
		meters.gauge(RdmaMeters.MEMORY_STAGING, (owner) -> fullest(owner).stagingBytes());
		meters.gauge(RdmaMeters.MEMORY_STAGING_MAX, (owner) -> fullest(owner).maxStagingBytes());
	}

	/** The device that has least left for partial frames. */
	private static VerbsDevice fullest(RdmaTransport owner) {
		return owner.rails()
			.stream()
			.map(Rail::device)
			.max(Comparator
				.comparingDouble((device) -> device.stagingBytes() / (double) Math.max(1, device.maxStagingBytes())))
			.orElseThrow();
	}

	private static void bindQueuePairs(SourceMeters<RdmaTransport> meters) {
		for (Rail rail : meters.source().rails()) {
			SourceMeters<RdmaTransport> own = meters.with(RdmaMeters.RailKeyNames.RAIL, rail.name());
			own.gauge(RdmaMeters.RAILS_UP, (owner) -> isUp(owner, rail.name()) ? 1 : 0);
			own.gauge(RdmaMeters.QUEUE_PAIRS_OPEN, (owner) -> openOn(owner, rail.name()));
			int most = rail.device().limits().maxQueuePairs();
			own.gauge(RdmaMeters.QUEUE_PAIRS_MAX, (owner) -> most);
		}
		meters.gauge(RdmaMeters.QUEUE_PAIRS_CALLS,
				(owner) -> owner.loops().stream().mapToInt((loop) -> loop.outstandingCalls()).sum());
	}

	private static void bindReceives(SourceMeters<RdmaTransport> meters) {
		meters.gauge(RdmaMeters.RECEIVES_POSTED, sum(LoopMetrics::receivesPosted));
		meters.gauge(RdmaMeters.RECEIVES_PROMISED, sum(LoopMetrics::receivesPromised));
		meters.gauge(RdmaMeters.RECEIVES_MEMORY, sum(LoopMetrics::receiveMemoryBytes));
		meters.counter(RdmaMeters.RECEIVES_REFILLS, total(LoopMetrics::receivePosts));
		meters.counter(RdmaMeters.RECEIVES_REPLACEMENTS, total(LoopMetrics::receivesReplaced));
	}

	private static void bindCompletions(SourceMeters<RdmaTransport> meters) {
		meters.counter(RdmaMeters.COMPLETION_ENTRIES, total(LoopMetrics::completions));
		meters.counter(RdmaMeters.COMPLETION_POLLS, total(LoopMetrics::polls));
		meters.counter(RdmaMeters.COMPLETION_POLLS_EMPTY, total(LoopMetrics::emptyPolls));
		meters.counter(RdmaMeters.COMPLETION_SPINS_PAID, total(LoopMetrics::paidSpins));
		meters.counter(RdmaMeters.COMPLETION_YIELDS, total(LoopMetrics::yields));
		meters.gauge(RdmaMeters.COMPLETION_SPIN_BUDGET, RdmaTransportMetrics::longestSpinSeconds);
		meters.counter(RdmaMeters.COMPLETION_WAKE_UPS, total(LoopMetrics::wakeUps));
		meters.timer(RdmaMeters.COMPLETION_WAITS, total(LoopMetrics::awaits), total(LoopMetrics::awaitNanos));
		meters.counter(RdmaMeters.READ_SINKS, (owner) -> owner.rails().stream().mapToLong(Rail::readSinks).sum());
	}

	private static void bindTraffic(SourceMeters<RdmaTransport> meters) {
		SourceMeters<RdmaTransport> sent = meters.with(RdmaMeters.DirectionKeyNames.DIRECTION, "sent");
		SourceMeters<RdmaTransport> received = meters.with(RdmaMeters.DirectionKeyNames.DIRECTION, "received");
		SourceMeters<RdmaTransport> read = meters.with(RdmaMeters.DirectionKeyNames.DIRECTION, "read");
		sent.counter(RdmaMeters.FRAMES, total(LoopMetrics::framesSent));
		received.counter(RdmaMeters.FRAMES, total(LoopMetrics::framesReceived));
		meters.counter(RdmaMeters.FRAMES_BUNDLED, total(LoopMetrics::bundledFrames));
		meters.counter(RdmaMeters.FRAMES_CREDITS, total(LoopMetrics::creditFrames));
		sent.counter(RdmaMeters.BYTES, total(LoopMetrics::sentBytes));
		received.counter(RdmaMeters.BYTES, total(LoopMetrics::receivedBytes));
		read.counter(RdmaMeters.BYTES, total(LoopMetrics::readBytes));
	}

	private static void bindPriorities(SourceMeters<RdmaTransport> meters) {
		for (Priority priority : Priority.values()) {
			int code = priority.code();
			SourceMeters<RdmaTransport> own = meters.with(RdmaMeters.PriorityKeyNames.PRIORITY,
					priority.name().toLowerCase(Locale.ROOT));
			own.counter(RdmaMeters.MESSAGES_QUEUED, total((loop) -> loop.classes().queuedMessages(code)));
			own.timer(RdmaMeters.MESSAGES_WAITS, total((loop) -> loop.classes().waits(code)),
					total((loop) -> loop.classes().waitNanos(code)));
			own.counter(RdmaMeters.MESSAGES_OVERTAKEN, total((loop) -> loop.classes().overtakings(code)));
			own.counter(RdmaMeters.READ_SLICES, total((loop) -> loop.classes().slices(code)));
		}
	}

	private static boolean isUp(RdmaTransport owner, String name) {
		return owner.rails().stream().anyMatch((rail) -> rail.name().equals(name) && rail.isRunning());
	}

	private static double openOn(RdmaTransport owner, String rail) {
		return owner.loops()
			.stream()
			.filter((loop) -> loop.rail().equals(rail))
			.mapToInt((loop) -> loop.channels().size())
			.sum();
	}

	private static double longestSpinSeconds(RdmaTransport owner) {
		return owner.loops().stream().mapToLong((loop) -> loop.metrics().spinNanos()).max().orElse(0) / 1e9;
	}

	/** Of the loops that are running. */
	private static ToDoubleFunction<RdmaTransport> sum(ToLongFunction<LoopMetrics> figure) {
		return (owner) -> owner.loops().stream().mapToLong((loop) -> figure.applyAsLong(loop.metrics())).sum();
	}

	/** Of all loops that there ever were, so that no counter becomes less. */
	private static ToDoubleFunction<RdmaTransport> total(ToLongFunction<LoopMetrics> counter) {
		return (owner) -> owner.total(counter);
	}

}
