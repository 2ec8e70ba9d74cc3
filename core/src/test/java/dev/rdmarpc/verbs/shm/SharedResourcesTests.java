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
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Processes that are killed in each phase of set-up, processes in other namespaces, and
 * many connections: files and descriptors come back.
 */
@Timeout(120)
class SharedResourcesTests {

	private static final int CONNECTIONS = 1000;

	private static final int GREETED = 100;

	private static final String[] NAMESPACES = { "unshare", "--net", "--pid", "--fork", "--kill-child=KILL" };

	private Path directory;

	private Process process;

	@BeforeEach
	void createDirectory() throws Exception {
		this.directory = Station.newDirectory();
	}

	@AfterEach
	void nothingIsLeft() throws Exception {
		if (this.process != null) {
			this.process.destroyForcibly().waitFor();
		}
		assertThat(Station.files(this.directory)).isEmpty();
		Files.deleteIfExists(this.directory.resolve(".lock"));
		Files.delete(this.directory);
	}

	private BufferedReader fork(Class<?> type, String[] before, String... arguments) throws IOException {
		List<String> command = new ArrayList<>(List.of(before));
		command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
				"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), type.getName(),
				this.directory.toString()));
		command.addAll(List.of(arguments));
		this.process = new ProcessBuilder(command).redirectErrorStream(true).start();
		return this.process.inputReader(StandardCharsets.UTF_8);
	}

	/**
	 * What is open by descriptor, but for the libraries that the virtual machine opens
	 * when it first needs them.
	 */
	private Map<String, String> descriptors() {
		Map<String, String> targets = new TreeMap<>();
		try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
			for (Path descriptor : (Iterable<Path>) open::iterator) {
				String target = target(descriptor);
				if (!target.startsWith("/") || target.startsWith(this.directory.toString())) {
					targets.put(descriptor.getFileName().toString(), target);
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return targets;
	}

	/** What is closed meanwhile is the list itself, and counts as nothing. */
	private static String target(Path descriptor) throws IOException {
		try {
			return Files.readSymbolicLink(descriptor).toString();
		}
		catch (NoSuchFileException ex) {
			return "/";
		}
	}

	/** Whoever polls learns of connections that are lost. */
	private static void awaitLost(Station station, CompletableFuture<ConnectionInfo> setup) {
		Station.pollUntil("the loss", setup::isDone, station);
		assertThatThrownBy(setup::get).isInstanceOf(ExecutionException.class)
			.cause()
			.isInstanceOfSatisfying(VerbsException.class,
					(ex) -> assertThat(ex.error()).isIn(VerbsError.CONNECTION_LOST, VerbsError.CONNECTION_REFUSED));
	}

	/** The request has been dropped, or will be as soon as the end is noticed. */
	private static void acceptInVain(Station station) throws InterruptedException {
		try {
			awaitLost(station, station.accept());
		}
		catch (VerbsException ex) {
			assertThat(ex).hasMessageContaining("dropped");
		}
	}

	@Test
	void whoIsKilledWhileItConnectsLeavesNothing() throws Exception {
		try (Station station = new Station(this.directory); Station other = new Station(this.directory)) {
			BufferedReader output = fork(HalfwayProcess.class, new String[0], HalfwayProcess.CONNECTING,
					String.valueOf(station.address().getPort()));
			List<CompletableFuture<ConnectionInfo>> setups = new ArrayList<>();
			for (int i = 0; i < HalfwayProcess.ANSWERS; i++) {
				setups.add(accept(station, output));
			}
			SharingProcess.awaitReady(output);
			setups.get(0).get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS);
			this.process.destroyForcibly().waitFor();
			QueuePair established = station.accepted.get(0);
			Station.awaitError(established, station);
			assertThat(established.fault().status()).isEqualTo(WorkStatus.CONNECTION_LOST);
			awaitLost(station, setups.get(1));
			awaitLost(station, setups.get(2));
			acceptInVain(station);
			QueuePair there = other.connect(station);
			Station.greet(other, there, station, station.accepted.get(HalfwayProcess.REQUESTS));
			assertThat(Station.files(this.directory)).as("the sockets of two listeners").hasSize(2);
		}
	}

	private CompletableFuture<ConnectionInfo> accept(Station station, BufferedReader output) throws Exception {
		try {
			return station.accept();
		}
		catch (AssertionError ex) {
			this.process.toHandle().destroyForcibly(); // leaves its output open
			throw new AssertionError(output.lines().collect(Collectors.joining("\n", "the process said: ", "")), ex);
		}
	}

	@Test
	void whoIsKilledWhileItAcceptsLeavesNothing() throws Exception {
		try (Station station = new Station(this.directory)) {
			BufferedReader output = fork(HalfwayProcess.class, new String[0], HalfwayProcess.LISTENING);
			String[] ports = SharingProcess.awaitReady(output).split(",", -1);
			List<CompletableFuture<ConnectionInfo>> setups = new ArrayList<>();
			List<QueuePair> queuePairs = new ArrayList<>();
			for (String port : ports) {
				queuePairs.add(station.newQueuePair());
				setups.add(station.connect(queuePairs.get(queuePairs.size() - 1),
						Station.loopback(Integer.parseInt(port))));
			}
			SharingProcess.awaitReady(output);
			int last = HalfwayProcess.PORTS - 1;
			setups.get(last).get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS);
			this.process.destroyForcibly().waitFor();
			for (CompletableFuture<ConnectionInfo> setup : setups.subList(0, last)) {
				awaitLost(station, setup);
			}
			Station.awaitError(queuePairs.get(last), station);
			for (String port : ports) {
				awaitLost(station, station.connect(station.newQueuePair(), Station.loopback(Integer.parseInt(port))));
			}
			assertThat(Station.files(this.directory)).containsExactly(station.socket().getFileName().toString());
		}
	}

	@Test
	void aProcessInOtherNamespacesIsReachedThroughTheDirectory() throws Exception {
		Assumptions.assumeTrue(mayUnshare(), "this process may not create namespaces");
		try (Station station = new Station(this.directory)) {
			BufferedReader output = fork(SharingProcess.class, NAMESPACES, "0");
			QueuePair queuePair = station.newQueuePair();
			InetSocketAddress there = Station.loopback(Integer.parseInt(SharingProcess.awaitReady(output)));
			station.connect(queuePair, there).get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS);
			for (int i = 0; i < GREETED; i++) {
				int before = station.received;
				station.send(queuePair);
				Station.pollUntil("an answer", () -> station.received > before, station);
			}
			this.process.destroyForcibly().waitFor();
			Station.awaitError(queuePair, station);
			assertThat(queuePair.fault().status()).isEqualTo(WorkStatus.CONNECTION_LOST);
			awaitLost(station, station.connect(station.newQueuePair(), there));
		}
	}

	private static boolean mayUnshare() throws InterruptedException {
		try {
			List<String> command = new ArrayList<>(List.of(NAMESPACES));
			command.add("true");
			return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
		}
		catch (IOException ex) {
			return false;
		}
	}

	/** By default, who knows other addresses is not met. */
	@Test
	void theDefaultDirectoryIsThatOfTheNetworkNamespace() throws Exception {
		String network = Files.readSymbolicLink(Path.of("/proc/self/ns/net")).toString();
		String reason = Rendezvous.availability(SharedMemoryOptions.DEFAULTS).reason();
		Assumptions.assumeTrue(Rendezvous.availability(SharedMemoryOptions.DEFAULTS).available(), reason);
		assertThat(reason).matches("shared memory in /dev/shm/rdma-rpc-\\d+-\\d+")
			.endsWith("-" + network.substring(network.indexOf('[') + 1, network.indexOf(']')));
		Files.createFile(this.directory.resolve(".lock"));
	}

	@Test
	void aThousandConnectionsLeaveNoFileAndNoDescriptor() throws Exception {
		try (Station warm = new Station(this.directory); Station up = new Station(this.directory)) {
			warm.connect(up);
		}
		Map<String, String> before = descriptors();
		try (Station station = new Station(this.directory); Station other = new Station(this.directory)) {
			for (int i = 0; i < CONNECTIONS; i++) {
				QueuePair there = other.connect(station);
				if (i % GREETED == 0) {
					Station.greet(other, there, station, station.accepted.get(i));
				}
			}
			assertThat(station.accepted).hasSize(CONNECTIONS)
				.allMatch((queuePair) -> queuePair.state() == QueuePairState.READY_TO_SEND);
			assertThat(Station.files(this.directory)).as("the sockets of two listeners").hasSize(2);
			assertThat(descriptors().size() - before.size()).as("descriptors of both sides")
				.isBetween(4 * CONNECTIONS - GREETED, 4 * CONNECTIONS + GREETED);
		}
		// A connection thread gives its selector back when it ends, soon after the device
		// is closed.
		Station.pollUntil("no more descriptors than " + before, () -> descriptors().size() <= before.size());
	}

}
