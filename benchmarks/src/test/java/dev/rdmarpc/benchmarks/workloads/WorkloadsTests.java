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

package dev.rdmarpc.benchmarks.workloads;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs each command, forks and all, for as short as it goes. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class WorkloadsTests {

	private static final List<String> PEERS = List.of("rdma-default", "grpc-default", "rdma-grpc-default");

	@TempDir
	private Path directory;

	@Test
	void ycsbMeasuresEachOperationOfEachPeer() throws Exception {
		List<String> lines = run("ycsb", "--workloads", "a,b,c,d,e,f", "--threads", "1,4", "--records", "50",
				"--rounds", "3", "--measure-millis", "90", "--prime-millis", "15");
		for (String peer : PEERS) {
			for (String figure : List.of("ops/s", "p50 us", "p99 us")) {
				for (int threads : new int[] { 1, 4 }) {
					assertFigure(lines, "a / " + threads + " / update", peer, figure);
					for (String workload : List.of("a", "b", "c", "d", "f")) {
						assertFigure(lines, workload + " / " + threads + " / all", peer, figure);
						assertFigure(lines, workload + " / " + threads + " / read", peer, figure);
					}
					assertFigure(lines, "e / " + threads + " / scan", peer, figure);
					assertFigure(lines, "f / " + threads + " / update", peer, figure);
					assertFigure(lines, "f / " + threads + " / read-modify-write", peer, figure);
				}
			}
			assertThat(figure(lines, "f / 1 / read-modify-write", peer, "p50 us"))
				.isGreaterThan(figure(lines, "f / 1 / update", peer, "p50 us"));
			// each of them is an update
			assertThat(figure(lines, "f / 1 / read-modify-write", peer, "ops/s"))
				.isEqualTo(figure(lines, "f / 1 / update", peer, "ops/s"));
		}
		assertThat(table()).containsPattern("\\| a / 1 / read +\\|")
			.containsPattern("\\| f / 4 / read-modify-write +\\|")
			.contains("throughput to grpc-default ")
			.contains("(goal 2.35: ")
			.contains("(goal 0.53: ");
	}

	@Test
	void tensorsAreSummedInEachStep() throws Exception {
		List<String> peers = List.of("rdma-default", "rdma-registered", "grpc-default");
		List<String> lines = run("tensors", "--peers", String.join(",", peers), "--models", "small", "--servers", "1",
				"--rounds", "2", "--prime-steps", "2", "--thorough");
		for (String peer : peers) {
			assertFigure(lines, "SMALL", peer, "step ms");
			assertFigure(lines, "SMALL", peer, "first tensor ms");
		}
		assertThat(table()).contains("SMALL / rdma-registered");
	}

	@Test
	void mixedCountsGetsInTimeBesideScansAndBlobs() throws Exception {
		List<String> lines = run("mixed", "--deadline-micros", "1000,30000000", "--heavy", "0,2", "--gets-per-second",
				"200", "--records", "120", "--rounds", "1", "--measure-millis", "200", "--prime-millis", "20");
		for (String peer : PEERS) {
			assertThat(figure(lines, "30000000 us / gets", peer, "in time %")).isEqualTo(100);
			assertThat(figure(lines, "30000000 us / scans, blobs", peer, "in time %")).isEqualTo(100);
			assertThat(figure(lines, "1000 us / gets", peer, "in time %")).isBetween(0.0, 100.0);
			assertFigure(lines, "30000000 us / scans, blobs", peer, "scans/s");
			assertFigure(lines, "30000000 us / scans, blobs", peer, "blobs/s");
		}
	}

	@Test
	void prioritiesMeasuresCallsBesideUploadsWithAndWithoutTheScheduler() throws Exception {
		List<String> lines = run("priorities", "--upload-bytes", "4194304", "--rounds", "1", "--measure-millis", "60",
				"--prime-millis", "20");
		for (String scheduler : List.of("on", "off")) {
			assertFigure(lines, "calls alone", scheduler, "p99 us");
			assertFigure(lines, "calls alone", scheduler, "calls/s");
			assertFigure(lines, "uploads alone", scheduler, "uploads MB/s");
			assertFigure(lines, "both equal", scheduler, "p50 us");
			assertFigure(lines, "both equal", scheduler, "uploads MB/s");
		}
		assertFigure(lines, "with priorities", "on", "p99 us");
		assertFigure(lines, "on two queue pairs", "on", "p99 us");
		assertFigure(lines, "with priorities", "on", "uploads MB/s");
		assertFigure(lines, "5 calls/s, with priorities", "on", "p99 us");
		assertFigure(lines, "beside frames, with priorities", "on", "uploads MB/s");
		assertThat(table()).contains(" (at most 5: ").contains(" (at least 0.95: ").contains(" (at least 0.98: ");
	}

	@Test
	void saysWhichPeersThereAreWhenAskedForAnUnknownOne() {
		StringWriter errors = new StringWriter();
		CommandLine command = Workloads.commandLine().setErr(new PrintWriter(errors));
		assertThat(command.execute("ycsb", "--peers", "carrier-pigeon")).isNotZero();
		assertThat(errors.toString()).contains("carrier-pigeon").contains("rdma-default").contains("grpc-default");
	}

	private List<String> run(String... arguments) throws Exception {
		List<String> all = new ArrayList<>(List.of(arguments));
		// The script names a file, and the user another one.
		for (String name : List.of("unused.md", "result.md")) {
			all.addAll(List.of("--output", this.directory.resolve(name).toString()));
		}
		StringWriter errors = new StringWriter();
		CommandLine command = Workloads.commandLine().setErr(new PrintWriter(errors));
		assertThat(command.execute(all.toArray(String[]::new))).as(errors::toString).isZero();
		Path picture = this.directory.resolve("result.svg");
		assertThat(DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(picture.toFile())
			.getElementsByTagName("rect")
			.getLength()).as("bars").isGreaterThan(2);
		return Files.readAllLines(this.directory.resolve("result.csv"));
	}

	private String table() throws Exception {
		return Files.readString(this.directory.resolve("result.md"));
	}

	private static void assertFigure(List<String> lines, String line, String peer, String figure) {
		assertThat(figure(lines, line, peer, figure)).as("%s of %s in %s", figure, peer, line).isPositive();
	}

	private static double figure(List<String> lines, String line, String peer, String figure) {
		String begin = "\"" + line + "\"," + peer + "," + figure + ",";
		List<String> found = lines.stream().filter((each) -> each.startsWith(begin)).toList();
		assertThat(found).as("lines %s of %s", begin, lines).hasSize(1);
		return Double.parseDouble(found.get(0).substring(begin.length()).split(",", -1)[0]);
	}

}
