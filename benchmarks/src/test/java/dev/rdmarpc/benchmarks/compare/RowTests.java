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
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class RowTests {

	private static final Workload WORKLOAD = new Workload(Mode.SYNC, 1024);

	@Test
	void takesTheMedianOfEachFigureOnItsOwn() {
		Row row = row("floor", slice(1000, 10_000, 90_000), slice(2000, 30_000, 70_000), slice(4000, 20_000, 80_000));
		assertThat(row.callsPerSecond()).isEqualTo(2000);
		assertThat(row.p50Micros()).isEqualTo(20);
		assertThat(row.p99Micros()).isEqualTo(80);
		assertThat(row.megabytesPerSecond()).isEqualTo(2.048);
		assertThat(row.spread()).isEqualTo(1.5);
	}

	@Test
	void liesBetweenTheMiddleTwoOfAnEvenNumber() {
		Row row = row("floor", slice(1000, 10_000, 90_000), slice(2000, 20_000, 70_000));
		assertThat(row.p50Micros()).isEqualTo(15);
		assertThat(row.cpuMicrosPerCall()).isCloseTo((500 + 250) / 2.0, within(1e-9));
		assertThat(row.allocatedBytesPerCall()).isCloseTo((7 + 3.5) / 2, within(1e-9));
	}

	@Test
	void aSliceSurvivesItsLine() {
		Slice slice = slice(1000, 10_000, 90_000);
		assertThat(Slice.parse(slice.toLine())).isEqualTo(slice);
	}

	@Test
	void theTableShowsRatiosToFloorAndGrpcOfTheSameWorkload() {
		StringWriter text = new StringWriter();
		new ResultTable(List.of(row(Peers.FLOOR, slice(8000, 10_000, 20_000)),
				row(Peers.GRPC, slice(1000, 120_000, 250_000)), row("grpc-default", slice(500, 150_000, 250_000))))
			.print(new PrintWriter(text));
		String last = text.toString().lines().reduce((first, second) -> second).orElseThrow();
		assertThat(text.toString()).contains("**sync, 1 KiB echo, 1 outstanding on each of 1 connection(s)**");
		assertThat(last.split("\\|", -1)).extracting(String::trim)
			.containsSubsequence("grpc-default", "150", "15.00", "1.25", "0.06", "0.50");
	}

	@Test
	void tellsHowFarThePairsAreApartWhereThereAreSeveral() {
		assertThat(row("floor", slice(1000, 1, 1), slice(2000, 1, 1)).pairSpread()).isNaN();
		Row row = Row.of("floor", WORKLOAD,
				List.of(new Measurement(0, 0, slice(1000, 1, 1)), new Measurement(0, 1, slice(3000, 1, 1)),
						new Measurement(1, 2, slice(5000, 1, 1)), new Measurement(1, 3, slice(7000, 1, 1))));
		assertThat(row.spread()).as("of all slices").isEqualTo(1.5);
		assertThat(row.pairSpread()).as("medians of 2000 and 6000").isEqualTo(1);
		StringWriter text = new StringWriter();
		new ResultTable(List.of(row)).print(new PrintWriter(text));
		assertThat(text.toString().lines().reduce((first, second) -> second).orElseThrow().split("\\|", -1))
			.extracting(String::trim)
			.containsSubsequence("floor", "150 %", "100 %");
	}

	private static Row row(String peer, Slice... slices) {
		return Row.of(peer, WORKLOAD, Stream.of(slices).map((slice) -> new Measurement(0, 0, slice)).toList());
	}

	private static Slice slice(long calls, long p50Nanos, long p99Nanos) {
		return new Slice(calls, 1_000_000_000L, p50Nanos, p99Nanos, p99Nanos,
				new ProcessUsage(500_000_000L, 7000, 140));
	}

}
