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
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Carries out a {@link Plan}: in each round and for each workload, all peers one right
 * after the other, starting with another one each round. What disturbs the machine for a
 * while so disturbs all peers alike.
 *
 * <p>
 * While a slice runs, this process and those of the other peers sleep.
 */
final class Comparison {

	private static final double WORTHWHILE_GAIN = 1.1;

	/** The share of a slice that compilers may have taken of one that primes no more. */
	private static final double COMPILING = 0.1;

	/** How many slices in a row end priming: one alone may have been disturbed. */
	private static final int STEADY_SLICES = 3;

	private final Plan plan;

	private final PrintWriter progress;

	private final List<PeerPair> pairs;

	private final Measurements measurements;

	private final Set<String> failures = new LinkedHashSet<>();

	private final Set<String> disturbances = new LinkedHashSet<>();

	/**
	 * Creates a comparison.
	 * @param plan what to do
	 * @param launch how processes are started
	 * @param logs the directory for their logs
	 * @param progress told what is going on
	 */
	Comparison(Plan plan, Launch launch, Path logs, PrintWriter progress) {
		this.plan = plan;
		this.progress = progress;
		this.measurements = new Measurements(plan.peers(), plan.workloads());
		this.pairs = plan.peers().stream().map((peer) -> new PeerPair(peer, launch, logs)).toList();
	}

	/** What could not be measured, one entry per peer and workload. */
	Set<String> failures() {
		return this.failures;
	}

	/** What casts doubt on the figures of others: peers that did not sleep. */
	Set<String> disturbances() {
		return this.disturbances;
	}

	/**
	 * Runs it.
	 * @return what could be measured
	 */
	Measurements run() {
		Thread killer = new Thread(() -> this.pairs.forEach(PeerPair::kill), "kill-forks");
		Runtime.getRuntime().addShutdownHook(killer);
		try {
			for (int fork = 0; fork < this.plan.forks(); fork++) {
				prime();
				for (int round = 0; round < this.plan.rounds(); round++) {
					this.progress.printf(Locale.ROOT, "fork %d of %d, round %d of %d%n", fork + 1, this.plan.forks(),
							round + 1, this.plan.rounds());
					this.progress.flush();
					runRound(fork, fork * this.plan.rounds() + round);
				}
				this.pairs.forEach(this::noteIdle);
				this.pairs.forEach(PeerPair::close);
			}
		}
		finally {
			this.pairs.forEach(PeerPair::kill);
			Runtime.getRuntime().removeShutdownHook(killer);
		}
		return this.measurements;
	}

	private void prime() {
		for (PeerPair pair : this.pairs) {
			this.progress.printf(Locale.ROOT, "starting %s%n", pair.peer());
			this.progress.flush();
			this.plan.primingWorkloads().stream().filter(pair::supports).forEach((workload) -> prime(pair, workload));
		}
	}

	/**
	 * Runs a workload until it gets no faster and little is compiled, for some slices in
	 * a row and within limits. Compilers would take the processors from those who call.
	 */
	private void prime(PeerPair pair, Workload workload) {
		double best = 0;
		int steady = 0;
		long deadline = System.nanoTime()
				+ TimeUnit.MILLISECONDS.toNanos(this.plan.primeMillis() * this.plan.primeSlices());
		while (System.nanoTime() - deadline < 0 && steady < STEADY_SLICES) {
			Slice slice;
			boolean compiling;
			try {
				long compiled = pair.compiledMillis();
				slice = pair.measure(workload, this.plan.primeMillis() / 2, this.plan.primeMillis() / 2);
				compiling = pair.compiledMillis() - compiled > COMPILING * this.plan.primeMillis();
			}
			catch (PeerFailure ex) {
				failed(pair, workload, ex);
				return;
			}
			steady = (compiling || slice.callsPerSecond() >= best * WORTHWHILE_GAIN) ? 0 : steady + 1;
			best = Math.max(best, slice.callsPerSecond());
		}
	}

	private void runRound(int fork, int round) {
		for (Workload workload : this.plan.workloads()) {
			for (int i = 0; i < this.pairs.size(); i++) {
				PeerPair pair = this.pairs.get((i + round) % this.pairs.size());
				if (!pair.supports(workload)) {
					continue;
				}
				Slice slice = measure(pair, workload, this.plan.warmUpMillis(), this.plan.measureMillis(workload));
				if (slice != null && slice.calls() > 0) {
					this.measurements.add(pair.peer(), workload, new Measurement(fork, round, slice));
				}
				else if (slice != null) {
					this.disturbances
						.add(String.format(Locale.ROOT, "%s, %s: no call ended in a slice of %d ms, which is left out",
								pair.peer(), workload, this.plan.measureMillis(workload)));
				}
			}
		}
	}

	private @Nullable Slice measure(PeerPair pair, Workload workload, long warmUpMillis, long measureMillis) {
		try {
			return pair.measure(workload, warmUpMillis, measureMillis);
		}
		catch (PeerFailure ex) {
			failed(pair, workload, ex);
			return null;
		}
	}

	private void failed(PeerPair pair, Workload workload, PeerFailure failure) {
		this.failures.add(pair.peer() + ", " + workload + ": failed");
		this.progress.printf(Locale.ROOT, "%s, %s: %s%n", pair.peer(), workload, failure.getMessage());
		this.progress.flush();
	}

	private void noteIdle(PeerPair pair) {
		if (pair.busiestIdle() > 0.05) {
			this.disturbances
				.add(String.format(Locale.ROOT, "%s: used %.0f %% of a processor while others were measured%s",
						pair.peer(), 100 * pair.busiestIdle(), pair.busiestIdleThreads()));
		}
	}

}
