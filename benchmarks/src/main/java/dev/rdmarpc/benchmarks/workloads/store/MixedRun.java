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

package dev.rdmarpc.benchmarks.workloads.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.HdrHistogram.AtomicHistogram;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.sample.store.FeatureStore;

/**
 * Gets at a fixed rate, each with a deadline, beside threads that scan and fetch large
 * values over the same connection, one call after the other. A get is in time if it is
 * answered within its deadline, counted from the moment when it was due: a client that
 * falls behind cannot hide it. A get that found too many outstanding is not made, and is
 * late.
 */
public final class MixedRun {

	/** Vectors that a scan finds; with 1000 bytes each. */
	public static final int SCANNED = 100;

	/** Length of a large value. */
	public static final int BLOB_BYTES = 4 << 20;

	private static final String BLOB = "large";

	private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);

	private static final int MOST_OUTSTANDING = 4096;

	private final FeatureStore store;

	private final int records;

	/**
	 * Fills the store.
	 * @param store to call
	 * @param memory from which large values are sent
	 * @param records how many vectors
	 */
	public MixedRun(FeatureStore store, RegisteredMemory memory, int records) {
		this.store = store;
		this.records = records;
		for (int i = 0; i < records; i++) {
			float[] values = new float[StoreDatabase.FEATURES];
			Arrays.fill(values, i);
			store.put(key(i), values);
		}
		RegisteredBuffer blob = memory.allocate(BLOB_BYTES);
		try {
			blob.buffer().put(BLOB_BYTES - 1, (byte) 1);
			store.putBlob(BLOB, blob);
		}
		finally {
			blob.release();
		}
	}

	private static String key(int number) {
		return String.format(Locale.ROOT, StoreDatabase.KEYS + "%08d", number);
	}

	/**
	 * Runs the mix.
	 * @param reads with the deadline
	 * @param deadlineNanos the same deadline
	 * @param perSecond gets that are due
	 * @param heavyThreads how many threads scan or fetch, the first one scans
	 * @param durationNanos for how long gets are due
	 * @return {@code DUE IN_TIME P50_US P99_US SCANS BLOBS NANOS}; latencies of answered
	 * gets, from when they were due
	 * @throws Exception if a scan or a fetch fails
	 */
	public String run(AsyncReads reads, long deadlineNanos, int perSecond, int heavyThreads, long durationNanos)
			throws Exception {
		AtomicHistogram latencies = new AtomicHistogram(LONGEST_NANOS, 3);
		AtomicLong scans = new AtomicLong();
		AtomicLong blobs = new AtomicLong();
		ExecutorService executor = Executors.newFixedThreadPool(Math.max(1, heavyThreads));
		try {
			long begun = System.nanoTime();
			long end = begun + durationNanos;
			List<Future<?>> heavy = new ArrayList<>();
			for (int i = 0; i < heavyThreads; i++) {
				boolean scanning = i % 2 == 0;
				heavy.add(executor.submit(() -> repeat(scanning, scanning ? scans : blobs, end)));
			}
			long due = 0;
			long made = 0;
			AtomicLong inTime = new AtomicLong();
			AtomicLong wrong = new AtomicLong();
			Semaphore free = new Semaphore(MOST_OUTSTANDING);
			for (long at = begun; at - end < 0; at = begun + (long) (++due * 1e9 / perSecond)) {
				awaitNanos(at);
				if (free.tryAcquire()) {
					get(reads, (int) (made++ % this.records), at, deadlineNanos, latencies, inTime, wrong, free);
				}
			}
			long nanos = System.nanoTime() - begun;
			for (Future<?> run : heavy) {
				run.get();
			}
			if (!free.tryAcquire(MOST_OUTSTANDING, 60, TimeUnit.SECONDS)) {
				throw new IllegalStateException("gets have not ended long after their deadline");
			}
			if (wrong.get() > 0) {
				throw new IllegalStateException(wrong + " gets were answered with another record");
			}
			return String.format(Locale.ROOT, "%d %d %.1f %.1f %d %d %d", due, inTime.get(),
					latencies.getValueAtPercentile(50) / 1e3, latencies.getValueAtPercentile(99) / 1e3, scans.get(),
					blobs.get(), nanos);
		}
		finally {
			executor.shutdown();
		}
	}

	private static void get(AsyncReads reads, int record, long at, long deadlineNanos, AtomicHistogram latencies,
			AtomicLong inTime, AtomicLong wrong, Semaphore free) {
		reads.get(key(record)).whenComplete((found, problem) -> {
			long nanos = System.nanoTime() - at;
			if (problem == null) {
				float[] values = found.isPresent() ? found.get().values() : new float[0];
				if (values.length != StoreDatabase.FEATURES || values[StoreDatabase.FEATURES - 1] != record) {
					wrong.incrementAndGet();
				}
				latencies.recordValue(Math.min(nanos, LONGEST_NANOS));
				if (nanos <= deadlineNanos) {
					inTime.incrementAndGet();
				}
			}
			free.release();
		});
	}

	private void repeat(boolean scanning, AtomicLong count, long end) {
		do {
			if (scanning) {
				int found = this.store.scan(StoreDatabase.KEYS, Optional.empty(), SCANNED).vectors().size();
				check(found, Math.min(SCANNED, this.records));
			}
			else {
				fetch();
			}
			count.incrementAndGet();
		}
		while (System.nanoTime() - end < 0);
	}

	private void fetch() {
		RegisteredBuffer blob = this.store.getBlob(BLOB).orElseThrow();
		try {
			check(blob.length(), BLOB_BYTES);
			check(blob.buffer().get(BLOB_BYTES - 1), 1);
		}
		finally {
			blob.release();
		}
	}

	private static void check(int found, int expected) {
		if (found != expected) {
			throw new IllegalStateException(found + " (expected: " + expected + ")");
		}
	}

	private static void awaitNanos(long at) {
		for (long left = at - System.nanoTime(); left > 0; left = at - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
	}

}
