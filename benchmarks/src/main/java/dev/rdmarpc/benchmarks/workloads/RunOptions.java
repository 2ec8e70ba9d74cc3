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

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options that all workloads have, and where results go. */
final class RunOptions {

	private final PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);

	@Option(names = "--quick", description = "Fewer rounds of less: less than three minutes.")
	boolean quick;

	@Option(names = "--peers", split = ",",
			description = {
					"Of rdma-default, rdma-priorities, rdma-registered, rdma-registered-priorities, grpc-default,",
					"rdma-grpc-default, grpc-direct and rdma-grpc." })
	private @Nullable List<String> peers;

	@Option(names = "--rounds", description = "How often each of them is measured.",
			showDefaultValue = CommandLine.Help.Visibility.NEVER)
	private @Nullable Integer rounds;

	@Option(names = "--output", description = "Where to write the table, and beside it the figures and the picture.",
			defaultValue = "benchmarks/target/workloads.md")
	private Path output = Path.of("workloads.md");

	/** The peers, checked before anything is started. */
	List<String> peers(CommandSpec command, String... defaults) {
		List<String> chosen = (this.peers != null) ? this.peers : List.of(defaults);
		for (String peer : chosen) {
			if (!Framework.names().contains(peer)) {
				throw new CommandLine.ParameterException(command.commandLine(),
						"--peers " + peer + " (expected: of " + Framework.names() + ")");
			}
		}
		return chosen;
	}

	int rounds(int quickly, int thoroughly) {
		Integer given = this.rounds;
		return (given != null) ? given : (this.quick ? quickly : thoroughly);
	}

	Path logs() {
		return this.output.toAbsolutePath().resolveSibling("workloads-logs");
	}

	void progress(String what) {
		this.out.println(what);
	}

	/** Prints the tables, and writes them, all figures and the picture. */
	void write(List<String> tables, Samples samples, String picture) throws IOException {
		List<String> lines = new ArrayList<>(List.of(""));
		lines.addAll(tables);
		lines.forEach(this.out::println);
		Path directory = this.output.toAbsolutePath().getParent();
		if (directory != null) {
			Files.createDirectories(directory);
		}
		Files.write(this.output, tables);
		Files.write(sibling("csv"), samples.toCsv());
		Files.writeString(sibling("svg"), picture);
		this.out.println();
		this.out.println("written: " + this.output + ", " + sibling("csv") + ", " + sibling("svg"));
	}

	private Path sibling(String extension) {
		String name = String.valueOf(this.output.getFileName());
		return this.output.resolveSibling(name.replaceFirst("\\.md$", "") + "." + extension);
	}

}
