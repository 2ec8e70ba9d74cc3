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
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import dev.rdmarpc.benchmarks.compare.MarkdownTable;

/** Runs gets with deadlines beside scans and large values. */
@Command(name = "mixed", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
		description = "Gets with deadlines beside scans and large values on the same connection.")
final class Mixed implements Callable<Integer> {

	private static final String SHARE = "in time %";

	private static final List<String> FIGURES = List.of(SHARE, "p50 us", "p99 us", "scans/s", "blobs/s");

	@Mixin
	private RunOptions options = new RunOptions();

	@Spec
	private CommandSpec command = CommandSpec.create();

	@Option(names = "--deadline-micros", split = ",", description = "Deadlines of gets.",
			defaultValue = "1000,5000,20000")
	private List<Integer> deadlines = List.of();

	@Option(names = "--heavy", split = ",",
			description = "Threads beside the gets: the odd ones scan 100 records, the even ones fetch 4 MiB.",
			defaultValue = "0,1,2")
	private List<Integer> heavy = List.of();

	@Option(names = "--gets-per-second", description = "How many are due.", defaultValue = "2000")
	private int perSecond;

	@Option(names = "--records", description = "In the store, of 1000 bytes each.", defaultValue = "1000")
	private int records;

	@Option(names = "--measure-millis", description = "Length of a slice.", defaultValue = "500")
	private long measureMillis;

	@Option(names = "--prime-millis", description = "For how long each mix runs before.", defaultValue = "3000")
	private long primeMillis;

	private final Samples samples = new Samples();

	@Override
	public Integer call() throws Exception {
		List<String> peers = this.options.peers(this.command, "rdma-default", "rdma-priorities", "grpc-default",
				"rdma-grpc-default");
		int rounds = this.options.rounds(3, 9);
		long prime = this.options.quick ? this.primeMillis / 3 : this.primeMillis;
		try (Fleets fleets = new Fleets(peers, 1, 1, this.options.logs())) {
			fleets.each(0, (peer, fleet) -> {
				fleet.ask("fill " + this.records);
				this.heavy.forEach((count) -> fleet.ask(mix(20_000, count, prime)));
			});
			for (int i = 0; i < rounds; i++) {
				int round = i;
				for (int count : this.heavy) {
					this.deadlines.forEach(
							(deadline) -> fleets.each(round, (peer, fleet) -> measure(deadline, count, peer, fleet)));
				}
			}
		}
		this.options.write(table(peers), this.samples, picture(peers));
		return 0;
	}

	private String mix(int deadline, int count, long millis) {
		return "mixed " + deadline + " " + this.perSecond + " " + count + " " + millis;
	}

	private void measure(int deadline, int count, String peer, Fleet fleet) {
		fleet.ask(mix(deadline, count, this.measureMillis / 6));
		String[] words = fleet.ask(mix(deadline, count, this.measureMillis)).split(" ", -1);
		String line = line(deadline, count);
		double seconds = Long.parseLong(words[6]) / 1e9;
		this.samples.add(line, peer, SHARE, 100.0 * Long.parseLong(words[1]) / Long.parseLong(words[0]));
		this.samples.add(line, peer, "p50 us", Double.parseDouble(words[2]));
		this.samples.add(line, peer, "p99 us", Double.parseDouble(words[3]));
		this.samples.add(line, peer, "scans/s", Long.parseLong(words[4]) / seconds);
		this.samples.add(line, peer, "blobs/s", Long.parseLong(words[5]) / seconds);
	}

	private static String line(int deadline, int count) {
		return deadline + " us / " + switch (count) {
			case 0 -> "gets";
			case 1 -> "scans";
			case 2 -> "scans, blobs";
			default -> count + " threads";
		};
	}

	private List<String> table(List<String> peers) {
		List<String> titles = new ArrayList<>(List.of("deadline / beside / peer"));
		titles.addAll(FIGURES);
		MarkdownTable table = new MarkdownTable(titles);
		for (int count : this.heavy) {
			for (int deadline : this.deadlines) {
				String line = line(deadline, count);
				for (String peer : peers) {
					List<String> cells = new ArrayList<>(List.of(line + " / " + peer));
					FIGURES
						.forEach((figure) -> cells.add(MarkdownTable.number(this.samples.median(line, peer, figure))));
					table.add(cells);
				}
			}
		}
		return table.toLines();
	}

	private String picture(List<String> peers) {
		List<String> beside = this.heavy.stream().map((count) -> line(0, count).substring(7)).toList();
		BarChart chart = new BarChart(peers, beside.size(), this.deadlines.size());
		for (int deadline : this.deadlines) {
			chart.panel("gets in time, %, deadline " + deadline + " us", beside,
					(name, peer) -> this.samples.median(deadline + " us / " + name, peer, SHARE));
		}
		return chart.draw();
	}

}
