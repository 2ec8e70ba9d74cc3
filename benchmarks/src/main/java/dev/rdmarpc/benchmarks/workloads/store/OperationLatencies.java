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

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;

import org.HdrHistogram.AtomicHistogram;

/** The latencies of a slice, by operation and of all calls; any thread. */
final class OperationLatencies {

	private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);

	private final Map<Operation, AtomicHistogram> byOperation = new EnumMap<>(Operation.class);

	private final AtomicHistogram all = histogram();

	OperationLatencies() {
		for (Operation operation : Operation.values()) {
			this.byOperation.put(operation, histogram());
		}
	}

	private static AtomicHistogram histogram() {
		return new AtomicHistogram(LONGEST_NANOS, 3);
	}

	void record(Operation operation, long nanos) {
		long bounded = Math.min(nanos, LONGEST_NANOS);
		AtomicHistogram histogram = this.byOperation.get(operation);
		if (histogram != null) {
			histogram.recordValue(bounded);
		}
		if (operation != Operation.READ_MODIFY_WRITE) {
			this.all.recordValue(bounded);
		}
	}

	/**
	 * As words of a line: for each operation that there was, and {@code all} first,
	 * {@code NAME:CALLS_PER_SECOND:P50_US:P99_US}.
	 */
	String toLine(long nanos) {
		StringJoiner line = new StringJoiner(" ");
		line.add(word("all", this.all, nanos));
		this.byOperation.forEach((operation, histogram) -> {
			if (histogram.getTotalCount() > 0) {
				line.add(word(operation.name().toLowerCase(Locale.ROOT).replace('_', '-'), histogram, nanos));
			}
		});
		return line.toString();
	}

	private static String word(String name, AtomicHistogram histogram, long nanos) {
		return String.format(Locale.ROOT, "%s:%.1f:%.2f:%.2f", name, histogram.getTotalCount() * 1e9 / nanos,
				histogram.getValueAtPercentile(50) / 1e3, histogram.getValueAtPercentile(99) / 1e3);
	}

}
