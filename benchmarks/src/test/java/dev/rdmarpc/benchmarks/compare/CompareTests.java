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
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Runs the whole command, forks and all, for as short as it goes. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class CompareTests {

	/** What is compared is of no interest here, and compilers take most of the time. */
	private static final String QUICK_COMPILER = "--jvm-argument=-XX:TieredStopAtLevel=1";

	@TempDir
	private Path directory;

	@Test
	void writesOneConsistentLinePerPeerAndWorkload() throws IOException {
		Path output = this.directory.resolve("comparison.csv");
		List<String> peers = Peers.compared()
			.stream()
			.filter((peer) -> Peers.named(peer).supports(Mode.MULTI))
			.toList();
		int exit = Compare.commandLine()
			.execute("--output", output.toString(), "--peers", String.join(",", peers), "--payloads", "64,65536",
					"--modes", "sync,multi", QUICK_COMPILER, "--forks", "1", "--rounds", "1", "--prime-millis", "0",
					"--warm-up-millis", "20", "--measure-millis", "40");
		List<String> lines = Files.readAllLines(output);
		assertThat(exit).as("no peer failed").isZero();
		assertThat(lines.get(0)).isEqualTo("peer,mode,payload_bytes,connections,outstanding,p50_us,p99_us,p999_us,"
				+ "calls_per_s,mb_per_s,alloc_bytes_per_call,copied_bytes_per_call,cpu_us_per_call,cpu_percent");
		assertThat(lines).hasSize(1 + 4 * peers.size());
		Set<String> keys = new HashSet<>();
		for (String line : lines.subList(1, lines.size())) {
			String[] fields = line.split(",", -1);
			assertThat(keys.add(String.join(",", List.of(fields).subList(0, 5)))).as(line).isTrue();
			assertIsConsistent(line, fields);
		}
		assertThat(keys).contains("floor,sync,64,1,1", "grpc-direct,multi,65536,16,16", "grpc-default,multi,64,16,16");
	}

	@Test
	void measuresWhatTlsCosts() throws IOException {
		Path output = this.directory.resolve("comparison.csv");
		List<String> peers = List.of("tls", "rdma-tls", "rdma-tls-registered", "grpc-tls");
		int exit = Compare.commandLine()
			.execute("--output", output.toString(), "--peers", String.join(",", peers), "--payloads", "64,1048576",
					"--modes", "sync", QUICK_COMPILER, "--forks", "1", "--rounds", "1", "--prime-millis", "0",
					"--warm-up-millis", "20", "--measure-millis", "40");
		assertThat(exit).as("no peer failed").isZero();
		List<String> lines = Files.readAllLines(output);
		assertThat(lines).hasSize(1 + 2 * peers.size());
		for (String line : lines.subList(1, lines.size())) {
			assertIsConsistent(line, line.split(",", -1));
		}
	}

	@Test
	void countsMessagesOfStreams() throws IOException {
		Path output = this.directory.resolve("comparison.csv");
		int exit = Compare.commandLine()
			.execute("--output", output.toString(), "--peers", "rdma,rdma-default,grpc-direct", "--payloads", "64",
					"--modes", "stream,beside", QUICK_COMPILER, "--forks", "1", "--rounds", "1", "--prime-millis", "0",
					"--warm-up-millis", "20", "--measure-millis", "40");
		assertThat(exit).as("no peer failed").isZero();
		List<String> lines = Files.readAllLines(output);
		assertThat(lines).hasSize(1 + 5);
		for (String line : lines.subList(1, lines.size())) {
			String[] fields = line.split(",", -1);
			assertThat(fields[5]).as("latency in %s", line).isEmpty();
			assertThat(Double.parseDouble(fields[8])).as("rate in %s", line).isPositive();
		}
	}

	private static void assertIsConsistent(String line, String[] fields) {
		assertThat(fields).as(line).hasSize(14);
		double p50 = Double.parseDouble(fields[5]);
		double p99 = Double.parseDouble(fields[6]);
		double p999 = Double.parseDouble(fields[7]);
		double calls = Double.parseDouble(fields[8]);
		double megabytes = Double.parseDouble(fields[9]);
		assertThat(p50).as(line).isPositive().isLessThanOrEqualTo(p99);
		assertThat(p99).as(line).isLessThanOrEqualTo(p999);
		assertThat(calls).as(line).isPositive();
		double each = Integer.parseInt(fields[2]) / 1e6;
		double expected = calls * each;
		assertThat(megabytes).as(line).isCloseTo(expected, within(0.001 + each / 10 + expected / 100));
		assertThat(Double.parseDouble(fields[10])).as(line).isNotNegative();
		assertCopies(line, fields);
		assertThat(Double.parseDouble(fields[12])).as(line).isNotNegative();
		assertThat(Double.parseDouble(fields[13])).as(line).isNotNegative();
	}

	/**
	 * An array is copied when it is sent and when it is received, nothing else is.
	 * Between processes that share memory, every message goes in and out of it too. On a
	 * quiet channel, arrays of up to four times the eager limit go in and out of frames.
	 * What gRPC copies is not counted.
	 */
	private static void assertCopies(String line, String[] fields) {
		if (!fields[0].startsWith("rdma") || fields[0].startsWith("rdma-grpc")) {
			assertThat(fields[11]).as(line).isEmpty();
		}
		else if (Integer.parseInt(fields[2]) >= 65536) {
			double copies = Double.parseDouble(fields[11]) / Integer.parseInt(fields[2]);
			double least = (fields[0].contains("registered") ? 0 : 2) + (fields[0].contains("shm") ? 2 : 0);
			double frames = (!fields[0].contains("registered") && fields[2].equals("65536")) ? 2 : 0;
			assertThat(copies).as(line).isBetween(least, least + frames + ((least > 0) ? 0.5 : 0.1));
		}
	}

	@Test
	void manyThreadsCallOverOneConnectionOrOnlyWait() throws IOException {
		Path output = this.directory.resolve("comparison.csv");
		int exit = Compare.commandLine()
			.execute("--output", output.toString(), "--peers", "floor,grpc-default,rdma,rdma-registered", "--payloads",
					"64", "--modes", "threads,waiting", QUICK_COMPILER, "--forks", "1", "--rounds", "1",
					"--prime-millis", "0", "--warm-up-millis", "20", "--measure-millis", "40");
		assertThat(exit).as("no peer failed").isZero();
		List<String> lines = Files.readAllLines(output);
		List<String> slices = Files.readAllLines(this.directory.resolve("comparison-slices.csv"));
		for (String peer : List.of("grpc-default", "rdma", "rdma-registered")) {
			assertThat(lines).filteredOn((line) -> line.startsWith(peer + ",threads,64,1,16,"))
				.singleElement()
				.satisfies((line) -> assertIsConsistent(line, line.split(",", -1)));
			assertThat(lines).filteredOn((line) -> line.startsWith(peer + ",waiting,64,1,200,,,,,,"))
				.singleElement()
				.satisfies((line) -> assertThat(Double.parseDouble(line.split(",", -1)[13])).isNotNegative());
			assertThat(slices).filteredOn((line) -> line.startsWith(peer + ",waiting,64,1,200,0,0,,,,,"))
				.singleElement()
				.satisfies((line) -> assertThat(Double.parseDouble(line.split(",", -1)[11])).isNotNegative());
		}
		assertThat(lines).noneMatch((line) -> line.startsWith("floor"));
	}

	@Test
	void comparesWithAnotherBuildInTheSameRun() throws IOException {
		Path target = Files.createDirectories(this.directory.resolve("benchmarks/target"));
		Files.writeString(target.resolve("class-path.txt"), System.getProperty("java.class.path") + "\n");
		Path output = this.directory.resolve("comparison.csv");
		int exit = Compare.commandLine()
			.execute("--output", output.toString(), "--before", this.directory.toString(), "--peers",
					"before:floor,floor", "--payloads", "64", "--modes", "sync", QUICK_COMPILER, "--forks", "1",
					"--rounds", "1", "--prime-millis", "0", "--warm-up-millis", "20", "--measure-millis", "40");
		assertThat(exit).isZero();
		assertThat(Files.readAllLines(output)).hasSize(3)
			.anyMatch((line) -> line.startsWith("before:floor,sync,64,"))
			.anyMatch((line) -> line.startsWith("floor,sync,64,"));
		assertThat(Files.readAllLines(this.directory.resolve("comparison-slices.csv"))).hasSize(3)
			.anyMatch((line) -> line.startsWith("before:floor,sync,64,1,1,0,0,"))
			.anyMatch((line) -> line.startsWith("floor,sync,64,1,1,0,0,"));
	}

	@Test
	void measuresSeveralPairsWhereThereIsAStateBefore() {
		assertThat(plan("--quick", "--peers", "before:rdma,rdma")).extracting(Plan::forks, Plan::rounds)
			.containsExactly(4, 4);
		assertThat(plan("--peers", "before:rdma,rdma", "--forks", "1", "--rounds", "9"))
			.extracting(Plan::forks, Plan::rounds)
			.containsExactly(1, 9);
		assertThat(plan("--quick")).extracting(Plan::forks, Plan::rounds).containsExactly(1, 5);
	}

	private static Plan plan(String... arguments) {
		Compare compare = new Compare();
		new CommandLine(compare).parseArgs(arguments);
		return compare.plan();
	}

	@Test
	void saysThatTheOtherBuildIsNotThere() {
		StringWriter errors = new StringWriter();
		CommandLine command = Compare.commandLine().setErr(new PrintWriter(errors));
		int exit = command.execute("--output", this.directory.resolve("x.csv").toString(), "--before",
				this.directory.toString());
		assertThat(exit).isNotZero();
		assertThat(errors.toString()).contains("--before")
			.contains("class-path.txt")
			.contains(this.directory.toString());
	}

	@Test
	void saysWhichPeersThereAreWhenAskedForAnUnknownOne() {
		StringWriter errors = new StringWriter();
		CommandLine command = Compare.commandLine().setErr(new PrintWriter(errors));
		int exit = command.execute("--output", this.directory.resolve("x.csv").toString(), "--peers", "carrier-pigeon");
		assertThat(exit).isNotZero();
		assertThat(errors.toString()).contains("carrier-pigeon").contains("floor").contains("grpc-direct");
	}

}
