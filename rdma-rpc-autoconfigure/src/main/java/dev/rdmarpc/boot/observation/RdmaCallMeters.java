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

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.ObservationHandler;
import org.jspecify.annotations.Nullable;

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
 * meanwhile is looked up again.
 */
public final class RdmaCallMeters implements CallMeters {

	private final DefaultMeterObservationHandler handler;

	private final MeterRegistry registry;

	private final boolean active;

	private final AtomicInteger removals = new AtomicInteger();

	/**
	 * Creates the meters.
	 * @param handler the handler that would feed them
	 * @param registry that of the handler
	 * @param active whether the handler feeds timers of active calls
	 */
	public RdmaCallMeters(DefaultMeterObservationHandler handler, MeterRegistry registry, boolean active) {
		this.handler = handler;
		this.registry = registry;
		this.active = active;
		registry.config().onMeterRemoved((meter) -> this.removals.incrementAndGet());
	}

	@Override
	public boolean areThoseOf(ObservationHandler<?> other) {
		return other == this.handler && other.getClass() == DefaultMeterObservationHandler.class;
	}

	@Override
	public MethodMeters of(String name, MethodDescriptor method) {
		return new Meters(this.registry, name, method, this.active);
	}

	@Override
	public int removals() {
		return this.removals.get();
	}

	/** The meters of a method's calls. */
	private static final class Meters implements MethodMeters {

		private final MeterRegistry registry;

		private final Clock clock;

		private final String name;

		private final MethodDescriptor method;

		private final @Nullable LongTaskTimer activeCalls;

		/** Not before there is such a call. */
		private volatile @Nullable Timer successes;

		Meters(MeterRegistry registry, String name, MethodDescriptor method, boolean active) {
			this.registry = registry;
			this.clock = registry.config().clock();
			this.name = name;
			this.method = method;
			this.activeCalls = active ? registry.more().longTaskTimer(name + ".active", tags(null)) : null;
		}

		@Override
		public CallObservation callStarted() {
			LongTaskTimer timer = this.activeCalls;
			return new MeteredCall(this, (timer != null) ? timer.start() : null, this.clock.monotonicTime());
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
	private static final class MeteredCall implements CallObservation {

		private final Meters meters;

		private final LongTaskTimer.@Nullable Sample active;

		private final long started;

		MeteredCall(Meters meters, LongTaskTimer.@Nullable Sample active, long started) {
			this.meters = meters;
			this.active = active;
			this.started = started;
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
				if (this.active != null) {
					this.active.stop();
				}
			}
		}

	}

}
