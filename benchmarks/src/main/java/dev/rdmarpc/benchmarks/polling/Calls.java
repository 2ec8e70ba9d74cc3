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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.HdrHistogram.AtomicHistogram;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.benchmarks.compare.BlockingLoop;
import dev.rdmarpc.benchmarks.compare.CallbackLoop;
import dev.rdmarpc.benchmarks.compare.PeerClient;

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
	static Figures sequential(Echo echo, long durationNanos) throws Exception {
		return new Calls().run(new BlockingLoop(() -> echo.echo(PAYLOAD), () -> {
		}), durationNanos);
	}

	/** As many calls outstanding on each connection, each reply beginning the next. */
	static Figures overlapping(List<Echo.Async> echoes, int outstanding, long durationNanos) throws Exception {
		CallbackLoop loop = new CallbackLoop();
		for (Echo.Async echo : echoes) {
			loop.add((slot) -> () -> echo.echo(PAYLOAD).whenComplete((reply, problem) -> {
				if (problem != null) {
					slot.fail(problem);
				}
				else {
					slot.succeed();
				}
			}), outstanding, () -> {
			});
		}
		return new Calls().run(loop, durationNanos);
	}

	private Figures run(PeerClient loop, long durationNanos) throws Exception {
		long start = System.nanoTime();
		loop.run(durationNanos, this::record);
		return figures(System.nanoTime() - start);
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
