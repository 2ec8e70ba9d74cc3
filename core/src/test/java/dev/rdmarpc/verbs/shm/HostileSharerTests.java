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

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.shm.ring.RingDescriptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A peer that speaks to the socket and the memory as it likes ends its own connection and
 * no other.
 */
class HostileSharerTests {

	private static final int ATTEMPTS = 20;

	private static final Duration PATIENCE = TestEnvironment.scaled(Duration.ofSeconds(2));

	private static final long TOTAL_BYTES = RingDescriptor.totalBytes(Station.RING_BYTES);

	private Path directory;

	private Station server;

	private Station neighbour;

	/** Whether a file was cut, after which a neighbour may notice. */
	private boolean cut;

	private QueuePair there;

	private QueuePair back;

	@BeforeEach
	void start() throws Exception {
		this.directory = Files.createTempDirectory("rdma",
				PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
		this.server = new Station(this.directory);
		this.neighbour = new Station(this.directory);
		this.there = this.neighbour.connect(this.server);
		this.back = this.server.accepted.get(0);
	}

	@AfterEach
	void theNeighbourHasNotNoticed() throws Exception {
		try (Station first = this.server; Station second = this.neighbour) {
			if (this.cut) {
				connectAfterFault();
			}
			else {
				Station.greet(second, this.there, first, this.back);
			}
		}
		assertThat(Station.files(this.directory)).isEmpty();
		Files.delete(this.directory.resolve(".lock"));
		Files.delete(this.directory);
	}

	/** A connection of which the test has the socket, the file and the memory. */
	private Raw connect() throws Exception {
		SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
		socket.connect(UnixDomainSocketAddress.of(this.server.socket()));
		new SetupFrame(SetupFrame.Kind.REQUEST, 4, 4, 4711, new byte[0], "").write(socket);
		var accepting = this.server.accept();
		ByteBuffer answer = ByteBuffer.allocate(SetupFrame.BYTES);
		while (answer.hasRemaining()) {
			assertThat(socket.read(answer)).isPositive();
		}
		SetupFrame acceptance = SetupFrame.read(answer);
		assertThat(acceptance.kind()).isEqualTo(SetupFrame.Kind.ACCEPTANCE);
		FileChannel file = FileChannel.open(this.directory.resolve(acceptance.name()), StandardOpenOption.READ,
				StandardOpenOption.WRITE);
		MappedByteBuffer memory = file.map(FileChannel.MapMode.READ_WRITE, 0, TOTAL_BYTES);
		memory.order(ByteOrder.nativeOrder());
		socket.write(ByteBuffer.allocate(1));
		accepting.get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS);
		return new Raw(socket, file, memory, this.server.accepted.get(this.server.accepted.size() - 1));
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_25, disabledReason = Station.LATE)
	void aFileThatIsCutEndsItsConnectionAndNotTheProcess() throws Exception {
		for (int i = 0; i < TestEnvironment.rounds(20, 5); i++) {
			try (Raw raw = connect()) {
				assertThat(raw.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
				this.cut = true;
				raw.file.truncate(0);
				boolean sends = i % 2 == 0;
				Station.awaitFault(raw.queuePair, this.server, () -> {
					if (sends) {
						this.server.send(raw.queuePair);
					}
				});
				assertThat(raw.queuePair.fault().status()).isEqualTo(WorkStatus.CONNECTION_LOST);
				assertThat(raw.queuePair.fault().detail()).contains("shared memory of the connection",
						"is gone: its file was cut");
				connectAfterFault();
				close(raw);
			}
		}
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_25, disabledReason = Station.LATE)
	void aThreadThatSleepsBearsAFileThatIsCut() throws Exception {
		try (Raw raw = connect()) {
			this.cut = true;
			raw.file.truncate(0);
			this.server.completionQueue.requestNotification(false);
			Station.awaitFault(raw.queuePair, this.server,
					() -> this.server.completionQueue.await(TimeUnit.MILLISECONDS.toNanos(1)));
			assertThat(raw.queuePair.fault().status()).isEqualTo(WorkStatus.CONNECTION_LOST);
			connectAfterFault();
			close(raw);
		}
	}

	@Test
	void nonsenseInTheMemoryEndsItsConnectionOnly() throws Exception {
		long seed = Long.getLong("rdmarpc.test.seed", 20261124L);
		Random random = new Random(seed);
		for (int i = 0; i < TestEnvironment.rounds(100, 20); i++) {
			try (Raw raw = connect()) {
				int words = 1 + random.nextInt(4);
				for (int k = 0; k < words; k++) {
					raw.memory.putLong(8 * random.nextInt(256), random.nextLong());
				}
				raw.memory.putLong(1024, 1 + 2L * random.nextInt());
				Station.awaitError(raw.queuePair, this.server);
				assertThat(raw.queuePair.fault()).as("seed %s", seed).isNotNull();
				Station.greet(this.neighbour, this.there, this.server, this.back);
				raw.queuePair.close();
			}
		}
	}

	@Test
	void wakesWithoutEndDoNotKeepOthersWaiting() throws Exception {
		try (Raw raw = connect()) {
			raw.socket.configureBlocking(false);
			for (int i = 0; i < 1000; i++) {
				raw.socket.write(ByteBuffer.allocate(4096));
				this.server.completionQueue.requestNotification(false);
				this.server.completionQueue.await(1);
			}
			Station.greet(this.neighbour, this.there, this.server, this.back);
			assertThat(raw.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
		}
		Station.awaitError(this.server.accepted.get(1), this.server);
		assertThat(this.server.accepted.get(1).fault().status()).isEqualTo(WorkStatus.CONNECTION_LOST);
	}

	@Test
	void whatIsNoRequestIsNotAnswered() throws Exception {
		for (byte[] frame : new byte[][] { new byte[SetupFrame.BYTES], new byte[] { 1, 2, 3 } }) {
			try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
				socket.connect(UnixDomainSocketAddress.of(this.server.socket()));
				socket.write(ByteBuffer.wrap(frame));
				socket.shutdownOutput();
				assertThat(socket.read(ByteBuffer.allocate(1))).isNegative();
			}
		}
	}

	@Test
	void onlyFilesOfTheListenerAreOpened() throws Exception {
		Rendezvous rendezvous = Rendezvous.open(SharedMemoryOptions.DEFAULTS.withDirectory(this.directory));
		int port = this.server.address().getPort();
		Path target = Files.createFile(this.directory.resolve("other"));
		Path link = this.directory.resolve(port + "-" + "0".repeat(32));
		Files.createSymbolicLink(link, target);
		for (String name : new String[] { "other", "../other", port + "-../other", link.getFileName().toString(),
				"" }) {
			assertThatThrownBy(() -> rendezvous.openFile(port, name, 0)).as(name).hasMessageContaining("file");
		}
		Files.delete(link);
		Files.delete(target);
	}

	/**
	 * The virtual machine may report a fault late, to whatever the thread does then: also
	 * to a connection that is being made, which is then lost. The process goes on, and
	 * connections are made as before.
	 */
	private void connectAfterFault() throws Exception {
		Exception lost = null;
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			try {
				this.there = this.neighbour.connect(this.server, PATIENCE);
				this.back = this.server.accepted.get(this.server.accepted.size() - 1);
				Station.greet(this.neighbour, this.there, this.server, this.back);
				return;
			}
			catch (InternalError ex) {
				assertThat(ex).hasMessageContaining("fault");
			}
			catch (TimeoutException | ExecutionException | VerbsException | IllegalStateException ex) {
				lost = ex;
			}
		}
		throw new AssertionError("no connection after a fault", lost);
	}

	/** Also here a fault may be reported late. */
	private static void close(Raw raw) {
		try {
			raw.queuePair.close();
		}
		catch (InternalError ex) {
			assertThat(ex).hasMessageContaining("fault");
			raw.queuePair.close();
		}
	}

	/** What a hostile peer has. */
	private record Raw(SocketChannel socket, FileChannel file, MappedByteBuffer memory,
			QueuePair queuePair) implements AutoCloseable {

		@Override
		public void close() throws IOException {
			this.socket.close();
			this.file.close();
		}

	}

}
