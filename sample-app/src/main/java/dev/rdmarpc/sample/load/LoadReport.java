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

package dev.rdmarpc.sample.load;

import java.io.PrintStream;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

import dev.rdmarpc.sample.load.LoadProperties.Operation;

/**
 * Latencies by operation and failures by status. Recorded by many threads, printed by
 * one.
 */
class LoadReport {

	private static final long MAX_NANOS = TimeUnit.MINUTES.toNanos(1);

	private static final double NANOS_PER_MICRO = 1000;

	private final Map<Operation, Recorder> recorders = new EnumMap<>(Operation.class);

	private final Map<Operation, Histogram> totals = new EnumMap<>(Operation.class);

	private final Map<String, LongAdder> failures = new ConcurrentHashMap<>();

	private final long blobBytes;

	/**
	 * Creates an empty report.
	 * @param blobBytes size of a large value
	 */
	LoadReport(long blobBytes) {
		this.blobBytes = blobBytes;
		for (Operation operation : Operation.values()) {
			this.recorders.put(operation, new Recorder(MAX_NANOS, 3));
			this.totals.put(operation, new Histogram(MAX_NANOS, 3));
		}
	}

	void succeeded(Operation operation, long nanos) {
		Objects.requireNonNull(this.recorders.get(operation)).recordValue(Math.min(nanos, MAX_NANOS));
	}

	void failed(String status) {
		this.failures.computeIfAbsent(status, (same) -> new LongAdder()).increment();
	}

	/** Forgets what was recorded so far. */
	void restart() {
		this.recorders.values().forEach(Recorder::reset);
		this.totals.values().forEach(Histogram::reset);
		this.failures.clear();
	}

	/** Prints what has come since the last line. */
	void printProgress(PrintStream out, long seconds, double intervalSeconds) {
		Histogram interval = new Histogram(MAX_NANOS, 3);
		this.recorders.forEach((operation, recorder) -> {
			Histogram recorded = recorder.getIntervalHistogram();
			interval.add(recorded);
			Objects.requireNonNull(this.totals.get(operation)).add(recorded);
		});
		out.printf(Locale.ROOT, "%5d s %,10.0f calls/s   p50 %,9.1f us   p99 %,9.1f us   max %,9.1f us   failed %,d%n",
				seconds, interval.getTotalCount() / intervalSeconds, micros(interval, 50), micros(interval, 99),
				interval.getMaxValue() / NANOS_PER_MICRO, failed());
	}

	/** Prints everything since the start, by operation, and the histogram of all. */
	void printSummary(PrintStream out, double seconds) {
		Histogram all = new Histogram(MAX_NANOS, 3);
		out.printf(Locale.ROOT, "%n%-10s %12s %12s %10s %10s %10s %10s%n", "operation", "calls", "calls/s", "p50 us",
				"p99 us", "p99.9 us", "max us");
		this.totals.forEach((operation, histogram) -> {
			if (histogram.getTotalCount() > 0) {
				all.add(histogram);
				printRow(out, operation.name().toLowerCase(Locale.ROOT), histogram, seconds);
			}
		});
		printRow(out, "all", all, seconds);
		out.printf(Locale.ROOT, "large values: %,.1f MB/s to the store, %,.1f MB/s from it%n",
				megabytes(Operation.PUT_BLOB) / seconds, megabytes(Operation.GET_BLOB) / seconds);
		new TreeMap<>(this.failures)
			.forEach((status, count) -> out.printf(Locale.ROOT, "failed with %s: %,d%n", status, count.sum()));
		out.printf(Locale.ROOT, "%nLatency of all calls, in microseconds:%n");
		all.outputPercentileDistribution(out, 1, NANOS_PER_MICRO);
	}

	private double megabytes(Operation operation) {
		return Objects.requireNonNull(this.totals.get(operation)).getTotalCount() * this.blobBytes / (double) (1 << 20);
	}

	private static void printRow(PrintStream out, String name, Histogram histogram, double seconds) {
		out.printf(Locale.ROOT, "%-10s %,12d %,12.0f %,10.1f %,10.1f %,10.1f %,10.1f%n", name,
				histogram.getTotalCount(), histogram.getTotalCount() / seconds, micros(histogram, 50),
				micros(histogram, 99), micros(histogram, 99.9), histogram.getMaxValue() / NANOS_PER_MICRO);
	}

	private static double micros(Histogram histogram, double percentile) {
		return histogram.getValueAtPercentile(percentile) / NANOS_PER_MICRO;
	}

	private long failed() {
		return this.failures.values().stream().mapToLong(LongAdder::sum).sum();
	}

}
