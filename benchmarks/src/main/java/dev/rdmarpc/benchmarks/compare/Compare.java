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

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command that compares this framework with others on the loopback interface. */
@Command(name = "compare", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
		description = "Compares RPC frameworks between two processes on the loopback interface.")
public final class Compare implements Callable<Integer> {

	private static final List<Integer> PAYLOADS = List.of(64, 1024, 65536, 1048576, 16777216);

	private static final List<Integer> QUICK_PAYLOADS = List.of(64, 1048576);

	@Option(names = "--quick", description = "Shorter slices of what bars are about, planned for three minutes.")
	private boolean quick;

	@Option(names = "--peers", split = ",",
			description = "The peers, see the README, default: all that are not on demand.")
	private @Nullable List<String> peers;

	@Option(names = "--modes", split = ",", description = "Of ${COMPLETION-CANDIDATES}, default: all.")
	private @Nullable List<Mode> modes;

	@Option(names = "--payloads", split = ",",
			description = "Sizes of requests in bytes, default: 64,1024,65536,1048576,16777216, quick 64,1048576.")
	private @Nullable List<Integer> payloads;

	@Option(names = "--forks",
			description = "How often processes are started anew, default: 2, quick 1, with peers of before 4.",
			showDefaultValue = CommandLine.Help.Visibility.NEVER)
	private @Nullable Integer forks;

	@Option(names = "--rounds", description = "Rounds per fork, default: 3, quick 5, with peers of before 4.")
	private @Nullable Integer rounds;

	@Option(names = "--prime-millis", description = "A slice of priming, default: 1000, quick 500.")
	private @Nullable Long primeMillis;

	@Option(names = "--prime-slices", description = "Priming of a workload ends after the time of so many.",
			defaultValue = "12")
	private int primeSlices;

	@Option(names = "--warm-up-millis", description = "Before a slice counts, default: 200, quick 50.")
	private @Nullable Long warmUpMillis;

	@Option(names = "--measure-millis", description = "Length of a slice, default: 500, quick 200.")
	private @Nullable Long measureMillis;

	@Option(names = "--jvm-argument",
			description = "Passed to all forked processes; %%n becomes the peer's name and role.")
	private List<String> virtualMachineArguments = new ArrayList<>();

	@Option(names = "--before", description = "Another checkout, built: before:rdma is its rdma, in the same run.")
	private @Nullable Path before;

	@Option(names = "--output", description = "Where to write the result.",
			defaultValue = "benchmarks/target/comparison.csv")
	private Path output = Path.of("comparison.csv");

	/** Runs the command and exits, with 1 if a peer failed. */
	public static void main(String[] arguments) {
		System.exit(commandLine().execute(arguments));
	}

	static CommandLine commandLine() {
		return new CommandLine(new Compare()).setCaseInsensitiveEnumValuesAllowed(true)
			.setOverwrittenOptionsAllowed(true);
	}

	@Override
	public Integer call() throws IOException {
		PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
		Plan plan = plan();
		out.printf(Locale.ROOT, "comparing %s, about %d s%n", String.join(", ", plan.peers()),
				plan.leastMillis() * 18 / 10_000);
		out.printf(Locale.ROOT, "congestion control of TCP: %s%n", congestionControl());
		Path logs = this.output.toAbsolutePath().resolveSibling("comparison-logs");
		Comparison comparison = new Comparison(plan, Launch.standard(this.virtualMachineArguments, this.before), logs,
				out);
		Measurements measurements = comparison.run();
		List<Row> rows = measurements.rows();
		new ResultTable(rows).print(out);
		ResultFile.write(this.output, rows);
		ResultFile.writeSlices(ResultFile.slicesOf(this.output), measurements);
		Change.print(out, Change.of(measurements));
		Bar.print(out, Bars.GOALS, new Rows(rows));
		Set<String> failures = comparison.failures();
		comparison.disturbances().forEach((disturbance) -> out.println("\nWARNING " + disturbance));
		failures.forEach((failure) -> out.println("\nERROR " + failure));
		out.printf(Locale.ROOT, "%nwritten: %s%n", this.output);
		return failures.isEmpty() ? 0 : 1;
	}

	/** It decides about large messages; see the README. */
	private static String congestionControl() {
		try {
			return Files.readString(Path.of("/proc/sys/net/ipv4/tcp_congestion_control")).strip();
		}
		catch (IOException ex) {
			return "unknown";
		}
	}

	Plan plan() {
		boolean before = this.peers != null && this.peers.stream().anyMatch((peer) -> peer.startsWith(Launch.BEFORE));
		return new Plan(choose(this.peers, Peers.judged(), Peers.compared()),
				(this.modes != null) ? this.modes : List.of(Mode.values()),
				choose(this.payloads, QUICK_PAYLOADS, PAYLOADS), choose(this.forks, before ? 4 : 1, before ? 4 : 2),
				choose(this.rounds, before ? 4 : 5, before ? 4 : 3), choose(this.primeMillis, 500L, 1000L),
				this.primeSlices, choose(this.warmUpMillis, 50L, 200L), choose(this.measureMillis, 200L, 500L));
	}

	private <T> T choose(@Nullable T given, T inQuick, T inFull) {
		if (given != null) {
			return given;
		}
		return this.quick ? inQuick : inFull;
	}

}
