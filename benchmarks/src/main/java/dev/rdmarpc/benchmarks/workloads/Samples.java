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

package dev.rdmarpc.benchmarks.workloads;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.openjdk.jmh.util.ListStatistics;

/**
 * Figures of several rounds: a line for each workload, with a figure of each kind for
 * each peer. Ratios are formed within a round, where peers were measured one right after
 * the other, and are medians, too.
 */
final class Samples {

	private final Map<Key, List<Double>> samples = new LinkedHashMap<>();

	/** Adds what was measured in one round; as many figures of each in the same order. */
	void add(String line, String peer, String figure, double value) {
		this.samples.computeIfAbsent(new Key(line, peer, figure), (key) -> new ArrayList<>()).add(value);
	}

	List<String> lines() {
		return this.samples.keySet().stream().map(Key::line).distinct().toList();
	}

	/** The median over the rounds, or NaN if it was not measured. */
	double median(String line, String peer, String figure) {
		return median(of(line, peer, figure));
	}

	private List<Double> of(String line, String peer, String figure) {
		return this.samples.getOrDefault(new Key(line, peer, figure), List.of());
	}

	private static double median(List<Double> values) {
		List<Double> sorted = values.stream().sorted().toList();
		int middle = sorted.size() / 2;
		if (sorted.isEmpty()) {
			return Double.NaN;
		}
		return (sorted.size() % 2 == 1) ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
	}

	/** The ratios of two peers, round by round. */
	List<Double> ratios(String line, String peer, String base, String figure) {
		List<Double> values = of(line, peer, figure);
		List<Double> bases = of(line, base, figure);
		List<Double> ratios = new ArrayList<>();
		for (int i = 0; i < Math.min(values.size(), bases.size()); i++) {
			ratios.add(values.get(i) / bases.get(i));
		}
		return ratios;
	}

	double ratio(String line, String peer, String base, String figure) {
		return median(ratios(line, peer, base, figure));
	}

	/** The median ratio, and in parentheses the least and the greatest of a round. */
	String ratioWithSpread(String line, String peer, String base, String figure) {
		List<Double> ratios = ratios(line, peer, base, figure).stream().sorted().toList();
		if (ratios.isEmpty()) {
			return "-";
		}
		return String.format(Locale.ROOT, "%.2f (%.2f to %.2f)", median(ratios), ratios.get(0),
				ratios.get(ratios.size() - 1));
	}

	/** The mean ratio, and its error with a confidence of 95 %. */
	String ratioWithError(String line, String peer, String base, String figure) {
		ListStatistics ratios = new ListStatistics(
				ratios(line, peer, base, figure).stream().mapToDouble(Double::doubleValue).toArray());
		return (ratios.getN() < 2) ? "-"
				: String.format(Locale.ROOT, "%.3f +/- %.3f", ratios.getMean(), ratios.getMeanErrorAt(0.95));
	}

	/** All medians, as comma-separated values. */
	List<String> toCsv() {
		List<String> csv = new ArrayList<>(List.of("line,peer,figure,median,rounds"));
		this.samples.forEach((key, values) -> csv.add(String.format(Locale.ROOT, "\"%s\",%s,%s,%.3f,%d", key.line(),
				key.peer(), key.figure(), median(values), values.size())));
		return csv;
	}

	private record Key(String line, String peer, String figure) {

	}

}
