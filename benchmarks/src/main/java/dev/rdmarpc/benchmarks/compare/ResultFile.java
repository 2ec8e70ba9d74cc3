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

/** The comparison as comma-separated values, one line per {@link Row}. */
final class ResultFile {

	static final String HEADER = "peer,mode,payload_bytes,connections,outstanding,p50_us,p99_us,p999_us,"
			+ "calls_per_s,mb_per_s,alloc_bytes_per_call,copied_bytes_per_call,cpu_us_per_call,cpu_percent";

	private ResultFile() {
	}

	/** Writes the rows, replacing the file. */
	static void write(Path file, List<Row> rows) throws IOException {
		List<String> lines = new ArrayList<>();
		lines.add(HEADER);
		for (Row row : rows) {
			Workload workload = row.workload();
			lines.add(String.join(",", row.peer(), workload.mode().toString(),
					Integer.toString(workload.payloadBytes()), Integer.toString(workload.connections()),
					Integer.toString(workload.outstanding()), number("%.2f", row.p50Micros()),
					number("%.2f", row.p99Micros()), number("%.2f", row.p999Micros()),
					number("%.1f", row.callsPerSecond()), number("%.3f", row.megabytesPerSecond()),
					number("%.1f", row.allocatedBytesPerCall()), number("%.1f", row.copiedBytesPerCall()),
					number("%.3f", row.cpuMicrosPerCall()), number("%.1f", row.processorPercent())));
		}
		Files.createDirectories(file.toAbsolutePath().getParent());
		Files.write(file, lines);
	}

	/** Empty where there is no number. */
	private static String number(String format, double value) {
		return Double.isNaN(value) ? "" : String.format(Locale.ROOT, format, value);
	}

}
