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

package dev.rdmarpc.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** How much direct memory a process has whose pool grows and shrinks. */
@Tag("slow")
class MemoryBudgetTests {

	/** What alignment adds, a page per extent, and what the process uses besides. */
	private static final int MORE_BYTES = 2 << 20;

	@TempDir
	private Path directory;

	@ParameterizedTest
	@CsvSource({ "equal,-XX:+DisableExplicitGC,1g", "equal,-XX:+DisableExplicitGC,66m", "equal,-XX:+UseG1GC,1g",
			"mixed,-XX:+UseG1GC,1g", "mixed,-XX:+UseSerialGC,66m" })
	void directMemoryStaysWithinTheBudget(String sizes, String flag, String maxDirectMemory) throws Exception {
		Path output = this.directory.resolve("output.txt");
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx64m", flag, "-XX:MaxDirectMemorySize=" + maxDirectMemory, "-cp",
				System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
				GrowingAndShrinking.class.getName(), sizes)
			.redirectErrorStream(true)
			.redirectOutput(output.toFile())
			.start();
		try {
			assertThat(process.waitFor(4, TimeUnit.MINUTES)).as(() -> "ended in time: " + read(output)).isTrue();
		}
		finally {
			process.destroyForcibly();
		}
		List<String> lines = Files.readAllLines(output);
		assertThat(process.exitValue()).as(lines::toString).isZero();
		String[] result = lines.get(lines.size() - 1).split(" ", 3);
		assertThat(result[0]).as("turns of %d that failed: %s", GrowingAndShrinking.TURNS, result[2]).isEqualTo("0");
		assertThat(Long.parseLong(result[1])).as("bytes of direct memory")
			.isBetween((long) GrowingAndShrinking.MAX_BYTES / 4, (long) GrowingAndShrinking.MAX_BYTES + MORE_BYTES);
	}

	private static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			return ex.toString();
		}
	}

}
