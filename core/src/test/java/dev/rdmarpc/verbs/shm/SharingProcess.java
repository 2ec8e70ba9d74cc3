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

package dev.rdmarpc.verbs.shm;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.QueuePair;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that listens, connects to a port if it is told one, and answers messages
 * until it is killed.
 */
public final class SharingProcess {

	static final String READY = "ready ";

	private SharingProcess() {
	}

	/**
	 * Takes a directory, a port to connect to or 0, a group to let in if there is one,
	 * and a port to listen at if it is not any.
	 */
	public static void main(String[] args) throws Exception {
		Path directory = Path.of(args[0]);
		SharedMemoryOptions options = SharedMemoryOptions.DEFAULTS.withDirectory(directory);
		if (args.length > 3) {
			Rendezvous.open(options.withGroup(args[2])).bind(Integer.parseInt(args[3]), 1);
		}
		Station station = new Station(directory, (args.length > 2) ? options.withGroup(args[2]) : options);
		int port = Integer.parseInt(args[1]);
		System.out.println(READY + station.address().getPort());
		if (port != 0) {
			QueuePair queuePair = station.newQueuePair();
			CompletableFuture<ConnectionInfo> connecting = station.connect(queuePair, Station.loopback(port));
			connecting.join();
			answer(station, queuePair);
		}
		station.accept();
		answer(station, station.accepted.get(0));
	}

	/**
	 * Waits until such a process has said that it listens; returns the rest of the line.
	 */
	static String awaitReady(BufferedReader output) throws IOException {
		StringBuilder said = new StringBuilder();
		String line = output.readLine();
		while (line != null && !line.startsWith(READY)) {
			said.append(line).append('\n');
			line = output.readLine();
		}
		assertThat(line).as("%s", said).isNotNull();
		return line.substring(READY.length());
	}

	private static void answer(Station station, QueuePair queuePair) {
		int answered = 0;
		while (true) {
			station.poll();
			if (station.received > answered) {
				answered++;
				station.send(queuePair);
			}
		}
	}

}
