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
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command that looks for regressions: a short comparison whose ratios have to keep
 * limits. They are far from what is measured, so that they find a factor and not the
 * noise of a machine that does other things. What falls short is measured once more.
 */
@Command(name = "check", mixinStandardHelpOptions = true,
		description = "Fails if ratios between peers are far from what they should be.")
public final class Check implements Callable<Integer> {

	/** No limit is about large messages of which several are outstanding. */
	static final Plan PLAN = new Plan(List.of(Peers.FLOOR, Peers.GRPC, "rdma", "rdma-default"),
			List.of(Mode.SYNC, Mode.ASYNC), List.of(64, 1 << 20), 1, 5, 500, 12, 100, 200,
			List.of(new Workload(Mode.ASYNC, 1 << 20)));

	@Option(names = "--logs", description = "The directory for the output of processes.",
			defaultValue = "benchmarks/target/check-logs")
	private Path logs = Path.of("check-logs");

	/** Runs the command and exits, with 1 if a limit is not kept. */
	public static void main(String[] arguments) {
		System.exit(new CommandLine(new Check()).execute(arguments));
	}

	@Override
	public Integer call() {
		PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
		return holds(() -> {
			Comparison comparison = new Comparison(PLAN, Launch.standard(List.of(), null), this.logs, out);
			Rows rows = new Rows(comparison.run().rows());
			comparison.failures().forEach((failure) -> out.println("ERROR " + failure));
			return rows;
		}, out) ? 0 : 1;
	}

	/**
	 * Judges a measurement, and another one if the first falls short.
	 * @return whether one of them keeps all limits
	 */
	static boolean holds(Supplier<Rows> measurement, PrintWriter out) {
		for (String attempt : List.of("first", "second")) {
			Rows rows = measurement.get();
			Bar.print(out, Bars.LIMITS, rows);
			List<String> missed = Bars.LIMITS.stream()
				.filter((limit) -> limit.judge(rows) != Bar.Verdict.PASS)
				.map(Bar::title)
				.toList();
			if (missed.isEmpty()) {
				return true;
			}
			out.printf(Locale.ROOT, "%nnot kept in the %s measurement: %s%n", attempt, String.join("; ", missed));
		}
		return false;
	}

}
