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

class BarsTests {

	private static final Bar AT_MOST = Bar.atMost("p50 to floor", 1.25, 1.1, (rows) -> ratio(rows, "rdma"));

	private static final Bar AT_LEAST = Bar.atLeast("the other way", 3, 6, (rows) -> ratio(rows, "rdma"));

	private static final Bar OTHER = Bar.atMost("of one that is not there", 1, 1, (rows) -> ratio(rows, "dove"));

	private static double ratio(Rows rows, String peer) {
		return rows.of(peer, Mode.SYNC, 64).p50Micros() / rows.of(Peers.FLOOR, Mode.SYNC, 64).p50Micros();
	}

	@Test
	void printsHowEachFigureStandsToItsLimit() {
		Rows rows = rows(20_000);
		assertThat(AT_MOST.judge(rows)).isEqualTo(Bar.Verdict.SHORT);
		assertThat(AT_MOST.judge(rows(12_500))).isEqualTo(Bar.Verdict.PASS);
		assertThat(AT_LEAST.judge(rows)).isEqualTo(Bar.Verdict.SHORT);
		assertThat(AT_LEAST.judge(rows(30_000))).isEqualTo(Bar.Verdict.PASS);
		assertThat(OTHER.judge(rows)).isEqualTo(Bar.Verdict.NOT_MEASURED);
		StringWriter text = new StringWriter();
		Bar.print(new PrintWriter(text), List.of(AT_MOST, AT_LEAST, OTHER), rows);
		List<String> lines = text.toString().lines().map((line) -> line.replaceAll(" +", " ")).toList();
		assertThat(lines).containsSequence("| p50 to floor | 2 | <= 1.25 | 1.10 | short |",
				"| the other way | 2 | >= 3 | 6 | short |",
				"| of one that is not there | - | <= 1 | 1 | not measured |");
	}

	@Test
	void everyGoalIsMeasuredByTheComparison() {
		Plan plan = new Plan(Peers.compared(), List.of(Mode.values()), List.of(64, 1 << 20), 1, 1, 0, 1, 1, 1);
		Rows rows = new Rows(plan.peers()
			.stream()
			.flatMap((peer) -> plan.workloads()
				.stream()
				.filter((workload) -> Peers.named(peer).supports(workload.mode()))
				.map((workload) -> Row.of(peer, workload, List.of(slice(10_000)))))
			.toList());
		assertThat(Bars.GOALS)
			.allSatisfy((bar) -> assertThat(bar.judge(rows)).as(bar.title()).isNotEqualTo(Bar.Verdict.NOT_MEASURED));
		assertThat(Bars.GOALS)
			.allSatisfy((bar) -> assertThat(bar.judge(new Rows(List.of()))).isEqualTo(Bar.Verdict.NOT_MEASURED));
	}

	@Test
	void theLeastHeapOfACallAreItsArraysAndItsFuture() {
		double blocking = Bars.leastHeap(false);
		assertThat(blocking).as("two arrays of 64 bytes and their headers").isBetween(2 * 72.0, 2 * 96.0);
		assertThat(Bars.leastHeap(true) - blocking).as("a future and a stage on it").isBetween(48.0, 160.0);
	}

	private static Rows rows(long p50Nanos) {
		Workload workload = new Workload(Mode.SYNC, 64);
		return new Rows(List.of(Row.of(Peers.FLOOR, workload, List.of(slice(10_000))),
				Row.of("rdma", workload, List.of(slice(p50Nanos)))));
	}

	private static Measurement slice(long p50Nanos) {
		return new Measurement(0, 0, new Slice(1000, 1_000_000_000L, p50Nanos, p50Nanos, p50Nanos,
				new ProcessUsage(500_000_000L, 7000, 140)));
	}

}
