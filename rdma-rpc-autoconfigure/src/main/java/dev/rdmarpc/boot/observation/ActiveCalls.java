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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

import io.micrometer.core.instrument.LongTaskTimer;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a method that are in progress. Those that last enter the timer of active
 * calls; most have ended before, and never touch its sorted set.
 *
 * <p>
 * Implementation notes. A call that begins takes a slot, in turn. Whoever takes a call
 * out of its slot, atomically, is the only one to decide about it: the call itself, which
 * ends then; or another one that needs the slot, or {@link #enterAll()}, which enter it.
 * An entered call and its end meet in {@code sample}: the call that enters sets it if it
 * is null, the call that ends replaces it by {@link #ENDED}. If the end comes first, the
 * sample that cannot be set is stopped, otherwise the one that is replaced.
 */
final class ActiveCalls {

	private static final int SLOTS = 256;

	private static final LongTaskTimer.Sample ENDED = new LongTaskTimer.Sample() {

		@Override
		public long stop() {
			return 0;
		}

		@Override
		public double duration(TimeUnit unit) {
			return 0;
		}

	};

	private final LongTaskTimer timer;

	private final AtomicReferenceArray<@Nullable Call> recent = new AtomicReferenceArray<>(SLOTS);

	private final AtomicInteger next = new AtomicInteger();

	ActiveCalls(LongTaskTimer timer) {
		this.timer = timer;
	}

	void begin(Call call) {
		call.slot = this.next.getAndIncrement() & (SLOTS - 1);
		enter(this.recent.getAndSet(call.slot, call));
	}

	void end(Call call) {
		if (!this.recent.compareAndSet(call.slot, call, null)) {
			LongTaskTimer.Sample sample = (LongTaskTimer.Sample) Call.SAMPLE.getAndSet(call, ENDED);
			if (sample != null) {
				sample.stop();
			}
		}
	}

	/** Enters all calls that are in progress. */
	void enterAll() {
		for (int i = 0; i < SLOTS; i++) {
			if (this.recent.get(i) != null) {
				enter(this.recent.getAndSet(i, null));
			}
		}
	}

	private void enter(@Nullable Call call) {
		if (call != null) {
			LongTaskTimer.Sample sample = this.timer.start();
			if (!Call.SAMPLE.compareAndSet(call, null, sample)) {
				sample.stop();
			}
		}
	}

	/** A call in progress. */
	abstract static class Call {

		private static final VarHandle SAMPLE;

		static {
			try {
				SAMPLE = MethodHandles.lookup().findVarHandle(Call.class, "sample", LongTaskTimer.Sample.class);
			}
			catch (ReflectiveOperationException ex) {
				throw new ExceptionInInitializerError(ex);
			}
		}

		@SuppressWarnings("UnusedVariable") // through the handle
		private volatile LongTaskTimer.@Nullable Sample sample;

		private int slot;

	}

}
