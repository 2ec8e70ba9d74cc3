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

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command that runs workloads of applications over several frameworks. */
@Command(name = "workloads", mixinStandardHelpOptions = true,
		subcommands = { Ycsb.class, Tensors.class, Mixed.class, Priorities.class },
		description = "Runs workloads of applications between processes on the loopback interface.")
public final class Workloads {

	private Workloads() {
	}

	/** Runs the command and exits. */
	public static void main(String[] arguments) {
		System.exit(commandLine().execute(arguments));
	}

	static CommandLine commandLine() {
		return new CommandLine(new Workloads()).setOverwrittenOptionsAllowed(true)
			.setCaseInsensitiveEnumValuesAllowed(true);
	}

}
