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

package dev.rdmarpc.benchmarks.compare;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * One line of the result: a peer under a workload, medians over its slices. Figures that
 * say nothing about a workload are not a number.
 *
 * @param peer the name of the peer
 * @param workload what it did
 * @param p50Micros median time of a call
 * @param p99Micros 99th percentile
 * @param p999Micros 99.9th percentile
 * @param callsPerSecond answered calls
 * @param megabytesPerSecond payload one way, in units of 1000000 bytes
 * @param allocatedBytesPerCall heap bytes, client and server
 * @param copiedBytesPerCall bytes of messages copied, client and server; not a number
 * where nobody counts them
 * @param cpuMicrosPerCall processor time, client and server
 * @param processorPercent processor time, client and server, as a part of one processor
 * @param spread how far the slices' rates lie apart, as a part of their median
 */
record Row(String peer, Workload workload, double p50Micros, double p99Micros, double p999Micros, double callsPerSecond,
		double megabytesPerSecond, double allocatedBytesPerCall, double copiedBytesPerCall, double cpuMicrosPerCall,
		double processorPercent, double spread) {

	/** Sums up the slices of one peer and workload. */
	static Row of(String peer, Workload workload, List<Slice> slices) {
		double cpu = median(slices, (slice) -> 100.0 * slice.usage().cpuNanos() / slice.elapsedNanos());
		double allocated = median(slices, (slice) -> (double) slice.usage().allocatedBytes() / slice.calls());
		if (workload.mode() == Mode.WAITING) {
			double nan = Double.NaN;
			return new Row(peer, workload, nan, nan, nan, nan, nan, allocated, nan, nan, cpu, nan);
		}
		boolean timed = !workload.mode().isStreaming();
		double rate = median(slices, Slice::callsPerSecond);
		double fastest = slices.stream().mapToDouble(Slice::callsPerSecond).max().orElseThrow();
		double slowest = slices.stream().mapToDouble(Slice::callsPerSecond).min().orElseThrow();
		return new Row(peer, workload, timed ? median(slices, (slice) -> slice.p50Nanos() / 1e3) : Double.NaN,
				timed ? median(slices, (slice) -> slice.p99Nanos() / 1e3) : Double.NaN,
				timed ? median(slices, (slice) -> slice.p999Nanos() / 1e3) : Double.NaN, rate,
				rate * workload.payloadBytes() / 1e6, allocated, median(slices, Row::copiedBytesPerCall),
				median(slices, (slice) -> slice.usage().cpuNanos() / 1e3 / slice.calls()), cpu,
				(fastest - slowest) / rate);
	}

	/** Stands for what was not measured: all its figures are not a number. */
	static Row missing(String peer, Workload workload) {
		double nan = Double.NaN;
		return new Row(peer, workload, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan);
	}

	private static double copiedBytesPerCall(Slice slice) {
		long bytes = slice.usage().copiedBytes();
		return (bytes != ProcessUsage.UNKNOWN) ? (double) bytes / slice.calls() : Double.NaN;
	}

	private static double median(List<Slice> slices, ToDoubleFunction<Slice> value) {
		double[] sorted = slices.stream().mapToDouble(value).sorted().toArray();
		int middle = sorted.length / 2;
		return (sorted.length % 2 == 1) ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
	}

}
