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
import java.io.StringWriter;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ChangeTests {

	private static final Workload SYNC = new Workload(Mode.SYNC, 64);

	private static final Workload WAITING = new Workload(Mode.WAITING, 64);

	private final Measurements measurements = new Measurements(List.of("floor", "before:rdma", "rdma"),
			List.of(SYNC, WAITING));

	@Test
	void comparesRoundByRoundAndSumsUpByPair() {
		measured(0, 0, 1000, 2000);
		measured(0, 1, 100, 300);
		measured(0, 2, 1000, 4000);
		measured(1, 3, 1000, 500);
		measured(2, 4, 1000, 1200);
		assertThat(Change.of(this.measurements)).singleElement()
			.isEqualTo(new Change("rdma", SYNC, 1.2, 0.5, 3, 3, 0.8));
	}

	@Test
	void liesBetweenTheMiddleTwoOfAnEvenNumberOfPairs() {
		measured(0, 0, 1000, 500);
		measured(1, 1, 1000, 1000);
		measured(2, 2, 1000, 1500);
		measured(3, 3, 1000, 4000);
		assertThat(Change.of(this.measurements)).singleElement()
			.isEqualTo(new Change("rdma", SYNC, 1.25, 0.5, 4, 4, 0.5));
	}

	@Test
	void passesOverRoundsInWhichOneOfThemFailed() {
		measured(0, 0, 1000, 2000);
		add("rdma", 0, 1, 9000);
		add("before:rdma", 0, 2, 9000);
		assertThat(Change.of(this.measurements)).singleElement().extracting(Change::ratio).isEqualTo(2.0);
	}

	@Test
	void saysNothingOfPeersWithoutAStateBeforeNorOfThoseThatOnlyWait() {
		add("floor", 0, 0, 1000);
		add("rdma", 0, 0, 1000);
		this.measurements.add("before:rdma", WAITING, new Measurement(0, 0, slice(1)));
		this.measurements.add("rdma", WAITING, new Measurement(0, 0, slice(1)));
		assertThat(Change.of(this.measurements)).isEmpty();
		StringWriter text = new StringWriter();
		Change.print(new PrintWriter(text), List.of());
		assertThat(text.toString()).isEmpty();
	}

	@Test
	void printsOneLineForEach() {
		StringWriter text = new StringWriter();
		Change.print(new PrintWriter(text), List.of(new Change("rdma", SYNC, 1.234, 0.9, 1.5, 4, 0.75)));
		assertThat(text.toString().lines().reduce((first, second) -> second).orElseThrow().split("\\|", -1))
			.extracting(String::trim)
			.containsSubsequence("rdma, sync 64", "1.23", "0.90 to 1.50", "4", "75 %");
	}

	private void measured(int fork, int round, long before, long after) {
		add("before:rdma", fork, round, before);
		add("rdma", fork, round, after);
	}

	private void add(String peer, int fork, int round, long calls) {
		this.measurements.add(peer, SYNC, new Measurement(fork, round, slice(calls)));
	}

	private static Slice slice(long calls) {
		return new Slice(calls, 1_000_000_000L, 1, 1, 1, new ProcessUsage(1, 1, 1));
	}

}
