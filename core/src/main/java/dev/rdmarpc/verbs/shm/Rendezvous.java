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
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.shm.ring.RingDescriptor;

/**
 * The directory in which processes meet: a socket {@code <port>.socket} for each
 * listener, and while a connection is set up, a file {@code <port>-<random>} with its
 * memory. {@link Admission} says who may enter it. Where a group meets, that file lies in
 * a directory {@code .<uid>} of the listener's user, which members can traverse and not
 * list: its name is told to the peer alone.
 *
 * <p>
 * Thread-safe. Who creates or removes sockets holds the lock on the file {@code .lock},
 * so that nobody takes a socket for left behind that is just being bound. What a killed
 * process has left is removed by whoever next listens or connects at its port, and by the
 * peers that it was connected to.
 */
final class Rendezvous {

	private static final Logger logger = LoggerFactory.getLogger(Rendezvous.class);

	private static final Path MEMORY = Path.of("/dev/shm");

	private static final Path NETWORK = Path.of("/proc/self/ns/net");

	/** What a socket address holds less the longest file name. */
	private static final int MAX_PATH_BYTES = 107 - "/65535.socket".length();

	private static final int FIRST_FREE_PORT = 32768;

	private static final int FREE_PORTS = 28232;

	private static final int RANDOM_BYTES = 16;

	/** The name of a file has as many characters at most. */
	static final int MAX_NAME_BYTES = "65535-".length() + 2 * RANDOM_BYTES;

	private static final int CHUNK_BYTES = 64 * 1024;

	private static final long LOCK_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

	private static final long LOCK_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	/** Within a process, file locks exclude nobody. */
	private static final ReentrantLock processLock = new ReentrantLock();

	private final Path directory;

	/** Where the files of connections to this user's listeners lie. */
	private final Path connections;

	private final Admission admission;

	private final SecureRandom random = new SecureRandom();

	private Rendezvous(Path directory, Path connections, Admission admission) {
		this.directory = directory;
		this.connections = connections;
		this.admission = admission;
	}

	/** Whether processes can meet in the directory of the settings. */
	static ProviderAvailability availability(SharedMemoryOptions options) {
		try {
			SocketChannel.open(StandardProtocolFamily.UNIX).close();
			Admission admission = Admission.of(options.group());
			Path directory = resolve(options.directory(), admission);
			if (Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
				admission.check(directory);
			}
			return ProviderAvailability.available("shared memory in " + directory);
		}
		catch (UnsupportedOperationException ex) {
			return ProviderAvailability.unavailable("the system has no Unix domain sockets");
		}
		catch (IOException | VerbsException ex) {
			return ProviderAvailability.unavailable(String.valueOf(ex.getMessage()));
		}
	}

	/** Opens the directory of the settings, which is created if it does not exist. */
	static Rendezvous open(SharedMemoryOptions options) {
		Admission admission = Admission.of(options.group());
		Path directory = resolve(options.directory(), admission);
		try {
			if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
				admission.createDirectory(directory);
			}
			admission.check(directory);
			return new Rendezvous(directory, admission.ownConnections(directory), admission);
		}
		catch (IOException | UnsupportedOperationException ex) {
			throw new VerbsException(VerbsError.UNAVAILABLE,
					"directory " + directory + " of shared memory cannot be used: " + ex, ex);
		}
	}

	private static Path resolve(@Nullable Path configured, Admission admission) {
		try {
			if (configured == null && !isMemory()) {
				throw new VerbsException(VerbsError.UNAVAILABLE,
						MEMORY + " is no memory here (expected: a tmpfs, or a configured directory)");
			}
			Path directory = (configured != null) ? configured.toAbsolutePath()
					: MEMORY.resolve("rdma-rpc-" + admission.directoryName() + ownNetwork());
			if (directory.toString().getBytes(StandardCharsets.UTF_8).length > MAX_PATH_BYTES) {
				throw new VerbsException(VerbsError.UNAVAILABLE, "path of directory " + directory
						+ " is too long for sockets (expected: at most " + MAX_PATH_BYTES + " bytes)");
			}
			return directory;
		}
		catch (IOException | UnsupportedOperationException | IllegalArgumentException ex) {
			throw new VerbsException(VerbsError.UNAVAILABLE, "directory of shared memory cannot be found: " + ex, ex);
		}
	}

	private static boolean isMemory() throws IOException {
		return Files.isDirectory(MEMORY) && Files.isWritable(MEMORY)
				&& "tmpfs".equals(Files.getFileStore(MEMORY).type());
	}

	/**
	 * Tells processes apart that share {@code /dev/shm} and not their network: at one
	 * address and port, each of them knows another server. Who is to be met from another
	 * network namespace is met in a directory that was configured.
	 */
	private static String ownNetwork() {
		try {
			return "-" + Files.readSymbolicLink(NETWORK).toString().replaceAll("\\D", "");
		}
		catch (IOException ex) {
			logger.debug("The system has no network namespaces", ex);
			return "";
		}
	}

	private Path socket(int port) {
		return this.directory.resolve(port + ".socket");
	}

	/** Whether somebody listens at a port, or did when killed. */
	boolean hasListener(int port) {
		return Files.exists(socket(port), LinkOption.NOFOLLOW_LINKS);
	}

	/**
	 * Binds a listening socket.
	 * @param port 0 for a free one, see {@link #port}
	 */
	ServerSocketChannel bind(int port, int backlog) {
		return locked(() -> (port != 0) ? bindTo(port, backlog) : bindToFree(backlog));
	}

	private ServerSocketChannel bindToFree(int backlog) throws IOException {
		for (int i = 0; i < FREE_PORTS; i++) {
			int port = FIRST_FREE_PORT + this.random.nextInt(FREE_PORTS);
			if (!Files.exists(socket(port), LinkOption.NOFOLLOW_LINKS)) {
				return bindTo(port, backlog);
			}
		}
		throw new VerbsException(VerbsError.ADDRESS_IN_USE, "no port is free in " + this.directory);
	}

	private ServerSocketChannel bindTo(int port, int backlog) throws IOException {
		if (!tryRemoveLeftovers(port)) {
			throw new VerbsException(VerbsError.ADDRESS_IN_USE,
					"port " + port + " of " + this.directory + " is in use");
		}
		ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
		boolean bound = false;
		try {
			channel.configureBlocking(false);
			channel.bind(UnixDomainSocketAddress.of(socket(port)), backlog);
			this.admission.admit(socket(port));
			bound = true;
			return channel;
		}
		finally {
			if (!bound) {
				channel.close();
			}
		}
	}

	/** The port that a channel is bound to. */
	static int port(ServerSocketChannel channel) throws IOException {
		String name = ((UnixDomainSocketAddress) channel.getLocalAddress()).getPath().getFileName().toString();
		return Integer.parseInt(name.substring(0, name.indexOf('.')));
	}

	/** Ends listening at a port. */
	void unbind(int port, ServerSocketChannel channel) {
		locked(() -> {
			if (channel.isOpen()) {
				Files.deleteIfExists(socket(port));
				channel.close();
			}
			return true;
		});
	}

	/**
	 * Begins to connect to a port, without blocking.
	 * @return the connected channel, or {@code null} if the listener has no place for it
	 * now
	 * @throws VerbsException with {@link VerbsError#CONNECTION_REFUSED} if nobody listens
	 */
	@Nullable SocketChannel connect(int port) {
		SocketChannel channel = null;
		boolean connected = false;
		try {
			channel = SocketChannel.open(StandardProtocolFamily.UNIX);
			channel.configureBlocking(false);
			connected = channel.connect(UnixDomainSocketAddress.of(socket(port)));
			return connected ? channel : null;
		}
		catch (IOException ex) {
			if (ex instanceof ConnectException) {
				sweep(port);
			}
			throw new VerbsException(VerbsError.CONNECTION_REFUSED,
					"nobody listens at port " + port + " of " + this.directory + ": " + ex.getMessage(), ex);
		}
		finally {
			if (!connected) {
				SetupHandler.closeQuietly(channel);
			}
		}
	}

	/** Removes what a killed process has left at a port, if so. */
	void sweep(int port) {
		try {
			locked(() -> tryRemoveLeftovers(port));
		}
		catch (VerbsException ex) {
			logger.debug("Cannot remove what was left at port {} of {}", port, this.directory, ex);
		}
	}

	private boolean tryRemoveLeftovers(int port) throws IOException {
		Path socket = socket(port);
		if (Files.exists(socket, LinkOption.NOFOLLOW_LINKS)) {
			try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
				probe.configureBlocking(false);
				probe.connect(UnixDomainSocketAddress.of(socket));
				return false;
			}
			catch (ConnectException ex) {
				removeLeftover(socket);
			}
		}
		if (Files.isDirectory(this.connections, LinkOption.NOFOLLOW_LINKS)) {
			try (DirectoryStream<Path> files = Files.newDirectoryStream(this.connections, port + "-*")) {
				for (Path file : files) {
					removeLeftover(file);
				}
			}
		}
		return true;
	}

	private static void removeLeftover(Path file) throws IOException {
		try {
			Files.deleteIfExists(file);
		}
		catch (FileSystemException ex) {
			throw new VerbsException(VerbsError.ADDRESS_IN_USE, "what a process of another user has left at " + file
					+ " cannot be removed (expected: that user listens there again, or removes it)", ex);
		}
	}

	/** The capacity of the rings of a new connection, of which one is wanted. */
	int ringBytes(int wantedBytes) {
		return RingDescriptor.capacity(wantedBytes, freeBytes());
	}

	/** A new file for the memory of a connection to a port. */
	Path newFile(int port) {
		byte[] bytes = new byte[RANDOM_BYTES];
		this.random.nextBytes(bytes);
		return this.connections.resolve(port + "-" + HexFormat.of().formatHex(bytes));
	}

	/** How much memory is free for files. */
	long freeBytes() {
		return this.directory.toFile().getUsableSpace();
	}

	/** Where processes meet. */
	Path directory() {
		return this.directory;
	}

	/**
	 * Creates the file of a connection with all its memory: where there is too little,
	 * this fails, and not somebody who uses the memory later.
	 */
	FileChannel create(Path file, long bytes) throws IOException {
		this.admission.prepareConnections(this.connections);
		FileChannel channel = createForUser(file, bytes);
		boolean admitted = false;
		try {
			this.admission.admit(file);
			admitted = true;
			return channel;
		}
		finally {
			if (!admitted) {
				channel.close();
				Files.deleteIfExists(file);
			}
		}
	}

	/** Creates a file with all its memory that only this user can open. */
	FileChannel createForUser(Path file, long bytes) throws IOException {
		FileChannel channel = FileChannel.open(file,
				EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
				Admission.creating());
		boolean sized = false;
		try {
			ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(bytes, CHUNK_BYTES));
			for (long done = 0; done < bytes;) {
				done += channel.write(zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - done)), done);
			}
			sized = true;
			return channel;
		}
		finally {
			if (!sized) {
				channel.close();
				Files.deleteIfExists(file);
			}
		}
	}

	/**
	 * Opens the file that a listener names.
	 * @throws IOException if it is no regular file of that listener and of that size
	 */
	FileChannel openFile(int port, String name, long bytes) throws IOException {
		if (!name.matches(port + "-[0-9a-f]{" + 2 * RANDOM_BYTES + "}")) {
			throw new IOException("listener names a file that is none of its own");
		}
		Object user = Files.getAttribute(socket(port), "unix:uid", LinkOption.NOFOLLOW_LINKS);
		Path file = this.admission.connections(this.directory, user).resolve(name);
		if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
			throw new IOException("file " + file + " does not exist");
		}
		FileChannel channel = FileChannel.open(file,
				Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
		if (channel.size() != bytes) {
			channel.close();
			throw new IOException("file " + file + " does not have " + bytes + " bytes");
		}
		return channel;
	}

	/** Removes the file of a connection to this user, if it is still there. */
	void removeConnection(String name) {
		remove(this.connections.resolve(name));
	}

	/** Removes a file from where processes meet, if it is still there. */
	void removeFile(String name) {
		remove(this.directory.resolve(name));
	}

	private static void remove(Path file) {
		try {
			Files.deleteIfExists(file);
		}
		catch (IOException ex) {
			logger.debug("Cannot remove {}", file, ex);
		}
	}

	/** Does something while no other process does so. */
	<T> T locked(Action<T> action) {
		processLock.lock();
		try (FileChannel file = openLock()) {
			lock(file);
			return action.run();
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR,
					"directory " + this.directory + " of shared memory failed: " + ex, ex);
		}
		finally {
			processLock.unlock();
		}
	}

	/**
	 * Opens the file of the lock. It is not opened and created in one step, which Linux
	 * refuses for files of other users in sticky directories (fs.protected_regular).
	 */
	private FileChannel openLock() throws IOException {
		Path file = this.directory.resolve(".lock");
		long start = System.nanoTime();
		while (true) {
			try {
				return FileChannel.open(file, Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
			}
			catch (NoSuchFileException ex) {
				createLock(file);
			}
			catch (AccessDeniedException ex) {
				// Another member of the group has just created it.
				if (System.nanoTime() - start > LOCK_PATIENCE_NANOS) {
					throw ex;
				}
				LockSupport.parkNanos(LOCK_PAUSE_NANOS);
			}
		}
	}

	private void createLock(Path file) throws IOException {
		try {
			Files.createFile(file, Admission.creating());
			this.admission.admit(file);
		}
		catch (FileAlreadyExistsException ex) {
			logger.debug("{} was created by another process", file, ex);
		}
	}

	/** Takes the lock, which ends with the channel. */
	private static void lock(FileChannel file) throws IOException {
		long start = System.nanoTime();
		FileLock lock = file.tryLock();
		while (lock == null) {
			if (System.nanoTime() - start > LOCK_PATIENCE_NANOS) {
				throw new IOException("another process does not give its lock back");
			}
			LockSupport.parkNanos(LOCK_PAUSE_NANOS);
			lock = file.tryLock();
		}
	}

	@Override
	public String toString() {
		return this.directory.toString();
	}

	/** What is done under the lock of the directory. */
	@FunctionalInterface
	interface Action<T> {

		T run() throws IOException;

	}

}
