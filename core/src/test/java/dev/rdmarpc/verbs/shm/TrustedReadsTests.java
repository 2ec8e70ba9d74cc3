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
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.MemorySource.ProvidedMemory;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.RemoteRegion;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.shm.ring.ExtentOrigin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

/** Reads between peers of which one or both trust processes of the same user. */
class TrustedReadsTests {

	private static final SharedMemoryTrust SAME_USER = SharedMemoryTrust.SAME_USER;

	private Path directory;

	@BeforeEach
	void createDirectory() throws Exception {
		this.directory = Station.newDirectory();
	}

	@AfterEach
	void nothingIsLeft() throws Exception {
		assertThat(Station.files(this.directory)).isEmpty();
		Files.deleteIfExists(this.directory.resolve(".lock"));
		Files.delete(this.directory);
	}

	private LendingPeer peer(SharedMemoryTrust trust) {
		return new LendingPeer(LendingPeer.options(this.directory, trust));
	}

	private static RemoteRegion all(MemoryRegion window) {
		return window.remoteRegion(0, window.lengthBytes());
	}

	/** The files of extents, without those of tables. */
	private List<Path> extents() throws IOException {
		try (var files = Files.list(this.directory)) {
			return files.filter((file) -> isExtent(file)).toList();
		}
	}

	private static boolean isExtent(Path file) {
		try {
			return Files.isRegularFile(file) && Files.size(file) == LendingPeer.BYTES + ExtentOrigin.SEAL_BYTES;
		}
		catch (IOException ex) {
			return false;
		}
	}

	@ParameterizedTest
	@CsvSource({ "SAME_USER, SAME_USER, 1", "NONE, SAME_USER, 2", "SAME_USER, NONE, 2", "NONE, NONE, 2" })
	void bytesAreCopiedOnceIfBothTrustEachOther(SharedMemoryTrust lenders, SharedMemoryTrust readers, int copies)
			throws Exception {
		try (LendingPeer lender = peer(lenders); LendingPeer reader = peer(readers)) {
			reader.connect(lender);
			for (int round = 0; round < 10; round++) {
				lender.fill(round);
				try (MemoryRegion window = lender.lend(0, LendingPeer.BYTES)) {
					assertThat(reader.read(all(window), lender)).isEqualTo(WorkStatus.SUCCESS);
				}
				reader.assertHolds(round);
			}
			long copied = lender.device.copiedBytes() + reader.device.copiedBytes();
			assertThat(copied).isBetween(10L * copies * LendingPeer.BYTES, 10L * copies * LendingPeer.BYTES + 100_000);
		}
	}

	@Test
	void whoListensReadsAsWell() throws Exception {
		try (LendingPeer lender = peer(SAME_USER); LendingPeer reader = peer(SAME_USER)) {
			lender.connect(reader);
			lender.fill(1);
			assertThat(reader.read(all(lender.lend(0, LendingPeer.BYTES)))).isEqualTo(WorkStatus.SUCCESS);
			reader.assertHolds(1);
			assertThat(lender.device.copiedBytes()).isZero();
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 1 })
	void nothingOutsideTheWindowIsRead(int beyond) throws Exception {
		try (LendingPeer lender = peer(SAME_USER); LendingPeer reader = peer(SAME_USER)) {
			reader.connect(lender);
			MemoryRegion window = lender.lend(4096, 4096);
			RemoteRegion outside = new RemoteRegion(window.remoteAddress() + beyond, window.remoteKey(), 4096);
			assertThat(reader.read(outside, lender)).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
			Station.pollUntil("the error", () -> isInError(lender));
			assertThat(lender.queuePair.fault().status()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
		}
	}

	private static boolean isInError(LendingPeer peer) {
		peer.poll();
		return peer.queuePair.state() == QueuePairState.ERROR;
	}

	@Test
	void whatIsLentToOnePeerIsNotReadByAnother() throws Exception {
		try (LendingPeer lender = peer(SAME_USER);
				LendingPeer reader = peer(SAME_USER);
				LendingPeer stranger = peer(SAME_USER);
				LendingPeer other = peer(SAME_USER)) {
			reader.connect(lender);
			stranger.connect(other);
			RemoteRegion window = all(lender.lend(0, LendingPeer.BYTES));
			assertThat(stranger.read(window, other)).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
			assertThat(reader.read(window)).isEqualTo(WorkStatus.SUCCESS);
		}
	}

	/**
	 * Windows are closed, and their memory is filled with something else, while they are
	 * read: a Read either fails, and its connection with it, or brings what was there.
	 */
	@Test
	void aReadOfAWindowThatIsClosedBringsNoBytesOfTheNextOne() throws Exception {
		int failures = 0;
		for (int round = 0; round < TestEnvironment.rounds(60, 20); round++) {
			try (LendingPeer lender = peer(SAME_USER); LendingPeer reader = peer(SAME_USER)) {
				reader.connect(lender);
				failures += readUntilClosed(lender, reader);
			}
		}
		assertThat(failures).as("Reads that met a closed window").isPositive();
	}

	private static int readUntilClosed(LendingPeer lender, LendingPeer reader) throws Exception {
		lender.fill(0);
		MemoryRegion window = lender.lend(0, LendingPeer.BYTES);
		RemoteRegion remote = all(window);
		AtomicBoolean reading = new AtomicBoolean();
		AtomicBoolean over = new AtomicBoolean();
		Thread owner = new Thread(() -> {
			while (!reading.get()) {
				Thread.onSpinWait();
			}
			window.close();
			lender.fill(1);
			while (!over.get()) {
				lender.poll();
			}
		});
		owner.start();
		try {
			WorkStatus status = WorkStatus.SUCCESS;
			for (int i = 0; i < 1000 && status == WorkStatus.SUCCESS; i++) {
				reader.sink.memory().putLong(0, 0);
				if (i == 3) {
					reading.set(true);
				}
				status = reader.read(remote);
				if (status == WorkStatus.SUCCESS) {
					reader.assertHolds(0);
				}
			}
			return (status == WorkStatus.REMOTE_ACCESS_ERROR) ? 1 : 0;
		}
		finally {
			reading.set(true);
			over.set(true);
			owner.join(Station.DEADLINE.toMillis());
		}
	}

	@Test
	void anOwnerThatIsKilledIsNoticedAndLeavesNothing() throws Exception {
		try (LendingPeer reader = peer(SAME_USER)) {
			List<String> own = Station.files(this.directory);
			Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
					"-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
					LendingProcess.class.getName(), this.directory.toString(), SAME_USER.name())
				.redirectErrorStream(true)
				.start();
			int port;
			try {
				BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
				port = Integer.parseInt(SharingProcess.awaitReady(output));
				reader.connect(Station.loopback(port)).get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS);
				String[] window = SharingProcess.awaitReady(output).split(" ", -1);
				RemoteRegion remote = new RemoteRegion(Long.parseLong(window[0]), Integer.parseInt(window[1]),
						LendingPeer.BYTES);
				WorkStatus status = WorkStatus.SUCCESS;
				for (int i = 0; status == WorkStatus.SUCCESS; i++) {
					reader.sink.memory().putLong(0, 0);
					reader.post(remote);
					if (i == 1000) {
						process.destroyForcibly();
					}
					status = null;
					while (status == null && reader.queuePair.state() != QueuePairState.ERROR) {
						status = reader.poll();
					}
					if (status == WorkStatus.SUCCESS) {
						reader.assertHolds(0);
					}
				}
				assertThat(reader.queuePair.fault().status()).isEqualTo(WorkStatus.CONNECTION_LOST);
			}
			finally {
				process.destroyForcibly().waitFor();
			}
			try (LendingPeer next = peer(SAME_USER)) {
				assertThat(next.connect(Station.loopback(port))).failsWithin(Station.DEADLINE);
			}
			List<String> left = Station.files(this.directory);
			assertThat(left).as("what the reader has itself").hasSameElementsAs(own);
		}
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_25, disabledReason = Station.LATE)
	void memoryThatIsCutEndsTheConnectionAndNothingElse() throws Exception {
		try (LendingPeer lender = peer(SAME_USER); LendingPeer reader = peer(SAME_USER)) {
			reader.connect(lender);
			List<Path> readers = extents();
			RemoteRegion window = all(lender.lend(0, LendingPeer.BYTES));
			assertThat(reader.read(window)).isEqualTo(WorkStatus.SUCCESS);
			for (Path extent : readers) {
				try (FileChannel file = FileChannel.open(extent, StandardOpenOption.WRITE)) {
					file.truncate(0);
				}
			}
			boolean posted = false;
			long deadline = System.nanoTime() + Station.DEADLINE.toNanos();
			while (reader.queuePair.state() != QueuePairState.ERROR) {
				try {
					if (!posted) {
						posted = true;
						reader.post(window);
					}
					assertThat(reader.poll()).isNotEqualTo(WorkStatus.SUCCESS);
					assertThat(System.nanoTime() - deadline).as("waiting for the error").isNegative();
				}
				catch (InternalError ex) {
					assertThat(ex).hasMessageContaining("fault");
				}
			}
			assertThat(reader.queuePair.fault().status()).isEqualTo(WorkStatus.CONNECTION_LOST);
		}
	}

	@Test
	void memoryOfThoseWhoAreGoneIsLetGo() throws Exception {
		try (LendingPeer reader = peer(SAME_USER)) {
			for (int i = 0; i < 3; i++) {
				try (LendingPeer lender = peer(SAME_USER); LendingPeer next = peer(SAME_USER)) {
					next.connect(lender);
					assertThat(next.read(all(lender.lend(0, LendingPeer.BYTES)))).isEqualTo(WorkStatus.SUCCESS);
					TrustedMemory trusted = ((SharedMemoryDevice) next.device).trusted();
					assertThat(trusted.peers()).isOne();
					next.queuePair.close();
					assertThat(trusted.peers()).isZero();
				}
			}
			assertThat(extents()).as("the reader's own").hasSize(1);
			assertThat(reader.device.copiedBytes()).isZero();
		}
	}

	@Test
	void aFileLosesItsNameWhenItsMemoryIsUnreachable() throws Exception {
		try (ExtentSource source = new ExtentSource(Rendezvous.open(LendingPeer.options(this.directory, SAME_USER)))) {
			ProvidedMemory memory = source.tryAllocate(LendingPeer.BYTES);
			assertThat(memory.memory().capacity()).isEqualTo(LendingPeer.BYTES);
			assertThat(extents()).hasSize(1);
			assertThat(Files.getPosixFilePermissions(extents().get(0)))
				.isEqualTo(PosixFilePermissions.fromString("rw-------"));
			memory = null;
			long deadline = System.nanoTime() + Station.DEADLINE.toNanos();
			while (!extents().isEmpty()) {
				System.gc();
				assertThat(System.nanoTime() - deadline).as("waiting for the file to go").isNegative();
			}
		}
	}

	@Test
	void noFileOfAnotherUserIsMapped() throws Exception {
		Rendezvous rendezvous = Rendezvous.open(LendingPeer.options(this.directory, SAME_USER));
		Path file = this.directory.resolve("m-0123456789-0123456789abcdef");
		Files.write(file, new byte[4096]);
		try {
			assertThat(OwnFiles.map(rendezvous, file.getFileName().toString(), 4096).capacity()).isEqualTo(4096);
			assertThatIOException().isThrownBy(() -> OwnFiles.map(rendezvous, "../" + file.getFileName(), 4096));
			assertThatIOException().isThrownBy(() -> OwnFiles.map(rendezvous, file.getFileName().toString(), 4095));
			Assumptions.assumeTrue(tryGiveAway(file), "only a privileged user gives files away");
			assertThatIOException().isThrownBy(() -> OwnFiles.map(rendezvous, file.getFileName().toString(), 4096))
				.withMessageContaining("no file of this user");
		}
		finally {
			Files.delete(file);
		}
	}

	private static boolean tryGiveAway(Path file) {
		try {
			Files.setAttribute(file, "unix:uid", 12345);
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

	@Test
	void aSourceThatIsClosedProvidesNothing() {
		ExtentSource source = new ExtentSource(Rendezvous.open(LendingPeer.options(this.directory, SAME_USER)));
		source.close();
		source.close();
		assertThat(source.tryAllocate(LendingPeer.BYTES)).isNull();
	}

}
