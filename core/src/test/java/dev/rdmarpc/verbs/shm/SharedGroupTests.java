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
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
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
import dev.rdmarpc.verbs.RemoteRegion;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A directory for the members of a group: who gets in, who does not, and what members can
 * do to each other. Where this process may become another user, that user is one.
 */
@Timeout(120)
class SharedGroupTests {

	private static final String NOBODY = "65534";

	private static final String GROUP_OF_OTHERS = "64999";

	private static final int STICKY = 01000;

	private Path parent;

	private Path directory;

	private String group;

	private final List<Process> processes = new ArrayList<>();

	@BeforeEach
	void createParent() throws IOException {
		this.parent = Files.createTempDirectory("rdma");
		Files.setPosixFilePermissions(this.parent, PosixFilePermissions.fromString("rwxr-xr-x"));
		this.directory = this.parent.resolve("meeting");
		this.group = String.valueOf(Files.getAttribute(Path.of("/proc/self"), "unix:gid"));
	}

	@AfterEach
	void nothingIsLeft() throws Exception {
		for (Process process : this.processes) {
			process.destroyForcibly().waitFor();
		}
		if (Files.exists(this.directory)) {
			assertThat(Station.files(this.directory)).isEmpty();
			Files.deleteIfExists(this.directory.resolve(".lock"));
			for (String user : List.of(NOBODY, String.valueOf(Files.getAttribute(Path.of("/proc/self"), "unix:uid")))) {
				Files.deleteIfExists(connectionsOf(user));
			}
			Files.delete(this.directory);
		}
		Path classes = this.parent.resolve("classes");
		if (Files.exists(classes)) {
			try (Stream<Path> files = Files.walk(classes)) {
				files.map(Path::toFile).sorted((one, other) -> other.compareTo(one)).forEach(File::delete);
			}
		}
		Files.delete(this.parent);
	}

	/** Where the files of connections to a user lie while they are set up. */
	private Path connectionsOf(String user) {
		return this.directory.resolve("." + user);
	}

	private SharedMemoryOptions options() {
		return SharedMemoryOptions.DEFAULTS.withDirectory(this.directory);
	}

	private Station newStation() {
		return new Station(this.directory, options().withGroup(this.group));
	}

	private String reason(SharedMemoryOptions options) {
		assertThat(Rendezvous.availability(options).available()).isFalse();
		String reason = Rendezvous.availability(options).reason();
		assertThatExceptionOfType(VerbsException.class).isThrownBy(() -> Rendezvous.open(options)).withMessage(reason);
		return reason;
	}

	@Test
	void membersMeetInADirectoryThatIsTheirs() throws Exception {
		try (Station station = newStation(); Station other = newStation()) {
			assertThat(Files.getAttribute(this.directory, "unix:mode")).isInstanceOfSatisfying(Integer.class,
					(mode) -> assertThat(mode & 07777).isEqualTo(STICKY | 0770));
			assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(station.socket())))
				.isEqualTo("rw-rw----");
			QueuePair there = other.connect(station);
			Station.greet(other, there, station, station.accepted.get(0));
			assertThat(Station.files(this.directory)).as("the sockets of two listeners").hasSize(2);
			try (Stream<Path> files = Files.list(this.parent)) {
				assertThat(files).containsExactly(this.directory);
			}
		}
	}

	@Test
	void membersDoNotFindTheMemoryOfConnectionsOfOthers() throws Exception {
		try (Station station = newStation();
				SocketChannel peer = SocketChannel.open(UnixDomainSocketAddress.of(station.socket()))) {
			new SetupFrame(SetupFrame.Kind.REQUEST, 1, 1, 1, new byte[0], "").write(peer);
			CompletableFuture<ConnectionInfo> accepting = station.accept();
			ByteBuffer answer = ByteBuffer.allocate(SetupFrame.BYTES);
			while (answer.hasRemaining()) {
				assertThat(peer.read(answer)).isPositive();
			}
			String name = SetupFrame.read(answer).name();
			Path connections = connectionsOf(String.valueOf(Files.getAttribute(Path.of("/proc/self"), "unix:uid")));
			assertThat(accepting).as("before the peer has confirmed").isNotDone();
			assertThat(connections.resolve(name)).exists();
			assertThat(this.directory.resolve(name)).doesNotExist();
			assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(connections)))
				.isEqualTo("rwx--x---");
			if (mayBecomeNobody()) {
				List<String> listing = asNobody(this.group);
				listing.addAll(List.of("ls", connections.toString()));
				assertThat(new ProcessBuilder(listing).redirectErrorStream(true)
					.redirectOutput(ProcessBuilder.Redirect.DISCARD)
					.start()
					.waitFor()).isNotZero();
			}
			Files.setPosixFilePermissions(connections.resolve(name), PosixFilePermissions.fromString("rw-------"));
			Files.move(connections.resolve(name), connections.resolve("1-" + name));
			Rendezvous.open(options().withGroup(this.group)).sweep(1);
			assertThat(Station.files(connections)).as("what a killed process has left at a port").isEmpty();
		}
	}

	@Test
	void aGroupsDirectoryIsNoUsersAndAUsersIsNoGroups() throws IOException {
		Files.createDirectory(this.directory,
				PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
		assertThat(reason(options().withGroup(this.group)))
			.endsWith("its permissions are rwx------ (expected: rwxrwx---)");
		Files.setPosixFilePermissions(this.directory, PosixFilePermissions.fromString("rwxrwx---"));
		assertThat(reason(options())).endsWith("its permissions are rwxrwx--- (expected: rwx------)");
		assertThat(reason(options().withGroup(GROUP_OF_OTHERS))).contains("its group is ")
			.endsWith("(expected: " + GROUP_OF_OTHERS + ")");
		Files.setPosixFilePermissions(this.directory, PosixFilePermissions.fromString("rwxrwxr-x"));
		assertThat(reason(options().withGroup(this.group)))
			.endsWith("its permissions are rwxrwxr-x (expected: rwxrwx---)");
	}

	@Test
	void aGroupThatDoesNotExistIsNamed() {
		assertThat(reason(options().withGroup("no-such-group"))).isEqualTo("group no-such-group that shared memory"
				+ " is to let in does not exist (expected: the name or number of a group)");
	}

	@Test
	void theDefaultDirectoryIsTheGroups() {
		SharedMemoryOptions options = SharedMemoryOptions.DEFAULTS.withGroup(this.group);
		String reason = Rendezvous.availability(options).reason();
		Assumptions.assumeTrue(Rendezvous.availability(options).available(), reason);
		assertThat(reason).matches("shared memory in /dev/shm/rdma-rpc-group-[^-]+-\\d+");
	}

	@Test
	void aMemberWhoIsAnotherUserIsReachedAndReachesUs() throws Exception {
		Assumptions.assumeTrue(mayBecomeNobody(), "this process may not become another user");
		try (Station station = newStation()) {
			BufferedReader listening = forkAsNobody(this.group, "0");
			QueuePair there = station.newQueuePair();
			station.connect(there, Station.loopback(Integer.parseInt(SharingProcess.awaitReady(listening))))
				.get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS);
			awaitAnswer(station, there);
			SharingProcess.awaitReady(forkAsNobody(this.group, String.valueOf(station.address().getPort())));
			QueuePair back = station.acceptEstablished();
			awaitAnswer(station, back);
			assertThat(Station.files(this.directory)).as("the sockets of three listeners").hasSize(3);
			for (Process process : this.processes) {
				process.destroyForcibly().waitFor();
			}
			Station.awaitError(there, station);
			Station.awaitError(back, station);
			assertThat(there.fault().status()).isEqualTo(WorkStatus.CONNECTION_LOST);
			for (String left : Station.files(this.directory)) {
				Rendezvous.open(options().withGroup(this.group))
					.sweep(Integer.parseInt(left.substring(0, left.indexOf('.'))));
			}
			assertThat(Station.files(this.directory)).as("what the killed ones left")
				.containsExactly(station.socket().getFileName().toString());
		}
	}

	private static void awaitAnswer(Station station, QueuePair queuePair) {
		int before = station.received;
		station.send(queuePair);
		Station.pollUntil("an answer", () -> station.received > before, station);
	}

	@Test
	void whoIsNoMemberIsToldSo() throws Exception {
		Assumptions.assumeTrue(mayBecomeNobody(), "this process may not become another user");
		try (Station station = newStation()) {
			assertThat(rest(forkAsNobody(GROUP_OF_OTHERS, String.valueOf(station.address().getPort()))))
				.contains("of shared memory cannot be used: ")
				.contains("this user is no member of group ");
			assertThat(station.accepted).isEmpty();
		}
	}

	@Test
	void whatAKilledMemberHasLeftIsNotTakenOverByAnotherUser() throws Exception {
		Assumptions.assumeTrue(mayBecomeNobody(), "this process may not become another user");
		newStation().close();
		Path left = this.directory.resolve("7471.socket");
		try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
			channel.bind(UnixDomainSocketAddress.of(left));
			Files.setPosixFilePermissions(left, PosixFilePermissions.fromString("rw-rw----"));
		}
		try {
			assertThat(rest(forkAsNobody(this.group, "0", "7471")))
				.contains("what a process of another user has left at " + left + " cannot be removed");
			assertThat(left).exists();
		}
		finally {
			Files.delete(left);
		}
	}

	/**
	 * Both trust their own user's processes, and each is another user's: what is read
	 * goes through the rings, and the files of memory stay closed.
	 */
	@Test
	void trustEndsAtTheUserAlsoInAGroup() throws Exception {
		Assumptions.assumeTrue(mayBecomeNobody(), "this process may not become another user");
		SharedMemoryOptions trusting = LendingPeer.options(this.directory, SharedMemoryTrust.SAME_USER)
			.withGroup(this.group);
		try (LendingPeer reader = new LendingPeer(trusting)) {
			Set<Path> own = memoryFiles();
			BufferedReader lender = forkAsNobody(LendingProcess.class, this.group, SharedMemoryTrust.SAME_USER.name());
			int port = Integer.parseInt(SharingProcess.awaitReady(lender));
			reader.connect(Station.loopback(port)).get(Station.DEADLINE.toSeconds(), TimeUnit.SECONDS);
			String[] window = SharingProcess.awaitReady(lender).split(" ", -1);
			assertThat(reader
				.read(new RemoteRegion(Long.parseLong(window[0]), Integer.parseInt(window[1]), LendingPeer.BYTES)))
				.isEqualTo(WorkStatus.SUCCESS);
			reader.assertHolds(0);
			assertThat(((SharedMemoryDevice) reader.device).trusted().peers()).as("whose memory is mapped").isZero();
			Set<Path> all = memoryFiles();
			assertThat(all).as("files of both").hasSizeGreaterThan(own.size());
			for (Path file : all) {
				assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
				assertThat(Files.getAttribute(file, "unix:uid")).isEqualTo(own.contains(file)
						? Files.getAttribute(Path.of("/proc/self"), "unix:uid") : Integer.valueOf(NOBODY));
			}
			this.processes.get(0).destroyForcibly().waitFor();
			Set<Path> left = memoryFiles();
			left.removeAll(own);
			SharingProcess
				.awaitReady(forkAsNobody(LendingProcess.class, this.group, SharedMemoryTrust.SAME_USER.name()));
			assertThat(memoryFiles()).as("what the killed one left").doesNotContainAnyElementsOf(left);
		}
		this.processes.get(1).destroyForcibly().waitFor();
		for (String left : Station.files(this.directory)) {
			Files.delete(this.directory.resolve(left));
		}
	}

	private Set<Path> memoryFiles() throws IOException {
		try (Stream<Path> files = Files.list(this.directory)) {
			return files.filter((file) -> file.getFileName().toString().startsWith("m-")).collect(Collectors.toSet());
		}
	}

	private static boolean mayBecomeNobody() throws Exception {
		try {
			List<String> command = asNobody(NOBODY);
			command.addAll(List.of(java(), "-version"));
			return new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start()
				.waitFor() == 0;
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static List<String> asNobody(String group) {
		return new ArrayList<>(List.of("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--groups", group,
				"--inh-caps=-all", "--bounding-set=-all"));
	}

	private static String java() {
		return Path.of(System.getProperty("java.home"), "bin", "java").toString();
	}

	/** The process may not be able to read what this one can. */
	private String readableClassPath() throws IOException {
		Path classes = this.parent.resolve("classes");
		if (!Files.exists(classes)) {
			Files.createDirectory(classes);
			for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
				Path from = Path.of(entry);
				if (Files.isDirectory(from) || entry.matches(".*(slf4j|logback|assertj|byte-buddy)[^/]*")) {
					copy(from, classes.resolve(String.valueOf(Math.abs((long) entry.hashCode()))));
				}
			}
		}
		try (Stream<Path> entries = Files.list(classes)) {
			return entries.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
		}
	}

	private static void copy(Path from, Path to) throws IOException {
		try (Stream<Path> files = Files.walk(from)) {
			files.forEach((file) -> {
				try {
					Path copied = from.equals(file) ? to : to.resolve(from.relativize(file).toString());
					Files.copy(file, copied, StandardCopyOption.REPLACE_EXISTING);
					Files.setPosixFilePermissions(copied, PosixFilePermissions.fromString("rwxr-xr-x"));
				}
				catch (IOException ex) {
					throw new UncheckedIOException(ex);
				}
			});
		}
	}

	/** Forks a process of another user in a group, which lets in ours. */
	private BufferedReader forkAsNobody(String itsGroup, String... arguments) throws IOException {
		return forkAsNobody(SharingProcess.class, itsGroup, arguments);
	}

	private BufferedReader forkAsNobody(Class<?> main, String itsGroup, String... arguments) throws IOException {
		List<String> command = asNobody(itsGroup);
		command.addAll(List.of(java(), "-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp", readableClassPath(), main.getName(),
				this.directory.toString(), arguments[0], this.group));
		command.addAll(List.of(arguments).subList(1, arguments.length));
		Process process = new ProcessBuilder(command).directory(new File("/")).redirectErrorStream(true).start();
		this.processes.add(process);
		return process.inputReader(StandardCharsets.UTF_8);
	}

	private static String rest(BufferedReader output) {
		return output.lines().collect(Collectors.joining("\n"));
	}

}
