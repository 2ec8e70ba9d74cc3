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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.zip.DataFormatException;

import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import dev.rdmarpc.benchmarks.compare.ForkedProcess;
import dev.rdmarpc.benchmarks.compare.MarkdownTable;
import dev.rdmarpc.benchmarks.workloads.priorities.TransferProcess;

/** Runs small calls beside uploads on one queue pair, with and without priorities. */
@Command(name = "priorities", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
		description = "Calls of 64 bytes beside uploads on the same queue pair, with and without priorities.")
final class Priorities implements Callable<Integer> {

	private static final String NONE = "-";

	/** So many calls per second that all mixes have as many. */
	private static final String PACED = TransferProcess.RATE + "1000";

	/** So few that each comes after a pause. */
	private static final String RARE = TransferProcess.RATE + "5";

	/** Uploads that are sent in frames. */
	private static final String FRAMES = "beside frames";

	private static final List<Mix> MIXES = List.of(new Mix("calls alone", false, "NORMAL", NONE),
			new Mix("calls alone", true, "HIGH", NONE), new Mix("uploads alone", false, NONE, "NORMAL"),
			new Mix("uploads alone", true, NONE, "LOW"), new Mix("both equal", false, "NORMAL", "NORMAL"),
			new Mix("both equal", true, "NORMAL", "NORMAL"), new Mix("with priorities", true, "HIGH", "LOW"),
			new Mix("on two queue pairs", true, "HIGH" + TransferProcess.APART, "LOW"),
			new Mix("1000 calls/s, equal", false, "NORMAL" + PACED, "NORMAL"),
			new Mix("1000 calls/s, equal", true, "NORMAL" + PACED, "NORMAL"),
			new Mix("1000 calls/s, with priorities", true, "HIGH" + PACED, "LOW"),
			new Mix("5 calls/s, with priorities", true, "HIGH" + RARE, "LOW"),
			new Mix(FRAMES + ", equal", false, "NORMAL" + PACED, "NORMAL"),
			new Mix(FRAMES + ", equal", true, "NORMAL" + PACED, "NORMAL"),
			new Mix(FRAMES + ", with priorities", true, "HIGH" + PACED, "LOW"));

	/** With priorities, and the same traffic without. */
	private static final List<Map.Entry<String, String>> COMPARED = List.of(Map.entry("with priorities", "both equal"),
			Map.entry("1000 calls/s, with priorities", "1000 calls/s, equal"),
			Map.entry(FRAMES + ", with priorities", FRAMES + ", equal"));

	private static final List<String> FIGURES = List.of("p50 us", "p99 us", "calls/s", "uploads MB/s");

	private static final long ANSWER_SECONDS = 300;

	@Mixin
	private RunOptions options = new RunOptions();

	@Option(names = "--provider", description = "iwarp or shm.", defaultValue = "iwarp")
	private String provider = "iwarp";

	@Option(names = "--uploads", description = "How many threads upload.", defaultValue = "2")
	private int uploads;

	@Option(names = "--upload-bytes", description = "Length of each upload.", defaultValue = "67108864")
	private int uploadBytes;

	@Option(names = "--frame-uploads", description = "How many threads upload what is sent in frames.",
			defaultValue = "48")
	private int frameUploads;

	@Option(names = "--frame-upload-bytes", description = "Length of each such upload.", defaultValue = "32768")
	private int frameUploadBytes;

	@Option(names = "--measure-millis", description = "Length of a slice.", defaultValue = "1000")
	private long measureMillis;

	@Option(names = "--prime-millis", description = "For how long each mix runs before.", defaultValue = "3000")
	private long primeMillis;

	@Option(names = "--only", description = "Only mixes whose names begin so.")
	private String only = "";

	private final Samples samples = new Samples();

	private final Map<String, Histogram> histograms = new LinkedHashMap<>();

	@Override
	public Integer call() throws Exception {
		int rounds = this.options.rounds(3, 9);
		List<Mix> mixes = mixes();
		try (Pair pair = new Pair()) {
			for (Mix mix : mixes) {
				pair.run(mix, this.options.quick ? this.primeMillis / 2 : this.primeMillis);
			}
			for (int round = 0; round < rounds; round++) {
				for (int i = 0; i < mixes.size(); i++) {
					measure(mixes.get((i + round) % mixes.size()), pair);
				}
			}
		}
		this.options.write(table(), this.samples,
				DistributionChart.draw("share of calls of 64 bytes answered in", pictured()));
		return 0;
	}

	private List<Mix> mixes() {
		return MIXES.stream().filter((mix) -> mix.name().startsWith(this.only)).toList();
	}

	private void measure(Mix mix, Pair pair) throws DataFormatException {
		pair.run(mix, this.measureMillis / 4);
		String[] words = pair.run(mix, this.measureMillis).split(" ", -1);
		double seconds = Long.parseLong(words[1]) / 1e9;
		if (!mix.calls().equals(NONE)) {
			Histogram latencies = Histogram
				.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(words[4])), 0);
			add(mix, "p50 us", latencies.getValueAtPercentile(50) / 1e3);
			add(mix, "p99 us", latencies.getValueAtPercentile(99) / 1e3);
			add(mix, "calls/s", Long.parseLong(words[0]) / seconds);
			this.histograms.computeIfAbsent(mix.toString(), (name) -> new Histogram(3)).add(latencies);
		}
		if (!mix.uploads().equals(NONE)) {
			add(mix, "uploads MB/s", Long.parseLong(words[2]) * 1e3 / Long.parseLong(words[3]));
		}
	}

	private void add(Mix mix, String figure, double value) {
		this.samples.add(mix.name(), mix.peer(), figure, value);
	}

	private Map<String, Histogram> pictured() {
		Map<String, Histogram> inOrder = new LinkedHashMap<>();
		MIXES.forEach((mix) -> {
			Histogram latencies = this.histograms.get(mix.toString());
			if (latencies != null && !mix.calls().contains(TransferProcess.RATE)) {
				inOrder.put(mix.toString(), latencies);
			}
		});
		return inOrder;
	}

	private List<String> table() {
		List<String> titles = new ArrayList<>(List.of("what / scheduler"));
		titles.addAll(FIGURES);
		MarkdownTable table = new MarkdownTable(titles);
		for (Mix mix : mixes()) {
			List<String> cells = new ArrayList<>(List.of(mix.toString()));
			FIGURES.forEach((figure) -> {
				double median = this.samples.median(mix.name(), mix.peer(), figure);
				cells.add(Double.isNaN(median) ? NONE : MarkdownTable.number(median));
			});
			table.add(cells);
		}
		List<String> lines = new ArrayList<>(table.toLines());
		lines.add("");
		String on = Mix.peer(true);
		double alone = this.samples.median("calls alone", on, "p99 us");
		double withPriorities = this.samples.median("with priorities", on, "p99 us") / alone;
		line(lines, "p99 with priorities to that of calls alone", withPriorities, "at most 5", withPriorities <= 5);
		line(lines, "the same for calls on a queue pair of their own beside the uploads",
				this.samples.median("on two queue pairs", on, "p99 us") / alone);
		for (Map.Entry<String, String> compared : COMPARED) {
			for (String peer : List.of(on, Mix.peer(false))) {
				double ratio = this.samples.median(compared.getKey(), on, "uploads MB/s")
						/ this.samples.median(compared.getValue(), peer, "uploads MB/s");
				String what = "uploads, " + compared.getKey() + ", to " + compared.getValue() + " / " + peer;
				if (peer.equals(on)) {
					line(lines, what, ratio, "at least 0.95", ratio >= 0.95);
				}
				else {
					line(lines, what, ratio);
				}
			}
		}
		double calls = this.samples.median("calls alone", on, "calls/s")
				/ this.samples.median("calls alone", Mix.peer(false), "calls/s");
		line(lines, "calls/s alone to those without scheduler", calls, "at least 0.98", calls >= 0.98);
		lines.add("- the same, round by round: "
				+ this.samples.ratioWithError("calls alone", on, Mix.peer(false), "calls/s"));
		return lines;
	}

	private static void line(List<String> lines, String what, double ratio) {
		if (!Double.isNaN(ratio)) {
			lines.add(String.format(Locale.ROOT, "- %s: %.2f", what, ratio));
		}
	}

	/** The same for a ratio that has a bar. */
	private static void line(List<String> lines, String what, double ratio, String bar, boolean passed) {
		if (!Double.isNaN(ratio)) {
			lines.add(String.format(Locale.ROOT, "- %s: %.2f (%s: %s)", what, ratio, bar, passed ? "pass" : "short"));
		}
	}

	/** What runs at the same time. */
	private record Mix(String name, boolean scheduled, String calls, String uploads) {

		static String peer(boolean scheduled) {
			return scheduled ? TransferProcess.ON : TransferProcess.OFF;
		}

		String peer() {
			return peer(this.scheduled);
		}

		@Override
		public String toString() {
			return this.name + " / " + peer();
		}

	}

	/** A server and its client. */
	private final class Pair implements AutoCloseable {

		private final ForkedProcess server;

		private final ForkedProcess client;

		Pair() throws IOException {
			this.server = process("server");
			try {
				this.client = process("client", this.server.greeting().split(" ", -1));
				this.client.greeting();
			}
			catch (IOException | RuntimeException ex) {
				this.server.close();
				throw ex;
			}
		}

		private ForkedProcess process(String role, String... more) throws IOException {
			List<String> command = new ArrayList<>(List.of(
					Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xms256m", "-Xmx1g",
					"-XX:MaxDirectMemorySize=2560m", "-XX:-UsePerfData", "-cp", System.getProperty("java.class.path"),
					TransferProcess.class.getName(), role, Priorities.this.provider));
			command.addAll(List.of(more));
			return ForkedProcess.start("priorities-" + role, command, Priorities.this.options.logs());
		}

		String run(Mix mix, long millis) {
			boolean frames = mix.name().startsWith(FRAMES);
			int threads = frames ? Priorities.this.frameUploads : Priorities.this.uploads;
			int bytes = frames ? Priorities.this.frameUploadBytes : Priorities.this.uploadBytes;
			return this.client.ask(ANSWER_SECONDS,
					mix.peer() + " " + mix.calls() + " " + mix.uploads() + " " + threads + " " + bytes + " " + millis);
		}

		@Override
		public void close() {
			this.client.close();
			this.server.close();
		}

	}

}
