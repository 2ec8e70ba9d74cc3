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

package dev.rdmarpc.benchmarks.polling;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import dev.rdmarpc.benchmarks.compare.ForkedProcess;

/** Forks the processes of a measurement, and ends them with it. */
final class Processes implements AutoCloseable {

	/** Stands for the time to measure in a command. */
	static final String MILLIS = "MILLIS";

	private static final long ANSWER_SECONDS = 90;

	private final Path logs;

	private final List<ForkedProcess> running = new ArrayList<>();

	Processes(Path logs) {
		this.logs = logs;
	}

	/** Starts a server, which says its port. */
	Server server(String name, Waiting waiting) throws IOException {
		ForkedProcess process = start(name + "-server", List.of("server", waiting.name()));
		return new Server(process, waiting, process.greeting());
	}

	/** Starts a client with so many connections. */
	ForkedProcess client(String name, Server server, int connections) throws IOException {
		ForkedProcess process = start(name + "-client", List.of("client", server.waiting().name(), server.port()));
		process.greeting();
		process.ask(ANSWER_SECONDS, "connect " + connections);
		return process;
	}

	/** Has a client measure for so long. */
	static Figures measure(ForkedProcess client, String command, long millis) {
		return Figures.parse(client.ask(ANSWER_SECONDS, command.replace(MILLIS, Long.toString(millis))));
	}

	private ForkedProcess start(String name, List<String> arguments) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xms256m", "-Xmx1g",
						"-XX:MaxDirectMemorySize=1536m", "-XX:-UsePerfData", "-cp",
						System.getProperty("java.class.path"), PollingProcess.class.getName()));
		command.addAll(arguments);
		ForkedProcess process = ForkedProcess.start(name, command, this.logs);
		this.running.add(process);
		return process;
	}

	@Override
	public void close() {
		for (int i = this.running.size() - 1; i >= 0; i--) {
			this.running.get(i).close();
		}
	}

	/** A server process, and how its clients wait, too. */
	record Server(ForkedProcess process, Waiting waiting, String port) {

	}

}
