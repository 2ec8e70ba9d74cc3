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

package dev.rdmarpc.tools.rpc;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import dev.rdmarpc.rpc.GenericMethod;

/** Measures calls. */
@Command(name = "bench", sortOptions = false,
		description = "Measures how many calls a server answers and how long they take: those of a method, with the "
				+ "same arguments each time, or the small calls of 'ping', which need no reflection.")
final class BenchCommand implements Callable<Integer> {

	@Spec
	@SuppressWarnings("NullAway.Init") // set by picocli before the command is called
	private CommandSpec spec;

	@Mixin
	private Target target = new Target();

	@Parameters(index = "1", arity = "0..1", paramLabel = "SERVICE", description = "The service.")
	private @Nullable String service;

	@Parameters(index = "2", arity = "0..1", paramLabel = "METHOD", description = "A method with one reply.")
	private @Nullable String method;

	@Parameters(index = "3", arity = "0..1", paramLabel = "JSON", description = "Its arguments, as those of 'call'.")
	private @Nullable String arguments;

	@Option(names = { "-c", "--threads" }, description = "Threads that call; each waits for its reply.",
			defaultValue = "1", showDefaultValue = Visibility.ALWAYS)
	private int threads;

	@Option(names = { "-d", "--duration" }, paramLabel = "SECONDS", description = "How long calls are measured.",
			defaultValue = "5", showDefaultValue = Visibility.ALWAYS)
	private double seconds;

	@Option(names = "--warm-up", paramLabel = "SECONDS", description = "How long calls are made before that.",
			defaultValue = "2", showDefaultValue = Visibility.ALWAYS)
	private double warmUpSeconds;

	@Mixin
	@SuppressWarnings("UnusedVariable") // picocli looks at it
	private Help help = new Help();

	@Override
	public Integer call() throws InterruptedException {
		if (this.threads < 1 || this.threads > Load.MAX_THREADS) {
			throw new IllegalArgumentException(this.threads + " threads (expected: 1 to " + Load.MAX_THREADS + ")");
		}
		if (!(this.seconds > 0 && this.seconds < 1e6 && this.warmUpSeconds >= 0 && this.warmUpSeconds < 1e6)) {
			throw new IllegalArgumentException("a duration of " + this.seconds + " and a warm-up of "
					+ this.warmUpSeconds + " (expected: seconds)");
		}
		PrintWriter out = this.spec.commandLine().getOut();
		try (Connection connection = this.target.open()) {
			Load load = new Load(work(connection), this.threads);
			load.run((long) (this.warmUpSeconds * 1e9));
			out.println(connection.device());
			out.flush();
			Load.Result result = load.run((long) (this.seconds * 1e9));
			out.printf(Locale.ROOT, "%d calls by %d %s in %.3f s, %.0f calls/s, %d failed%n", result.calls(),
					this.threads, (this.threads == 1) ? "thread" : "threads", result.nanos() / 1e9,
					result.calls() / (result.nanos() / 1e9), result.failures());
			out.println(Latencies.line(result.latencies()));
			out.flush();
			if (result.failure() != null) {
				throw result.failure();
			}
		}
		return 0;
	}

	private Runnable work(Connection connection) {
		String wantedService = this.service;
		String wantedMethod = this.method;
		if (wantedService == null) {
			return connection.pinger(this.target.timeout());
		}
		if (wantedMethod == null) {
			throw new IllegalArgumentException("no method of " + wantedService + " (expected: SERVICE METHOD [JSON])");
		}
		String given = this.arguments;
		Object tree = (given != null) ? Json.read(given, System.in) : null;
		GenericMethod found = ServicesCommand.reflected(() -> connection.generic().method(wantedService, wantedMethod));
		if (found.description().streaming()) {
			throw new IllegalArgumentException(found + " replies with a stream (expected: a method with one reply)");
		}
		return () -> found.call(tree);
	}

}
