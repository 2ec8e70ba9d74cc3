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

package dev.rdmarpc.boot.observation;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.ObservationHandler;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.rpc.CallObservation;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * The meters that a {@link DefaultMeterObservationHandler} feeds.
 *
 * <p>
 * Implementation notes. The timer of a method's successful calls and its timer of active
 * calls are looked up once. A removal is counted after the meter is out of the registry,
 * and the count is read before meters are looked up. So a meter that was removed
 * meanwhile is looked up again. The registry tells of removals under its own lock, which
 * is why no lock of this class is held while meters are looked up.
 */
public final class RdmaCallMeters implements CallMeters, AutoCloseable {

	private static final long TICK_MILLIS = 100;

	private static final RateLimitedLogger failures = new RateLimitedLogger(
			LoggerFactory.getLogger(RdmaCallMeters.class));

	private final DefaultMeterObservationHandler handler;

	private final MeterRegistry registry;

	private final AtomicInteger removals = new AtomicInteger();

	private final Map<Key, Meters> methods = new ConcurrentHashMap<>();

	private final @Nullable ScheduledExecutorService ticks;

	/**
	 * Creates the meters.
	 * @param handler the handler that would feed them
	 * @param registry that of the handler
	 * @param active whether the handler feeds timers of active calls
	 */
	public RdmaCallMeters(DefaultMeterObservationHandler handler, MeterRegistry registry, boolean active) {
		this.handler = handler;
		this.registry = registry;
		this.ticks = active ? startTicks() : null;
		registry.config().onMeterRemoved((meter) -> this.removals.incrementAndGet());
	}

	private ScheduledExecutorService startTicks() {
		ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor((task) -> {
			Thread thread = new Thread(task, "rdma-rpc-active-calls");
			thread.setDaemon(true);
			return thread;
		});
		executor.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
		return executor;
	}

	/** Does not throw, or there would be no further ones. */
	private void tick() {
		try {
			this.methods.values().forEach(Meters::enterActive);
		}
		catch (Throwable ex) {
			failures.log(Level.WARN, "Active calls cannot be entered into their timers", ex);
		}
	}

	@Override
	public boolean areThoseOf(ObservationHandler<?> other) {
		return other == this.handler && other.getClass() == DefaultMeterObservationHandler.class;
	}

	@Override
	public MethodMeters of(String name, MethodDescriptor method) {
		Key key = new Key(name, method.service(), method.name());
		Meters known = this.methods.get(key);
		int version = removals();
		if (known != null && known.version == version) {
			return known;
		}
		Meters meters = new Meters(this.registry, name, method, version, this.ticks != null);
		Meters before = this.methods.put(key, meters);
		if (before != null) {
			before.enterActive();
		}
		return meters;
	}

	@Override
	public int removals() {
		return this.removals.get();
	}

	/** From here on, no call becomes active. */
	@Override
	public void close() {
		if (this.ticks != null) {
			this.ticks.shutdownNow();
		}
	}

	private record Key(String name, String service, String method) {
	}

	/** The meters of a method's calls. */
	private static final class Meters implements MethodMeters {

		private final MeterRegistry registry;

		private final Clock clock;

		private final String name;

		private final MethodDescriptor method;

		private final int version;

		private final @Nullable ActiveCalls active;

		/** Not before there is such a call. */
		private volatile @Nullable Timer successes;

		Meters(MeterRegistry registry, String name, MethodDescriptor method, int version, boolean active) {
			this.registry = registry;
			this.clock = registry.config().clock();
			this.name = name;
			this.method = method;
			this.version = version;
			this.active = active ? new ActiveCalls(registry.more().longTaskTimer(name + ".active", tags(null))) : null;
		}

		@Override
		public CallObservation callStarted() {
			return new MeteredCall(this);
		}

		void enterActive() {
			if (this.active != null) {
				this.active.enterAll();
			}
		}

		private void callEnded(long nanos, RpcStatus status, @Nullable Throwable error) {
			Timer timer;
			if (status != RpcStatus.OK || error != null) {
				timer = timer(status, error);
			}
			else {
				timer = this.successes;
				if (timer == null) {
					timer = timer(status, null);
					this.successes = timer;
				}
			}
			timer.record(nanos, TimeUnit.NANOSECONDS);
		}

		private Timer timer(RpcStatus status, @Nullable Throwable error) {
			String type = (error != null) ? error.getClass().getSimpleName() : KeyValue.NONE_VALUE;
			return this.registry.timer(this.name, tags(status).and("error", type));
		}

		private Tags tags(@Nullable RpcStatus status) {
			KeyValues values = CallKeyValues.lowCardinality(this.method, status);
			return Tags.of(values.stream().map((value) -> Tag.of(value.getKey(), value.getValue())).toList());
		}

	}

	/** A call that is measured. */
	private static final class MeteredCall extends ActiveCalls.Call implements CallObservation {

		private final Meters meters;

		private final long started;

		MeteredCall(Meters meters) {
			this.meters = meters;
			this.started = meters.clock.monotonicTime();
			if (meters.active != null) {
				meters.active.begin(this);
			}
		}

		/** Nobody asks for the current observation who would get one. */
		@Override
		public Scope openScope() {
			return Scope.NONE;
		}

		@Override
		public void callEnded(RpcStatus status, @Nullable Throwable error) {
			try {
				this.meters.callEnded(this.meters.clock.monotonicTime() - this.started, status, error);
			}
			finally {
				if (this.meters.active != null) {
					this.meters.active.end(this);
				}
			}
		}

	}

}
