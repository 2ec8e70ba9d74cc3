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
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import dev.rdmarpc.benchmarks.compare.MarkdownTable;

/** Runs the workloads of YCSB on the sample's store in another process. */
@Command(name = "ycsb", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
		description = "YCSB's workloads a to f on the sample's feature store.")
final class Ycsb implements Callable<Integer> {

	private static final String RATE = "ops/s";

	private static final String MEDIAN = "p50 us";

	private static final String SLOW = "p99 us";

	/** RR-Compound to gRPC over TCP: throughput, and what is left of the latency. */
	private static final double THROUGHPUT_GOAL = 2.35;

	private static final double LATENCY_GOAL = 1 - 0.4692;

	@Mixin
	private RunOptions options = new RunOptions();

	@Spec
	private CommandSpec command = CommandSpec.create();

	@Option(names = "--workloads", split = ",", description = "Of a to f.", defaultValue = "a,b,c,d,e,f")
	private List<String> workloads = List.of();

	@Option(names = "--threads", split = ",", description = "Client threads, over one connection.",
			defaultValue = "1,4,16")
	private List<Integer> threads = List.of();

	@Option(names = "--records", description = "In the store at the beginning, of 1000 bytes each.",
			defaultValue = "1000")
	private int records;

	@Option(names = "--measure-millis", description = "Length of a slice.", defaultValue = "300")
	private long measureMillis;

	@Option(names = "--prime-millis",
			description = "For how long each workload runs with each number of threads before anything is measured.",
			defaultValue = "5000")
	private long primeMillis;

	@Option(names = "--computing", description = "Threads of another process that compute beside each slice.",
			defaultValue = "0")
	private int computing;

	private final Samples samples = new Samples();

	@Override
	public Integer call() throws Exception {
		List<String> peers = this.options.peers(this.command, "rdma-default", "grpc-default", "rdma-grpc-default");
		int rounds = this.options.rounds(3, 7);
		long prime = this.options.quick ? this.primeMillis / 4 : this.primeMillis;
		try (Fleets fleets = new Fleets(peers, 1, 1, this.options.logs())) {
			this.options.progress("priming");
			for (String workload : this.workloads) {
				fleets.each(0, (peer, fleet) -> {
					begin(workload, fleet);
					this.threads.forEach((count) -> transactions(fleet, count, prime));
				});
			}
			for (String workload : this.workloads) {
				this.options.progress("workload " + workload);
				fleets.each(0, (peer, fleet) -> begin(workload, fleet));
				for (int round = 0; round < rounds; round++) {
					for (int count : this.threads) {
						fleets.each(round, (peer, fleet) -> measure(workload, count, peer, fleet));
					}
				}
			}
		}
		this.options.write(tables(peers), this.samples, picture(peers));
		return 0;
	}

	private void measure(String workload, int count, String peer, Fleet fleet) {
		Computing others = Computing.start(this.computing);
		try {
			measureSlice(workload, count, peer, fleet);
		}
		finally {
			others.stop();
		}
	}

	private void measureSlice(String workload, int count, String peer, Fleet fleet) {
		transactions(fleet, count, this.measureMillis / 6);
		for (String word : transactions(fleet, count, this.measureMillis).split(" ", -1)) {
			String[] figures = word.split(":", -1);
			String line = line(workload, count, figures[0]);
			this.samples.add(line, peer, RATE, Double.parseDouble(figures[1]));
			this.samples.add(line, peer, MEDIAN, Double.parseDouble(figures[2]));
			this.samples.add(line, peer, SLOW, Double.parseDouble(figures[3]));
		}
	}

	private void begin(String workload, Fleet fleet) {
		fleet.ask("ycsb " + workload + " " + this.records);
	}

	private static String transactions(Fleet fleet, int count, long millis) {
		return fleet.ask("transactions " + count + " " + millis);
	}

	private static String line(String workload, int count, String operation) {
		return workload + " / " + count + " / " + operation;
	}

	private List<String> tables(List<String> peers) {
		List<String> titles = new ArrayList<>(List.of("workload / threads / operation"));
		for (String figure : List.of(RATE, MEDIAN, SLOW)) {
			peers.forEach((peer) -> titles.add(figure + " " + peer));
		}
		MarkdownTable table = new MarkdownTable(titles);
		for (String line : this.samples.lines()) {
			List<String> cells = new ArrayList<>(List.of(line));
			for (String figure : List.of(RATE, MEDIAN, SLOW)) {
				peers.forEach((peer) -> cells.add(MarkdownTable.number(this.samples.median(line, peer, figure))));
			}
			table.add(cells);
		}
		List<String> lines = new ArrayList<>(table.toLines());
		if (peers.contains(Framework.BASE)) {
			lines.add("");
			lines.addAll(ratios(peers).toLines());
			lines.add("");
			lines.addAll(goals(peers));
		}
		return lines;
	}

	private MarkdownTable ratios(List<String> peers) {
		List<String> others = peers.stream().filter((peer) -> !peer.equals(Framework.BASE)).toList();
		List<String> titles = new ArrayList<>(List.of("to " + Framework.BASE));
		for (String figure : List.of(RATE, MEDIAN)) {
			others.forEach((peer) -> titles.add(figure + " " + peer));
		}
		MarkdownTable table = new MarkdownTable(titles);
		for (String workload : this.workloads) {
			for (int count : this.threads) {
				List<String> cells = new ArrayList<>(List.of(workload + " / " + count));
				for (String figure : List.of(RATE, MEDIAN)) {
					others.forEach((peer) -> cells
						.add(this.samples.ratioWithSpread(line(workload, count, "all"), peer, Framework.BASE, figure)));
				}
				table.add(cells);
			}
		}
		return table;
	}

	/**
	 * What is to be reached with each number of threads: in the median of the workloads.
	 */
	private List<String> goals(List<String> peers) {
		List<String> lines = new ArrayList<>();
		for (String peer : peers) {
			if (!peer.equals(Framework.BASE)) {
				for (int count : this.threads) {
					double[] throughput = sortedRatios(peer, count, RATE);
					double[] latency = sortedRatios(peer, count, MEDIAN);
					lines.add(String.format(Locale.ROOT,
							"- %s, threads: %d; throughput to %s %.2f in the median of the workloads, %.2f to %.2f "
									+ "(goal %.2f: %s); p50 %.2f, %.2f to %.2f (goal %.2f: %s)",
							peer, count, Framework.BASE, middle(throughput), throughput[0],
							throughput[throughput.length - 1], THROUGHPUT_GOAL,
							(middle(throughput) >= THROUGHPUT_GOAL) ? "pass" : "short", middle(latency), latency[0],
							latency[latency.length - 1], LATENCY_GOAL,
							(middle(latency) <= LATENCY_GOAL) ? "pass" : "short"));
				}
			}
		}
		return lines;
	}

	private double[] sortedRatios(String peer, int count, String figure) {
		return this.workloads.stream()
			.mapToDouble((workload) -> this.samples.ratio(line(workload, count, "all"), peer, Framework.BASE, figure))
			.sorted()
			.toArray();
	}

	private static double middle(double[] sorted) {
		return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
	}

	private String picture(List<String> peers) {
		BarChart chart = new BarChart(peers, this.workloads.size(), 2 * this.threads.size());
		for (String figure : List.of(RATE, MEDIAN)) {
			for (int count : this.threads) {
				chart.panel(figure + ", " + count + " threads, workloads of YCSB", this.workloads,
						(workload, peer) -> this.samples.median(line(workload, count, "all"), peer, figure));
			}
		}
		return chart.draw();
	}

}
