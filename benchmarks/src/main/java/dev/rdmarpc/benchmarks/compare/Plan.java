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

import java.util.ArrayList;
import java.util.List;

/**
 * What a comparison does.
 *
 * @param peers the names of the peers, in the order of the table
 * @param modes how calls are made
 * @param payloads the sizes of requests
 * @param forks how often every process is started anew
 * @param rounds how often each process goes through all workloads
 * @param primeMillis how long a slice of priming is, of which a new process runs at least
 * one of each of its priming workloads before the first round; 0 for none
 * @param primeSlices no further one begins after the time of so many
 * @param warmUpMillis how long a slice runs before anything is counted
 * @param measureMillis how long a slice counts
 * @param leftOut what is not measured of the workloads that modes and payloads make
 */
record Plan(List<String> peers, List<Mode> modes, List<Integer> payloads, int forks, int rounds, long primeMillis,
		int primeSlices, long warmUpMillis, long measureMillis, List<Workload> leftOut) {

	/** A long payload that processes are primed with. */
	private static final int PRIMING_BYTES = 64 * 1024;

	/** Processor time of what hardly uses any has to be counted for longer. */
	private static final long WAITING_MILLIS = 1000;

	Plan {
		if (peers.isEmpty() || modes.isEmpty() || payloads.isEmpty()) {
			throw new IllegalArgumentException("nothing to compare");
		}
		if (forks < 1 || rounds < 1 || measureMillis < 1 || primeSlices < 1) {
			throw new IllegalArgumentException("nothing to measure");
		}
		peers.forEach((peer) -> Peers.named(Launch.plainName(peer)));
	}

	/** One that leaves nothing out. */
	Plan(List<String> peers, List<Mode> modes, List<Integer> payloads, int forks, int rounds, long primeMillis,
			int primeSlices, long warmUpMillis, long measureMillis) {
		this(peers, modes, payloads, forks, rounds, primeMillis, primeSlices, warmUpMillis, measureMillis, List.of());
	}

	/** All workloads, small payloads first. */
	List<Workload> workloads() {
		List<Workload> workloads = new ArrayList<>();
		for (int payload : this.payloads) {
			for (Mode mode : this.modes) {
				if (payload == smallest() || !mode.isForSmallestPayload()) {
					workloads.add(new Workload(mode, payload));
				}
			}
		}
		workloads.removeAll(this.leftOut);
		return workloads;
	}

	/** How long a slice of a workload counts. */
	long measureMillis(Workload workload) {
		return (workload.mode() == Mode.WAITING) ? Math.max(this.measureMillis, WAITING_MILLIS) : this.measureMillis;
	}

	private int smallest() {
		return this.payloads.stream().mapToInt(Integer::intValue).min().orElseThrow();
	}

	/**
	 * The workloads a new process runs for the sake of its compiler: those of the
	 * smallest payload and of one that is long but leaves time for many calls, and the
	 * largest, where most code is seen.
	 */
	List<Workload> primingWorkloads() {
		if (this.primeMillis == 0) {
			return List.of();
		}
		int smallest = smallest();
		int largest = this.payloads.stream().mapToInt(Integer::intValue).max().orElseThrow();
		List<Workload> workloads = new ArrayList<>();
		for (Mode mode : this.modes) {
			if (smallest < PRIMING_BYTES && mode != Mode.WAITING) {
				workloads.add(new Workload(mode, smallest));
			}
			if (largest >= PRIMING_BYTES && !mode.isForSmallestPayload()) {
				workloads.add(new Workload(mode, PRIMING_BYTES));
			}
		}
		if (largest > PRIMING_BYTES && !this.modes.get(0).isForSmallestPayload()) {
			workloads.add(new Workload(this.modes.get(0), largest));
		}
		return workloads;
	}

	/** How long it takes at least, without forks and connects. */
	long leastMillis() {
		long slices = this.rounds
				* workloads().stream().mapToLong((workload) -> this.warmUpMillis + measureMillis(workload)).sum();
		long priming = this.primeMillis * primingWorkloads().size();
		return (slices + priming) * this.forks * this.peers.size();
	}

}
