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

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.benchmarks.workloads.peer.WorkloadPeer;
import dev.rdmarpc.benchmarks.workloads.store.CoreRun;
import dev.rdmarpc.benchmarks.workloads.store.MixedRun;
import dev.rdmarpc.benchmarks.workloads.tensors.Model;
import dev.rdmarpc.benchmarks.workloads.tensors.Worker;

/**
 * The main class of a forked process, a server or a client of one framework, told what to
 * do by lines on its standard input. It answers every line with one on its standard
 * output, {@code ok …} or {@code error …}, and ends with its input.
 *
 * <pre>
 * client:  ycsb WORKLOAD RECORDS                             ok; the store is filled
 *          transactions THREADS MILLIS                       ok, see {@link CoreRun#run}
 *          fill RECORDS                                      ok
 *          mixed DEADLINE_MICROS PER_SECOND HEAVY MILLIS     ok, see {@link MixedRun#run}
 *          worker MODEL INDEX WORKERS FORWARD_MILLIS         ok
 *          steps FIRST COUNT THOROUGH                        ok NANOS:FIRST_NANOS:ALL_NANOS …
 * </pre>
 */
public final class WorkloadProcess {

	private final WorkloadPeer.Client client;

	private @Nullable CoreRun core;

	private @Nullable MixedRun mixed;

	private @Nullable Worker worker;

	private WorkloadProcess(WorkloadPeer.Client client) {
		this.client = client;
	}

	/**
	 * Takes the role, the peer, and for a server the number of workers, for a client the
	 * servers' ports.
	 */
	public static void main(String[] arguments) throws Exception {
		PrintStream answers = System.out;
		System.setOut(System.err);
		WorkloadPeer peer = Framework.named(arguments[1]);
		BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		if (arguments[0].equals("server")) {
			try (WorkloadPeer.Server server = peer.serve(Integer.parseInt(arguments[2]))) {
				answers.println("ok " + server.port());
				String command = commands.readLine();
				while (command != null) {
					answers.println("error: a server is told nothing");
					command = commands.readLine();
				}
			}
		}
		else {
			try (WorkloadPeer.Client client = peer
				.connect(Arrays.stream(arguments).skip(2).map(Integer::valueOf).toList())) {
				answers.println("ok");
				new WorkloadProcess(client).obeyAll(commands, answers);
			}
		}
		System.exit(0);
	}

	private void obeyAll(BufferedReader commands, PrintStream answers) throws Exception {
		for (String command = commands.readLine(); command != null; command = commands.readLine()) {
			String reply;
			try {
				reply = "ok " + obey(command.split(" ", -1));
			}
			catch (Exception ex) {
				ex.printStackTrace();
				reply = "error " + String.valueOf(ex).replace('\n', ' ');
			}
			answers.println(reply);
		}
		Worker running = this.worker;
		if (running != null) {
			running.close();
		}
	}

	private String obey(String[] words) throws Exception {
		switch (words[0]) {
			case "ycsb" -> this.core = new CoreRun(this.client.store(), words[1], Integer.parseInt(words[2]));
			case "fill" ->
				this.mixed = new MixedRun(this.client.store(), this.client.memory(), Integer.parseInt(words[1]));
			case "worker" -> this.worker = this.client.worker(Model.valueOf(words[1]), Integer.parseInt(words[2]),
					Integer.parseInt(words[3]), Duration.ofMillis(Long.parseLong(words[4])));
			case "transactions" -> {
				return made(this.core).run(Integer.parseInt(words[1]),
						TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[2])));
			}
			case "mixed" -> {
				Duration deadline = Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(Long.parseLong(words[1])));
				return made(this.mixed).run(this.client.reads(deadline), deadline.toNanos(), Integer.parseInt(words[2]),
						Integer.parseInt(words[3]), TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[4])));
			}
			case "steps" -> {
				return steps(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Boolean.parseBoolean(words[3]));
			}
			default -> throw new IllegalArgumentException("unknown command " + words[0]);
		}
		return "";
	}

	private String steps(int first, int count, boolean thorough) {
		StringJoiner line = new StringJoiner(" ");
		for (int step = first; step < first + count; step++) {
			Worker.Step took = made(this.worker).step(step, thorough);
			line.add(took.nanos() + ":" + took.firstNanos() + ":" + took.allNanos());
		}
		return line.toString();
	}

	private static <T> T made(@Nullable T what) {
		if (what == null) {
			throw new IllegalStateException("nothing is prepared for this command");
		}
		return what;
	}

}
