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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The comparison as a table in Markdown, which is also good to read in a terminal: one
 * block per workload, with each peer's ratios to {@link Peers#FLOOR} and
 * {@link Peers#GRPC}.
 */
final class ResultTable {

	private static final List<Column> COLUMNS = List.of(new Column("peer", Row::peer),
			new Column("p50 us", (row) -> number(row.p50Micros())),
			new Column("p99 us", (row) -> number(row.p99Micros())),
			new Column("p99.9 us", (row) -> number(row.p999Micros())),
			new Column("calls/s", (row) -> number(row.callsPerSecond())),
			new Column("MB/s", (row) -> number(row.megabytesPerSecond())),
			new Column("B/call", (row) -> number(row.allocatedBytesPerCall())),
			new Column("copied B/call", (row) -> number(row.copiedBytesPerCall())),
			new Column("CPU us/call", (row) -> number(row.cpuMicrosPerCall())),
			new Column("CPU %", (row) -> number(row.processorPercent())),
			new Column("spread", (row) -> percent(row.spread())),
			new Column("pairs apart", (row) -> percent(row.pairSpread())));

	private final List<Row> rows;

	ResultTable(List<Row> rows) {
		this.rows = rows;
	}

	/** Prints the table. */
	void print(PrintWriter out) {
		Map<Workload, List<Row>> blocks = this.rows.stream()
			.collect(Collectors.groupingBy(Row::workload, LinkedHashMap::new, Collectors.toList()));
		blocks.forEach((workload, block) -> printBlock(out, workload, block));
		out.flush();
	}

	private static void printBlock(PrintWriter out, Workload workload, List<Row> block) {
		String title = String.format(Locale.ROOT, "%s, %s %s, %d outstanding on each of %d connection(s)",
				workload.mode(), size(workload.payloadBytes()), workload.exchange().name().toLowerCase(Locale.ROOT),
				workload.outstanding(), workload.connections());
		out.printf(Locale.ROOT, "%n**%s**%n%n", title);
		@Nullable Row floor = find(block, Peers.FLOOR);
		@Nullable Row grpc = find(block, Peers.GRPC);
		List<Column> columns = new ArrayList<>(COLUMNS);
		columns.add(ratios("p50 / floor", floor, Row::p50Micros));
		columns.add(ratios("p50 / grpc", grpc, Row::p50Micros));
		columns.add(ratios("calls / floor", floor, Row::callsPerSecond));
		columns.add(ratios("calls / grpc", grpc, Row::callsPerSecond));
		int[] widths = columns.stream()
			.mapToInt((column) -> Math.max(column.title().length(),
					block.stream().mapToInt((row) -> column.value().apply(row).length()).max().orElse(0)))
			.toArray();
		printLine(out, columns, widths, Column::title);
		out.print('|');
		for (int i = 0; i < widths.length; i++) {
			out.print(" " + ((i == 0) ? "-".repeat(widths[i]) : "-".repeat(widths[i] - 1) + ":") + " |");
		}
		out.println();
		for (Row row : block) {
			printLine(out, columns, widths, (column) -> column.value().apply(row));
		}
	}

	private static void printLine(PrintWriter out, List<Column> columns, int[] widths, Function<Column, String> cell) {
		out.print('|');
		for (int i = 0; i < widths.length; i++) {
			String format = " %" + ((i == 0) ? "-" : "") + widths[i] + "s |";
			out.printf(Locale.ROOT, format, cell.apply(columns.get(i)));
		}
		out.println();
	}

	private static Column ratios(String title, @Nullable Row base, ToDoubleFunction<Row> value) {
		return new Column(title, (row) -> {
			double ratio = (base != null) ? value.applyAsDouble(row) / value.applyAsDouble(base) : Double.NaN;
			return Double.isNaN(ratio) ? "-" : String.format(Locale.ROOT, "%.2f", ratio);
		});
	}

	private static @Nullable Row find(List<Row> block, String peer) {
		return block.stream().filter((row) -> Objects.equals(row.peer(), peer)).findFirst().orElse(null);
	}

	private static String number(double value) {
		if (Double.isNaN(value)) {
			return "-";
		}
		if (value >= 1e6) {
			return String.format(Locale.ROOT, "%.2f M", value / 1e6);
		}
		if (value >= 1e4) {
			return String.format(Locale.ROOT, "%.1f k", value / 1e3);
		}
		return String.format(Locale.ROOT, (value < 100) ? "%.1f" : "%.0f", value);
	}

	private static String percent(double part) {
		return Double.isNaN(part) ? "-" : Math.round(100 * part) + " %";
	}

	private static String size(int bytes) {
		if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
			return (bytes >> 20) + " MiB";
		}
		return (bytes >= 1 << 10 && bytes % (1 << 10) == 0) ? (bytes >> 10) + " KiB" : bytes + " B";
	}

	private record Column(String title, Function<Row, String> value) {
	}

}
