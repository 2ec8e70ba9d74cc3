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

package dev.rdmarpc.benchmarks.polling;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToDoubleFunction;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import dev.rdmarpc.benchmarks.compare.ForkedProcess;
import dev.rdmarpc.benchmarks.compare.ProcessUsage;
import dev.rdmarpc.benchmarks.polling.Processes.Server;

/** The command that measures what polling costs and gains. */
@Command(name = "polling", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
		description = "Measures what polling costs and gains, between processes on the loopback interface.")
public final class Polling implements Callable<Integer> {

	private static final String RATE = "rate " + Processes.MILLIS + " ";

	private static final List<String> SWEPT = List.of("0", "2", "4", "6", "10", "50", "500", "adaptive");

	private static final int BUSY_CONNECTIONS = 10;

	/** What a process needs besides its connections. */
	private static final int OTHER_FILES = 200;

	private final PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);

	private final List<String> lines = new ArrayList<>();

	@Parameters(index = "0", description = "sweep: calls against a fixed time polled; usage: processor time against "
			+ "calls per second; idle: idle connections beside busy ones, and their memory.")
	private String what = "sweep";

	@Option(names = "--rounds", description = "How often each of them is measured; 0 leaves calls out of idle.",
			defaultValue = "5")
	private int rounds;

	@Option(names = "--measure-millis", description = "Length of a slice.", defaultValue = "300")
	private long measureMillis;

	@Option(names = "--prime-millis", description = "For how long each of them runs before.", defaultValue = "2000")
	private long primeMillis;

	@Option(names = "--waiting", split = ",",
			description = "For usage: busy, adaptive, event, or a fixed number of microseconds.",
			defaultValue = "busy,adaptive,event")
	private List<String> waiting = List.of();

	@Option(names = "--connections", description = "For idle: how many are idle.", defaultValue = "1000")
	private int connections;

	@Option(names = "--output", description = "Where to write the result.",
			defaultValue = "benchmarks/target/polling.csv")
	private Path output = Path.of("polling.csv");

	/** Runs the command and exits. */
	public static void main(String[] arguments) {
		System.exit(new CommandLine(new Polling()).setOverwrittenOptionsAllowed(true).execute(arguments));
	}

	@Override
	public Integer call() throws IOException {
		try (Processes processes = new Processes(this.output.toAbsolutePath().resolveSibling("polling-logs"))) {
			switch (this.what) {
				case "sweep" -> sweep(processes);
				case "idle" -> idle(processes);
				case "usage" -> usage();
				default -> throw new IllegalArgumentException(this.what + " (expected: sweep, usage or idle)");
			}
		}
		Files.createDirectories(this.output.toAbsolutePath().getParent());
		Files.write(this.output, this.lines);
		this.out.printf(Locale.ROOT, "%nwritten: %s%n", this.output);
		return 0;
	}

	private void line(String format, Object... values) {
		String line = String.format(Locale.ROOT, format, values);
		this.lines.add(line);
		this.out.println(line);
	}

	private void sweep(Processes processes) throws IOException {
		Map<String, String> workloads = new LinkedHashMap<>();
		workloads.put("one blocking call at a time", "sync " + Processes.MILLIS);
		workloads.put("16 calls outstanding", "async " + Processes.MILLIS + " 16");
		Map<String, Pair> pairs = new LinkedHashMap<>();
		for (String name : SWEPT) {
			Server server = processes.server(name, new Waiting(name));
			Pair pair = new Pair(server.process(), processes.client(name, server, 1));
			workloads.values().forEach((command) -> Processes.measure(pair.client(), command, this.primeMillis));
			pair.stop(true);
			pairs.put(name, pair);
		}
		Map<String, List<Figures>> figures = new LinkedHashMap<>();
		for (int round = 0; round < this.rounds; round++) {
			workloads.forEach((workload, command) -> pairs.forEach((name, pair) -> {
				pair.stop(false);
				Processes.measure(pair.client(), command, this.measureMillis / 2);
				figures.computeIfAbsent(workload + "," + name, (key) -> new ArrayList<>())
					.add(Processes.measure(pair.client(), command, this.measureMillis));
				pair.stop(true);
			}));
		}
		pairs.values().forEach((pair) -> pair.stop(false));
		line("workload,polled_us,calls_per_s,p50_us,p99_us");
		figures.forEach((key, slices) -> line("%s,%.0f,%.1f,%.1f", key, median(slices, Figures::callsPerSecond),
				median(slices, (slice) -> slice.medianNanos() / 1e3),
				median(slices, (slice) -> slice.slowNanos() / 1e3)));
	}

	private void usage() throws IOException {
		line("waiting,calls_per_s_asked,calls_per_s,p50_us,p99_us,server_percent,client_percent");
		for (String name : this.waiting) {
			try (Processes processes = new Processes(this.output.toAbsolutePath().resolveSibling("polling-logs"))) {
				Server server = processes.server(name, new Waiting(name));
				ForkedProcess client = processes.client(name, server, 1);
				Processes.measure(client, RATE + 100_000, this.primeMillis);
				Processes.measure(client, RATE + 1000, this.primeMillis / 2);
				for (int rate : List.of(0, 100, 1000, 10_000, 100_000)) {
					Processes.measure(client, RATE + rate, this.measureMillis / 2);
					usage(name, server.process(), client, rate);
				}
			}
		}
	}

	private void usage(String name, ForkedProcess server, ForkedProcess client, int rate) {
		ProcessUsage serverBefore = server.usage();
		ProcessUsage clientBefore = client.usage();
		long start = System.nanoTime();
		Figures figures = Processes.measure(client, RATE + rate, this.rounds * this.measureMillis);
		ProcessUsage clientUsage = client.usage().since(clientBefore);
		ProcessUsage serverUsage = server.usage().since(serverBefore);
		double nanos = System.nanoTime() - start;
		line("%s,%d,%.0f,%.1f,%.1f,%.1f,%.1f", name, rate, figures.callsPerSecond(), figures.medianNanos() / 1e3,
				figures.slowNanos() / 1e3, 100 * serverUsage.cpuNanos() / nanos, 100 * clientUsage.cpuNanos() / nanos);
	}

	private void idle(Processes processes) throws IOException {
		checkFiles();
		Waiting adaptive = new Waiting("adaptive");
		Server alone = processes.server("alone", adaptive);
		Server beside = processes.server("beside", adaptive);
		List<ForkedProcess> busy = List.of(processes.client("alone", alone, BUSY_CONNECTIONS),
				processes.client("beside", beside, BUSY_CONNECTIONS));
		ForkedProcess idle = processes.client("idle", beside, 1);
		long[] serverBefore = memory(beside.process());
		long[] clientBefore = memory(idle);
		long start = System.nanoTime();
		idle.ask(TimeUnit.MINUTES.toSeconds(2), "connect " + this.connections);
		this.out.printf(Locale.ROOT, "%d connections within %.1f s%n", this.connections,
				(System.nanoTime() - start) / 1e9);
		line("figure,alone,beside_%d_idle,ratio", this.connections);
		if (this.rounds > 0) {
			for (String command : List.of("async " + Processes.MILLIS + " 16", "async " + Processes.MILLIS + " 1",
					"sync " + Processes.MILLIS)) {
				busy(busy, command);
			}
		}
		idleUsage(alone.process(), beside.process(), "server");
		memory("server", serverBefore, memory(beside.process()));
		memory("client", clientBefore, memory(idle));
	}

	private void busy(List<ForkedProcess> clients, String command) {
		List<List<Figures>> figures = List.of(new ArrayList<>(), new ArrayList<>());
		clients.forEach((client) -> Processes.measure(client, command, this.primeMillis));
		for (int round = 0; round < this.rounds; round++) {
			for (int i = 0; i < 2; i++) {
				int which = (i + round) % 2;
				Processes.measure(clients.get(which), command, this.measureMillis / 5);
				figures.get(which).add(Processes.measure(clients.get(which), command, this.measureMillis));
			}
		}
		String name = command.replace(" " + Processes.MILLIS, "");
		compare(name + " calls/s", figures, Figures::callsPerSecond);
		compare(name + " p50 us", figures, (slice) -> slice.medianNanos() / 1e3);
		compare(name + " p99 us", figures, (slice) -> slice.slowNanos() / 1e3);
	}

	private void compare(String name, List<List<Figures>> figures, ToDoubleFunction<Figures> value) {
		double alone = median(figures.get(0), value);
		double beside = median(figures.get(1), value);
		line("%s,%.1f,%.1f,%.2f", name, alone, beside, beside / alone);
	}

	/** What processes use while no call is made at all. */
	private void idleUsage(ForkedProcess alone, ForkedProcess beside, String name) {
		pause(500);
		long start = System.nanoTime();
		long aloneBefore = alone.usage().cpuNanos();
		long besideBefore = beside.usage().cpuNanos();
		pause(10 * this.measureMillis);
		double nanos = System.nanoTime() - start;
		double aloneShare = 100 * (alone.usage().cpuNanos() - aloneBefore) / nanos;
		double besideShare = 100 * (beside.usage().cpuNanos() - besideBefore) / nanos;
		line("%s idle %% of a processor,%.2f,%.2f,", name, aloneShare, besideShare);
	}

	private static void pause(long millis) {
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
		while (System.nanoTime() - end < 0) {
			LockSupport.parkNanos(end - System.nanoTime());
		}
	}

	private static long[] memory(ForkedProcess process) {
		String[] words = process.ask(60, "memory").split(" ", -1);
		return new long[] { Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]) };
	}

	private void memory(String name, long[] before, long[] after) {
		line("%s heap bytes per idle connection,,%d,", name, (after[0] - before[0]) / this.connections);
		line("%s direct bytes per idle connection,,%d,", name, (after[1] - before[1]) / this.connections);
		line("%s registered bytes in use per idle connection,,%d,", name, (after[2] - before[2]) / this.connections);
	}

	private static double median(List<Figures> figures, ToDoubleFunction<Figures> value) {
		List<Double> values = figures.stream().map(value::applyAsDouble).sorted(Comparator.naturalOrder()).toList();
		return values.get(values.size() / 2);
	}

	/** Says what is missing before a process finds out in the middle. */
	private void checkFiles() throws IOException {
		for (String limit : Files.readAllLines(Path.of("/proc/self/limits"))) {
			if (limit.startsWith("Max open files")) {
				String soft = limit.substring("Max open files".length()).strip().split(" +", -1)[0];
				long needed = (long) this.connections + BUSY_CONNECTIONS + OTHER_FILES;
				if (!soft.equals("unlimited") && Long.parseLong(soft) < needed) {
					throw new IllegalStateException("a process may open " + soft + " files (expected: at least "
							+ needed + " for " + this.connections + " connections; ulimit -n " + needed + ")");
				}
			}
		}
	}

	/**
	 * A server and its client. They are stopped while others are measured: ten idle pairs
	 * still wake up, compile and collect garbage.
	 */
	private record Pair(ForkedProcess server, ForkedProcess client) {

		void stop(boolean stopped) {
			this.server.stop(stopped);
			this.client.stop(stopped);
		}

	}

}
