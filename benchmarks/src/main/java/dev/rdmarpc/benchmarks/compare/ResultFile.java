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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The comparison as comma-separated values, one line per {@link Row}, and another file
 * with one line per {@link Slice}.
 */
final class ResultFile {

	static final String HEADER = "peer,mode,payload_bytes,connections,outstanding,p50_us,p99_us,p999_us,"
			+ "calls_per_s,mb_per_s,alloc_bytes_per_call,copied_bytes_per_call,cpu_us_per_call,cpu_percent";

	static final String SLICES_HEADER = "peer,mode,payload_bytes,connections,outstanding,fork,round,p50_us,p99_us,"
			+ "calls_per_s,cpu_us_per_call,cpu_percent";

	private ResultFile() {
	}

	/** Writes the rows, replacing the file. */
	static void write(Path file, List<Row> rows) throws IOException {
		List<String> lines = new ArrayList<>();
		lines.add(HEADER);
		for (Row row : rows) {
			lines.add(String.join(",", key(row.peer(), row.workload()), number("%.2f", row.p50Micros()),
					number("%.2f", row.p99Micros()), number("%.2f", row.p999Micros()),
					number("%.1f", row.callsPerSecond()), number("%.3f", row.megabytesPerSecond()),
					number("%.1f", row.allocatedBytesPerCall()), number("%.1f", row.copiedBytesPerCall()),
					number("%.3f", row.cpuMicrosPerCall()), number("%.1f", row.processorPercent())));
		}
		writeLines(file, lines);
	}

	/** The file of the slices that belongs to one of rows. */
	static Path slicesOf(Path file) {
		String name = file.getFileName().toString();
		int end = name.lastIndexOf('.');
		return file
			.resolveSibling((end > 0) ? name.substring(0, end) + "-slices" + name.substring(end) : name + "-slices");
	}

	/** Writes the slices, replacing the file. */
	static void writeSlices(Path file, Measurements measurements) throws IOException {
		List<String> lines = new ArrayList<>();
		lines.add(SLICES_HEADER);
		measurements.forEach((peer, workload, measured) -> {
			for (Measurement each : measured) {
				Row row = Row.of(peer, workload, List.of(each));
				lines.add(String.join(",", key(peer, workload), Integer.toString(each.fork()),
						Integer.toString(each.round()), number("%.2f", row.p50Micros()),
						number("%.2f", row.p99Micros()), number("%.1f", row.callsPerSecond()),
						number("%.3f", row.cpuMicrosPerCall()), number("%.1f", row.processorPercent())));
			}
		});
		writeLines(file, lines);
	}

	private static void writeLines(Path file, List<String> lines) throws IOException {
		Files.createDirectories(file.toAbsolutePath().getParent());
		Files.write(file, lines);
	}

	private static String key(String peer, Workload workload) {
		return String.join(",", peer, workload.mode().toString(), Integer.toString(workload.payloadBytes()),
				Integer.toString(workload.connections()), Integer.toString(workload.outstanding()));
	}

	/** Empty where there is no number. */
	private static String number(String format, double value) {
		return Double.isNaN(value) ? "" : String.format(Locale.ROOT, format, value);
	}

}
