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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Two processes, of which one is killed or stopped. */
class KilledPeerTests {

	private Path directory;

	private Station station;

	private Process process;

	@BeforeEach
	void start() throws Exception {
		this.directory = Station.newDirectory();
		this.station = new Station(this.directory);
	}

	@AfterEach
	void nothingIsLeft() throws Exception {
		this.process.destroyForcibly().waitFor();
		this.station.close();
		assertThat(Station.files(this.directory)).isEmpty();
		Files.delete(this.directory.resolve(".lock"));
		Files.delete(this.directory);
	}

	/** Starts the other process and returns the port at which it listens. */
	private int fork(int port) throws Exception {
		this.process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
				SharingProcess.class.getName(), this.directory.toString(), String.valueOf(port))
			.redirectErrorStream(true)
			.start();
		BufferedReader output = this.process.inputReader(StandardCharsets.UTF_8);
		String line = output.readLine();
		while (line != null && !line.startsWith(SharingProcess.READY)) {
			line = output.readLine();
		}
		assertThat(line).isNotNull();
		return Integer.parseInt(line.substring(SharingProcess.READY.length()));
	}

	private static InetSocketAddress loopback(int port) {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
	}

	private void exchange(QueuePair queuePair, int messages) {
		for (int i = 0; i < messages; i++) {
			int before = this.station.received;
			this.station.send(queuePair);
			Station.pollUntil("an answer", () -> this.station.received > before, this.station);
		}
	}

	private void signal(String name) throws Exception {
		Process kill = new ProcessBuilder("sh", "-c", "kill -" + name + " " + this.process.pid()).start();
		assertThat(kill.waitFor()).isZero();
	}

	private void assertLost(QueuePair queuePair) {
		Station.awaitError(queuePair, this.station);
		assertThat(queuePair.fault().status()).isEqualTo(WorkStatus.CONNECTION_LOST);
	}

	@Test
	void aListenerThatIsKilledIsNoticedAndLeavesNothing() throws Exception {
		int port = fork(0);
		QueuePair queuePair = this.station.newQueuePair();
		this.station.connect(queuePair, loopback(port)).get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS);
		exchange(queuePair, 1000);
		assertThat(Station.files(this.directory)).as("the sockets of two listeners").hasSize(2);
		signal("KILL");
		assertLost(queuePair);
		assertThatThrownBy(() -> this.station.connect(this.station.newQueuePair(), loopback(port))
			.get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class)
			.cause()
			.isInstanceOfSatisfying(VerbsException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(VerbsError.CONNECTION_REFUSED));
		assertThat(Station.files(this.directory)).containsExactly(this.station.socket().getFileName().toString());
	}

	@Test
	void aClientThatIsKilledIsNoticedByAThreadThatSleeps() throws Exception {
		int port = fork(this.station.address().getPort());
		QueuePair queuePair = this.station.acceptEstablished();
		exchange(queuePair, 100);
		signal("KILL");
		this.station.completionQueue.requestNotification(false);
		assertThat(this.station.completionQueue.await(Station.DEADLINE.toNanos())).isTrue();
		assertLost(queuePair);
		this.process.waitFor();
		Rendezvous.open(SharedMemoryOptions.DEFAULTS.withDirectory(this.directory)).sweep(port);
	}

	@Test
	void aPeerThatIsStoppedGoesOnAfterwards() throws Exception {
		int port = fork(this.station.address().getPort());
		QueuePair queuePair = this.station.acceptEstablished();
		exchange(queuePair, 100);
		signal("STOP");
		int before = this.station.received;
		this.station.send(queuePair);
		this.station.completionQueue.requestNotification(false);
		this.station.completionQueue.await(TimeUnit.MILLISECONDS.toNanos(200));
		assertThat(queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
		assertThat(this.station.received).isEqualTo(before);
		signal("CONT");
		Station.pollUntil("the answer", () -> this.station.received > before, this.station);
		exchange(queuePair, 100);
		signal("KILL");
		assertLost(queuePair);
		this.process.waitFor();
		Rendezvous.open(SharedMemoryOptions.DEFAULTS.withDirectory(this.directory)).sweep(port);
	}

	@Test
	void aListenerThatIsStoppedDoesNotHoldUpThoseWhoConnect() throws Exception {
		int port = fork(0);
		signal("STOP");
		assertThatThrownBy(() -> this.station.device
			.connect(this.station.newQueuePair(), loopback(port),
					ConnectOptions.DEFAULTS.withTimeout(Duration.ofMillis(300)))
			.get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class)
			.cause()
			.isInstanceOfSatisfying(VerbsException.class,
					(ex) -> assertThat(ex.error()).isEqualTo(VerbsError.TIMED_OUT));
		signal("KILL");
		this.process.waitFor();
		this.process.waitFor();
		Rendezvous.open(SharedMemoryOptions.DEFAULTS.withDirectory(this.directory)).sweep(port);
	}

}
