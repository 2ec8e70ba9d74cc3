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

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.openjdk.jmh.util.ListStatistics;

/**
 * How a peer stands to the one of another build, see {@link Launch#BEFORE}. The rates of
 * both are compared round by round, in which they were disturbed alike, and summed up for
 * each pair of processes: what the compilers have made of one pair stays with it, so that
 * pairs of the same code are apart by more than many changes bring.
 *
 * @param peer the name of the peer
 * @param workload what it did
 * @param ratio calls/s to before, the median of the pairs, of an even number the mean of
 * the two in the middle
 * @param least that of the pair with the least
 * @param greatest that of the pair with the greatest
 * @param pairs how many there are
 * @param faster the part of all rounds in which the peer was faster
 */
record Change(String peer, Workload workload, double ratio, double least, double greatest, int pairs, double faster) {

	/** All changes that were measured. */
	static List<Change> of(Measurements measurements) {
		List<Change> changes = new ArrayList<>();
		measurements.forEach((peer, workload, measured) -> {
			Map<Integer, List<Double>> ratios = ratios(measurements.of(Launch.BEFORE + peer, workload), measured);
			if (!ratios.isEmpty() && workload.mode() != Mode.WAITING) {
				changes.add(of(peer, workload, ratios));
			}
		});
		return changes;
	}

	private static Change of(String peer, Workload workload, Map<Integer, List<Double>> ratios) {
		ListStatistics pairs = new ListStatistics();
		ratios.values().forEach((rounds) -> pairs.addValue(Row.median(rounds)));
		List<Double> all = ratios.values().stream().flatMap(List::stream).toList();
		return new Change(peer, workload, pairs.getPercentile(50), pairs.getMin(), pairs.getMax(), ratios.size(),
				(double) all.stream().filter((ratio) -> ratio > 1).count() / all.size());
	}

	/** By fork: the ratio of each round in which both were measured. */
	private static Map<Integer, List<Double>> ratios(List<Measurement> before, List<Measurement> after) {
		Map<Integer, Double> rates = new LinkedHashMap<>();
		before.forEach((measurement) -> rates.put(measurement.round(), measurement.slice().callsPerSecond()));
		Map<Integer, List<Double>> ratios = new LinkedHashMap<>();
		for (Measurement measurement : after) {
			Double rate = rates.get(measurement.round());
			if (rate != null) {
				ratios.computeIfAbsent(measurement.fork(), (fork) -> new ArrayList<>())
					.add(measurement.slice().callsPerSecond() / rate);
			}
		}
		return ratios;
	}

	/** Prints a table of them, if there are any. */
	static void print(PrintWriter out, List<Change> changes) {
		if (changes.isEmpty()) {
			return;
		}
		MarkdownTable table = new MarkdownTable(
				List.of("calls/s to before", "median pair", "least to most", "pairs", "rounds faster"));
		for (Change change : changes) {
			table.add(List.of(change.peer + ", " + change.workload, String.format(Locale.ROOT, "%.2f", change.ratio),
					String.format(Locale.ROOT, "%.2f to %.2f", change.least, change.greatest),
					Integer.toString(change.pairs), Math.round(100 * change.faster) + " %"));
		}
		out.println();
		table.toLines().forEach(out::println);
		out.flush();
	}

}
