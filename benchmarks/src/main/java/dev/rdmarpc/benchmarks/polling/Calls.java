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

package dev.rdmarpc.benchmarks.polling;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.HdrHistogram.AtomicHistogram;
import org.jspecify.annotations.Nullable;

/** Makes calls and measures them. */
final class Calls {

	private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);

	/** A rate beyond what is possible is not reached. */
	private static final int MOST_OUTSTANDING = 512;

	private static final byte[] PAYLOAD = new byte[64];

	private final AtomicHistogram latencies = new AtomicHistogram(LONGEST_NANOS, 3);

	private volatile @Nullable Throwable failure;

	private Calls() {
	}

	/** One blocking call after the other. */
	static Figures sequential(Echo echo, long durationNanos) {
		Calls calls = new Calls();
		long start = System.nanoTime();
		long now = start;
		while (now - start < durationNanos) {
			echo.echo(PAYLOAD);
			long end = System.nanoTime();
			calls.record(end - now);
			now = end;
		}
		return calls.figures(now - start);
	}

	/** As many calls outstanding on each connection, each reply beginning the next. */
	static Figures overlapping(List<Echo.Async> echoes, int outstanding, long durationNanos) throws Exception {
		Calls calls = new Calls();
		CountDownLatch running = new CountDownLatch(echoes.size() * outstanding);
		long start = System.nanoTime();
		for (Echo.Async echo : echoes) {
			for (int i = 0; i < outstanding; i++) {
				calls.next(echo, start + durationNanos, running);
			}
		}
		running.await();
		return calls.figures(System.nanoTime() - start);
	}

	private void next(Echo.Async echo, long endNanos, CountDownLatch running) {
		long start = System.nanoTime();
		echo.echo(PAYLOAD).whenComplete((reply, problem) -> {
			record(System.nanoTime() - start);
			if (problem != null) {
				this.failure = problem;
			}
			if (problem == null && System.nanoTime() - endNanos < 0) {
				next(echo, endNanos, running);
			}
			else {
				running.countDown();
			}
		});
	}

	/**
	 * As many calls per second, in steps of a few microseconds, or as many as are
	 * answered.
	 */
	static Figures paced(Echo.Async echo, long perSecond, long durationNanos) {
		Calls calls = new Calls();
		AtomicInteger outstanding = new AtomicInteger();
		long start = System.nanoTime();
		long made = 0;
		while (System.nanoTime() - start < durationNanos) {
			long due = (long) ((System.nanoTime() - start) * 1e-9 * perSecond);
			for (; made < due && outstanding.get() < MOST_OUTSTANDING; made++) {
				outstanding.incrementAndGet();
				long begun = System.nanoTime();
				echo.echo(PAYLOAD).whenComplete((reply, problem) -> {
					calls.record(System.nanoTime() - begun);
					if (problem != null) {
						calls.failure = problem;
					}
					outstanding.decrementAndGet();
				});
			}
			long next = (perSecond > 0) ? start + (long) ((made + 1) * 1e9 / perSecond) : start + durationNanos;
			LockSupport.parkNanos(Math.max(50_000, next - System.nanoTime()));
		}
		while (outstanding.get() > 0) {
			LockSupport.parkNanos(100_000);
		}
		return calls.figures(System.nanoTime() - start);
	}

	private void record(long nanos) {
		this.latencies.recordValue(Math.min(nanos, LONGEST_NANOS));
	}

	private Figures figures(long nanos) {
		Throwable problem = this.failure;
		if (problem != null) {
			throw new IllegalStateException("a call has failed", problem);
		}
		return new Figures(this.latencies.getTotalCount(), nanos, this.latencies.getValueAtPercentile(50),
				this.latencies.getValueAtPercentile(99));
	}

}
