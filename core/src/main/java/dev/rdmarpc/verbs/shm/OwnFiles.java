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
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.VerbsException;

/**
 * Files with the memory of one owner in the directory in which processes meet: named
 * {@code m-<owner>-<number>} by numbers drawn at random, readable and writable for the
 * user alone. Thread-safe.
 *
 * <p>
 * Implementation notes. The files keep their names as long as they are of use, since
 * peers come at any time. A socket {@code m-<owner>} that listens says that the owner
 * lives, as those of ports do, to processes in any container that see the directory; no
 * one is accepted there. What is left of who was killed is removed by the next process
 * that opens a device or a source in the directory, and by peers when they lose a
 * connection. The system closes the descriptors of a killed process from the lowest up,
 * and this socket is opened before any connection.
 */
final class OwnFiles implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(OwnFiles.class);

	/** A socket's path has no room for more. */
	private static final int OWNER_BITS = 40;

	private static final String PREFIX = "m-";

	private static final int OWNER_LENGTH = PREFIX.length() + OWNER_BITS / 4;

	private static final String NAME = PREFIX + "[0-9a-f]{10}-[0-9a-f]{16}";

	private static final SecureRandom random = new SecureRandom();

	private final Rendezvous rendezvous;

	private final long owner;

	private final ServerSocketChannel alive;

	private boolean closed;

	private OwnFiles(Rendezvous rendezvous, long owner, ServerSocketChannel alive) {
		this.rendezvous = rendezvous;
		this.owner = owner;
		this.alive = alive;
	}

	/**
	 * Begins to own files, and removes those of the dead.
	 * @throws VerbsException if the directory cannot be written to
	 */
	static OwnFiles open(Rendezvous rendezvous) {
		return rendezvous.locked(() -> {
			sweepLocked(rendezvous);
			long owner = random.nextLong() & (1L << OWNER_BITS) - 1;
			return new OwnFiles(rendezvous, owner, bind(rendezvous.directory().resolve(ownerName(owner))));
		});
	}

	private static ServerSocketChannel bind(Path socket) throws IOException {
		ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
		boolean bound = false;
		try {
			channel.bind(UnixDomainSocketAddress.of(socket), 1);
			Admission.admitUser(socket);
			bound = true;
			return channel;
		}
		finally {
			if (!bound) {
				channel.close();
			}
		}
	}

	private static String ownerName(long owner) {
		return PREFIX + HexFormat.of().toHexDigits(owner, OWNER_BITS / 4);
	}

	private static String name(long owner, long number) {
		return ownerName(owner) + "-" + HexFormat.of().toHexDigits(number);
	}

	/** The owner's number. */
	long owner() {
		return this.owner;
	}

	/** The name of one of the files. */
	String name(long number) {
		return name(this.owner, number);
	}

	/** A number for a file. */
	static long newNumber() {
		return random.nextLong();
	}

	/**
	 * Creates a file and maps it. All of its memory is there then, so that whoever uses
	 * it later finds it.
	 * @param seal what the file has behind the memory
	 * @throws IOException also if there is not so much memory
	 */
	synchronized MappedByteBuffer create(long number, int bytes, ByteBuffer seal) throws IOException {
		if (this.closed) {
			throw new IOException("owner is closed");
		}
		boolean interrupted = Thread.interrupted();
		Path file = this.rendezvous.directory().resolve(name(number));
		boolean complete = false;
		try (FileChannel channel = this.rendezvous.createForUser(file, bytes)) {
			MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
			if (channel.write(seal, bytes) != seal.limit()) {
				throw new IOException("no room for the end of " + file);
			}
			complete = true;
			return mapped;
		}
		finally {
			if (!complete) {
				Files.deleteIfExists(file);
			}
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/** Removes the name of a file; who has mapped it keeps it. */
	synchronized void remove(long number) {
		if (!this.closed) {
			this.rendezvous.removeFile(name(number));
		}
	}

	/** Where a file of some owner lies. */
	static Path path(Rendezvous rendezvous, long owner, long number) {
		return rendezvous.directory().resolve(name(owner & (1L << OWNER_BITS) - 1, number));
	}

	/**
	 * Maps a file of another process of this user, for reading.
	 * @param name a name that the peer has said
	 * @param bytes how many there must be, 0 for any number
	 * @throws IOException if it cannot be mapped, is of another user, or has another size
	 */
	static MappedByteBuffer map(Rendezvous rendezvous, String name, int bytes) throws IOException {
		if (!name.matches(NAME)) {
			throw new IOException("peer names a file that is none of an owner's");
		}
		Path file = rendezvous.directory().resolve(name);
		if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
				|| !Admission.isOwn(Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS))) {
			throw new IOException("file " + file + " is no file of this user");
		}
		boolean interrupted = Thread.interrupted();
		try (FileChannel channel = FileChannel.open(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
			long size = channel.size();
			if (size <= 0 || size > Integer.MAX_VALUE || (bytes != 0 && size != bytes)) {
				throw new IOException("file " + file + " has " + size + " bytes");
			}
			return channel.map(FileChannel.MapMode.READ_ONLY, 0, size);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/** Removes what those have left in a directory who were killed. */
	static void sweep(Rendezvous rendezvous) {
		try {
			rendezvous.locked(() -> {
				sweepLocked(rendezvous);
				return true;
			});
		}
		catch (VerbsException | DirectoryIteratorException ex) {
			logger.debug("Cannot remove what was left in {}", rendezvous, ex);
		}
	}

	private static void sweepLocked(Rendezvous rendezvous) throws IOException {
		Set<String> living = new HashSet<>();
		Set<String> dead = new HashSet<>();
		try (DirectoryStream<Path> files = Files.newDirectoryStream(rendezvous.directory(), PREFIX + "*")) {
			for (Path file : files) {
				String name = file.getFileName().toString();
				String owner = name.substring(0, Math.min(OWNER_LENGTH, name.length()));
				if (!living.contains(owner) && !dead.contains(owner)) {
					(isAlive(file.resolveSibling(owner)) ? living : dead).add(owner);
				}
				if (dead.contains(owner)) {
					rendezvous.removeFile(name);
				}
			}
		}
	}

	/**
	 * Whether an owner lives, or is none of this user's, whose files are not its concern.
	 */
	private static boolean isAlive(Path socket) throws IOException {
		if (!Files.exists(socket, LinkOption.NOFOLLOW_LINKS)) {
			return false;
		}
		try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
			probe.configureBlocking(false);
			probe.connect(UnixDomainSocketAddress.of(socket));
			return true;
		}
		catch (ConnectException ex) {
			return false;
		}
		catch (IOException ex) {
			return true;
		}
	}

	/** Removes the files; who has mapped them keeps them. Idempotent. */
	@Override
	public synchronized void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		// closed in any case: else this owner would be thought alive, and its files kept
		try (this.alive) {
			Path directory = this.rendezvous.directory();
			String own = ownerName(this.owner);
			try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, own + "-*")) {
				for (Path file : files) {
					Files.deleteIfExists(file);
				}
			}
			Files.deleteIfExists(directory.resolve(own));
		}
		catch (IOException | DirectoryIteratorException ex) {
			logger.debug("Cannot remove all files of {}", this.rendezvous, ex);
		}
	}

}
