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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.rdmarpc.benchmarks.compare.ForkedProcess;

/**
 * The servers and clients of one framework, each a process. They are stopped while others
 * are measured, and go on when they are asked something.
 */
final class Fleet implements AutoCloseable {

	private static final long ANSWER_SECONDS = 300;

	private final List<ForkedProcess> servers = new ArrayList<>();

	private final List<ForkedProcess> clients = new ArrayList<>();

	private Fleet() {
	}

	/**
	 * Starts the processes.
	 * @param peer of {@link Framework#names()}
	 * @param servers how many
	 * @param clients how many, each with a connection to each server
	 * @param logs the directory for their logs
	 */
	static Fleet start(String peer, int servers, int clients, Path logs) throws IOException {
		Fleet fleet = new Fleet();
		try {
			for (int i = 0; i < servers; i++) {
				fleet.servers.add(process(peer + "-server-" + i, List.of("server", peer, "" + clients), logs));
			}
			List<String> arguments = new ArrayList<>(List.of("client", peer));
			fleet.servers.forEach((server) -> arguments.add(server.greeting()));
			for (int i = 0; i < clients; i++) {
				fleet.clients.add(process(peer + "-client-" + i, arguments, logs));
			}
			fleet.clients.forEach(ForkedProcess::greeting);
			return fleet;
		}
		catch (IOException | RuntimeException ex) {
			fleet.close();
			throw ex;
		}
	}

	private static ForkedProcess process(String name, List<String> arguments, Path logs) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xms256m", "-Xmx1g",
						"-XX:MaxDirectMemorySize=1536m", "-XX:-UsePerfData", "-cp",
						System.getProperty("java.class.path"), WorkloadProcess.class.getName()));
		command.addAll(arguments);
		return ForkedProcess.start(name, command, logs);
	}

	/** Asks the first client. */
	String ask(String command) {
		return this.clients.get(0).ask(ANSWER_SECONDS, command);
	}

	/**
	 * Asks all clients at the same time.
	 * @param command in which {@code INDEX} stands for the number of the client
	 */
	List<String> askAll(String command) {
		List<CompletableFuture<String>> answers = new ArrayList<>();
		for (int i = 0; i < this.clients.size(); i++) {
			ForkedProcess client = this.clients.get(i);
			String own = command.replace("INDEX", "" + i);
			answers.add(CompletableFuture.supplyAsync(() -> client.ask(ANSWER_SECONDS, own), (task) -> {
				Thread thread = new Thread(task, "asks-client");
				thread.setDaemon(true);
				thread.start();
			}));
		}
		return answers.stream().map(CompletableFuture::join).toList();
	}

	void stop(boolean stopped) {
		this.servers.forEach((process) -> process.stop(stopped));
		this.clients.forEach((process) -> process.stop(stopped));
	}

	/** Ends the clients and then the servers; they must not be stopped. */
	@Override
	public void close() {
		Collections.reverse(this.clients);
		this.clients.forEach(ForkedProcess::close);
		this.servers.forEach(ForkedProcess::close);
	}

}
