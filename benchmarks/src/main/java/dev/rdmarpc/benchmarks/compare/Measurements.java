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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All that a comparison has measured, in the order of its plan. For one thread.
 */
final class Measurements {

	private final List<String> peers;

	private final List<Workload> workloads;

	private final Map<Key, List<Measurement>> measured = new LinkedHashMap<>();

	Measurements(List<String> peers, List<Workload> workloads) {
		this.peers = peers;
		this.workloads = workloads;
	}

	void add(String peer, Workload workload, Measurement measurement) {
		this.measured.computeIfAbsent(new Key(peer, workload), (key) -> new ArrayList<>()).add(measurement);
	}

	/** What was measured of a peer under a workload, if anything, in order. */
	List<Measurement> of(String peer, Workload workload) {
		return this.measured.getOrDefault(new Key(peer, workload), List.of());
	}

	/**
	 * Sums it up.
	 * @return one row per workload and peer that could be measured, peers of one workload
	 * next to each other
	 */
	List<Row> rows() {
		List<Row> rows = new ArrayList<>();
		forEach((peer, workload, measured) -> rows.add(Row.of(peer, workload, measured)));
		return rows;
	}

	/** Hands over what could be measured, peers of one workload one after the other. */
	void forEach(Consumer consumer) {
		for (Workload workload : this.workloads) {
			for (String peer : this.peers) {
				List<Measurement> measured = of(peer, workload);
				if (!measured.isEmpty()) {
					consumer.accept(peer, workload, measured);
				}
			}
		}
	}

	/** Takes what was measured of a peer under a workload, at least one slice. */
	interface Consumer {

		void accept(String peer, Workload workload, List<Measurement> measured);

	}

	private record Key(String peer, Workload workload) {
	}

}
