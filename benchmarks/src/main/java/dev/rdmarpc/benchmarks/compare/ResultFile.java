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
			+ "calls_per_s,mb_per_s,alloc_bytes_per_call,copied_bytes_per_call,cpu_us_per_call";

	private ResultFile() {
	}

	/** Writes the rows, replacing the file. */
	static void write(Path file, List<Row> rows) throws IOException {
		List<String> lines = new ArrayList<>();
		lines.add(HEADER);
		for (Row row : rows) {
			Workload workload = row.workload();
			lines.add(String.format(Locale.ROOT, "%s,%s,%d,%d,%d,%.2f,%.2f,%.2f,%.1f,%.3f,%.1f,%s,%.3f", row.peer(),
					workload.mode(), workload.payloadBytes(), workload.connections(), workload.outstanding(),
					row.p50Micros(), row.p99Micros(), row.p999Micros(), row.callsPerSecond(), row.megabytesPerSecond(),
					row.allocatedBytesPerCall(), optional(row.copiedBytesPerCall()), row.cpuMicrosPerCall()));
		}
		Files.createDirectories(file.toAbsolutePath().getParent());
		Files.write(file, lines);
	}

	/** Empty where there is no number. */
	private static String optional(double value) {
		return Double.isNaN(value) ? "" : String.format(Locale.ROOT, "%.1f", value);
	}

}
