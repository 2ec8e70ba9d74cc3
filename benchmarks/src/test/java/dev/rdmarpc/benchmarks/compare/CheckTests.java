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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class CheckTests {

	/** Keeps every limit: the p50 of raw TCP, and a rate between gRPC's and its own. */
	private static final Rows GOOD = rows(12_000, 300_000);

	private static final Rows SLOW_CALLS = rows(160_000, 300_000);

	private static final Rows FEW_CALLS = rows(12_000, 20_000);

	private final StringWriter text = new StringWriter();

	@Test
	void oneMeasurementThatKeepsAllLimitsIsEnough() {
		Deque<Rows> measurements = new ArrayDeque<>(List.of(GOOD));
		assertThat(holds(measurements)).isTrue();
		assertThat(this.text.toString()).contains("pass").doesNotContain("short", "not kept");
	}

	@Test
	void whatFallsShortIsMeasuredOnceMore() {
		Deque<Rows> measurements = new ArrayDeque<>(List.of(SLOW_CALLS, GOOD));
		assertThat(holds(measurements)).isTrue();
		assertThat(measurements).isEmpty();
		assertThat(this.text.toString())
			.contains("not kept in the first measurement: sync p50, rdma to floor; sync calls/s, rdma to grpc-direct");
	}

	@Test
	void whatFallsShortTwiceFails() {
		Deque<Rows> measurements = new ArrayDeque<>(List.of(SLOW_CALLS, FEW_CALLS));
		assertThat(holds(measurements)).isFalse();
		assertThat(this.text.toString()).contains("not kept in the second measurement: calls/s at 64 outstanding");
	}

	@Test
	void onlyWhatLimitsAreAboutIsMeasured() {
		assertThat(Check.PLAN.workloads()).containsExactly(new Workload(Mode.SYNC, 64), new Workload(Mode.ASYNC, 64),
				new Workload(Mode.SYNC, 1 << 20));
	}

	@Test
	void whatWasNotMeasuredFails() {
		Rows none = new Rows(List.of());
		assertThat(holds(new ArrayDeque<>(List.of(none, none)))).isFalse();
	}

	private boolean holds(Deque<Rows> measurements) {
		return Check.holds(measurements::removeFirst, new PrintWriter(this.text));
	}

	private static Rows rows(long p50Nanos, long outstandingCallsPerSecond) {
		List<Row> rows = new ArrayList<>();
		for (String peer : List.of(Peers.FLOOR, Peers.GRPC, "rdma", "rdma-default")) {
			boolean rdma = peer.startsWith("rdma");
			boolean floor = peer.equals(Peers.FLOOR);
			long p50 = rdma ? p50Nanos : (floor ? 10_000 : 120_000);
			rows.add(row(peer, Mode.SYNC, 64, 1_000_000_000L / p50, p50));
			rows.add(row(peer, Mode.ASYNC, 64, rdma ? outstandingCallsPerSecond : (floor ? 5_000_000 : 90_000), p50));
			rows.add(row(peer, Mode.SYNC, 1 << 20, rdma ? 2000 : 4000, p50));
		}
		return new Rows(rows);
	}

	private static Row row(String peer, Mode mode, int payload, long calls, long p50Nanos) {
		Slice slice = new Slice(calls, 1_000_000_000L, p50Nanos, p50Nanos, p50Nanos,
				new ProcessUsage(500_000_000L, 300 * calls, ProcessUsage.UNKNOWN));
		return Row.of(peer, new Workload(mode, payload), List.of(new Measurement(0, 0, slice)));
	}

}
