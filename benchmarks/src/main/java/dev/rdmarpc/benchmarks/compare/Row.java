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
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

import org.openjdk.jmh.util.ListStatistics;

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
 * @param pairSpread how far the pairs of processes lie apart, each with the median of its
 * slices, as a part of the median; not a number for one pair
 */
record Row(String peer, Workload workload, double p50Micros, double p99Micros, double p999Micros, double callsPerSecond,
		double megabytesPerSecond, double allocatedBytesPerCall, double copiedBytesPerCall, double cpuMicrosPerCall,
		double processorPercent, double spread, double pairSpread) {

	/** Sums up the slices of one peer and workload. */
	static Row of(String peer, Workload workload, List<Measurement> measured) {
		List<Slice> slices = measured.stream().map(Measurement::slice).toList();
		double cpu = median(slices, (slice) -> 100.0 * slice.usage().cpuNanos() / slice.elapsedNanos());
		double allocated = median(slices, (slice) -> (double) slice.usage().allocatedBytes() / slice.calls());
		if (workload.mode() == Mode.WAITING) {
			double nan = Double.NaN;
			return new Row(peer, workload, nan, nan, nan, nan, nan, allocated, nan, nan, cpu, nan, nan);
		}
		boolean timed = !workload.mode().isStreaming();
		double rate = median(slices, Slice::callsPerSecond);
		return new Row(peer, workload, timed ? median(slices, (slice) -> slice.p50Nanos() / 1e3) : Double.NaN,
				timed ? median(slices, (slice) -> slice.p99Nanos() / 1e3) : Double.NaN,
				timed ? median(slices, (slice) -> slice.p999Nanos() / 1e3) : Double.NaN, rate,
				rate * workload.payloadBytes() / 1e6, allocated, median(slices, Row::copiedBytesPerCall),
				median(slices, (slice) -> slice.usage().cpuNanos() / 1e3 / slice.calls()), cpu,
				range(slices.stream().map(Slice::callsPerSecond).toList()) / rate, pairRange(measured) / rate);
	}

	/** Stands for what was not measured: all its figures are not a number. */
	static Row missing(String peer, Workload workload) {
		double nan = Double.NaN;
		return new Row(peer, workload, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan);
	}

	private static double copiedBytesPerCall(Slice slice) {
		long bytes = slice.usage().copiedBytes();
		return (bytes != ProcessUsage.UNKNOWN) ? (double) bytes / slice.calls() : Double.NaN;
	}

	private static double pairRange(List<Measurement> measured) {
		Map<Integer, List<Double>> pairs = measured.stream()
			.collect(Collectors.groupingBy(Measurement::fork,
					Collectors.mapping((each) -> each.slice().callsPerSecond(), Collectors.toList())));
		return (pairs.size() > 1) ? range(pairs.values().stream().map(Row::median).toList()) : Double.NaN;
	}

	private static double range(List<Double> figures) {
		ListStatistics statistics = statistics(figures);
		return statistics.getMax() - statistics.getMin();
	}

	private static double median(List<Slice> slices, ToDoubleFunction<Slice> value) {
		return median(slices.stream().map(value::applyAsDouble).toList());
	}

	/** The median; of an even number, the mean of the two in the middle. */
	static double median(List<Double> figures) {
		return statistics(figures).getPercentile(50);
	}

	private static ListStatistics statistics(List<Double> figures) {
		return new ListStatistics(figures.stream().mapToDouble(Double::doubleValue).toArray());
	}

}
