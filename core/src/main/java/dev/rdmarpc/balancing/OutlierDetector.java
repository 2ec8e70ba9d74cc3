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

package dev.rdmarpc.balancing;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds those of a target's addresses whose calls fail one after the other, and leaves
 * them out for a while. Thread-safe.
 *
 * <p>
 * Implementation notes. Successes and failures are counted without a lock; a success
 * writes only if there was a failure before. The lock guards the decision to leave out an
 * address, which depends on the others. Time that has passed is noticed by whoever asks,
 * so there is no timer.
 */
public final class OutlierDetector {

	private static final Logger logger = LoggerFactory.getLogger(OutlierDetector.class);

	private static final long NOT_EJECTED = 0;

	private final OutlierOptions options;

	private final LongSupplier nanoTime;

	private final List<Observed> all = new CopyOnWriteArrayList<>();

	/** Creates a detector for the addresses of one target. */
	public OutlierDetector(OutlierOptions options) {
		this(options, System::nanoTime);
	}

	OutlierDetector(OutlierOptions options, LongSupplier nanoTime) {
		this.options = options;
		this.nanoTime = nanoTime;
	}

	/**
	 * Begins to observe an address.
	 * @param name for messages to people
	 */
	public Observed observe(String name) {
		Observed added = new Observed(name);
		this.all.add(added);
		return added;
	}

	private synchronized void eject(Observed failing) {
		long ejected = this.all.stream().filter(Observed::isEjected).count();
		boolean allowed = (ejected + 1) * 100 <= (long) this.options.maxEjectionPercent() * this.all.size();
		if (failing.isEjected() || !allowed) {
			return;
		}
		long now = this.nanoTime.getAsLong();
		long base = this.options.baseEjectionTime().toNanos();
		long forgiven = (failing.times > 0) ? Math.max(0, (now - failing.ejectedUntilNanos) / base) : 0;
		failing.times = (int) Math.max(0, failing.times - forgiven) + 1;
		long most = this.options.maxEjectionTime().toNanos();
		long nanos = (most / base < failing.times) ? most : base * failing.times;
		failing.failures.set(0);
		failing.ejections++;
		long until = now + nanos;
		failing.ejectedUntilNanos = (until != NOT_EJECTED) ? until : until + 1;
		logger.info("{} gets no calls for {} ms after {} failures in a row", failing.name,
				Duration.ofNanos(nanos).toMillis(), this.options.consecutiveFailures());
	}

	/** One address and what became of the calls to it. Thread-safe. */
	public final class Observed {

		private final String name;

		private final AtomicInteger failures = new AtomicInteger();

		private volatile long ejectedUntilNanos = NOT_EJECTED;

		private volatile long ejections;

		private int times;

		private Observed(String name) {
			this.name = name;
		}

		/** Whether it is to get no calls now. */
		public boolean isEjected() {
			long until = this.ejectedUntilNanos;
			return until != NOT_EJECTED && OutlierDetector.this.nanoTime.getAsLong() - until < 0;
		}

		/** How often it was left out. */
		public long ejections() {
			return this.ejections;
		}

		/** It has answered a call. */
		public void succeeded() {
			if (this.failures.get() != 0) {
				this.failures.set(0);
			}
		}

		/** It was not available for a call, or has lost a connection. */
		public void failed() {
			int most = OutlierDetector.this.options.consecutiveFailures();
			if (most > 0 && !isEjected() && this.failures.incrementAndGet() >= most) {
				eject(this);
			}
		}

		/** It is none of the addresses any more. */
		public void forget() {
			OutlierDetector.this.all.remove(this);
		}

	}

}
