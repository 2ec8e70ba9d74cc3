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

package dev.rdmarpc.tools.ping;

import java.io.PrintWriter;
import java.io.StringWriter;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

/** The command line: its arguments, what it prints and how it ends. */
class CommandTests {

	private final StringWriter out = new StringWriter();

	private final StringWriter err = new StringWriter();

	private int run(String... arguments) {
		CommandLine commandLine = RdmaPing.commandLine();
		commandLine.setOut(new PrintWriter(this.out)).setErr(new PrintWriter(this.err));
		return commandLine.execute(arguments);
	}

	@Test
	void pingsAndReports() throws Exception {
		try (PingFixture fixture = new PingFixture()) {
			int status = run("127.0.0.1:" + fixture.responder.localAddress().getPort(), "--provider", "iwarp",
					"--device", "iwarp0", "-V", "-S", "100", "-C", "30", "--warm-up", "3", "--crc", "required");
			assertThat(this.err.toString()).isEmpty();
			assertThat(status).isZero();
			assertThat(this.out.toString().lines()).hasSize(4)
				.anyMatch((line) -> line.startsWith("provider iwarp, device iwarp0 (asked for by name"))
				.anyMatch((line) -> line.matches("pinging 127.0.0.1:\\d+ from 127.0.0.1:\\d+, 16 Reads out, 16 in"))
				.anyMatch((line) -> line.startsWith("30 pings of 100 bytes returned as they were sent in "))
				.anyMatch((line) -> line
					.matches("round trip in us:  min \\S+  p50 \\S+  p90 \\S+  p99 \\S+  p99.9 \\S+  max \\S+"));
			assertThat(fixture.outcome().pings()).isEqualTo(33);
		}
	}

	@Test
	void listsProvidersWithReasonsAndDevices() {
		assertThat(run("--list")).isZero();
		assertThat(this.out.toString().lines()).anyMatch((line) -> line.startsWith("iwarp: available, iWARP in user"))
			.anyMatch((line) -> line.startsWith("  iwarp0: ") && line.contains("Reads outstanding"));
	}

	@Test
	void helpNamesEveryMode() {
		assertThat(run("--help")).isZero();
		assertThat(this.out.toString()).contains("HOST[:PORT]", "--listen", "--list", "rping -s");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			value = { "\"\" | Missing required", "--list host | Unmatched argument at index 1: 'host'",
					"host:x | 'host:x' is no address", "host -S 15 | size of 15 (expected: 16 to 16777216 bytes)",
					"host -S 16777217 | size of 16777217", "host -C 0 | count of 0",
					"host --timeout 0 | timeout of PT0S", "host --warm-up -1 | warm-up of -1",
					"host --crc maybe | expected one of [AUTO, REQUIRED, OFF]",
					"--listen :: --bogus | Unknown option: '--bogus'" })
	void wrongArgumentsAreAnUsageError(String arguments, String message) {
		assertThat(run(arguments.isEmpty() ? new String[0] : arguments.split(" ", -1))).isEqualTo(2);
		assertThat(this.err.toString()).startsWith("rdma-ping: ").contains(message).contains("rdma-ping --help");
		assertThat(this.out.toString()).isEmpty();
	}

	@Test
	void aProviderThatDoesNotExistIsNamedWithThoseThatDo() {
		assertThat(run("localhost", "--provider", "pigeon")).isEqualTo(1);
		assertThat(this.err.toString()).startsWith("rdma-ping: There is no verbs provider 'pigeon'")
			.contains("iwarp is available");
	}

	@Test
	void aDeviceThatDoesNotExistIsNamed() {
		assertThat(run("localhost", "--provider", "iwarp", "--device", "mlx5_0")).isEqualTo(1);
		assertThat(this.err.toString()).startsWith("rdma-ping: no device mlx5_0");
	}

}
