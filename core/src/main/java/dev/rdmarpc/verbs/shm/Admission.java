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
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * Who may meet in a directory: one user, or the members of a group.
 *
 * <p>
 * A user's directory belongs to that user and has mode 0700. A group's directory belongs
 * to any of its members and has mode 0770; one that is created here is sticky besides, so
 * that no member can replace the sockets of another one. Only a member can give a
 * directory to a group, so whoever made it is let in anyway.
 *
 * <p>
 * Immutable, thread-safe.
 */
final class Admission {

	private static final Logger logger = LoggerFactory.getLogger(Admission.class);

	private static final Set<PosixFilePermission> USER_DIRECTORY = PosixFilePermissions.fromString("rwx------");

	private static final Set<PosixFilePermission> USER_FILE = PosixFilePermissions.fromString("rw-------");

	private static final Set<PosixFilePermission> GROUP_DIRECTORY = PosixFilePermissions.fromString("rwxrwx---");

	private static final Set<PosixFilePermission> GROUP_FILE = PosixFilePermissions.fromString("rw-rw----");

	private static final Set<PosixFilePermission> TRAVERSED_DIRECTORY = PosixFilePermissions.fromString("rwx--x---");

	private static final int STICKY_GROUP_DIRECTORY = 01770;

	private static final int TRAVERSED_GROUP_DIRECTORY = 0710;

	private final @Nullable GroupPrincipal group;

	private Admission(@Nullable GroupPrincipal group) {
		this.group = group;
	}

	/**
	 * Finds a group.
	 * @param group name or number, {@code null} for the user alone
	 * @throws VerbsException with {@link VerbsError#UNAVAILABLE} if there is no such
	 * group
	 */
	static Admission of(@Nullable String group) {
		if (group == null) {
			return new Admission(null);
		}
		try {
			return new Admission(
					FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByGroupName(group));
		}
		catch (UserPrincipalNotFoundException ex) {
			throw new VerbsException(VerbsError.UNAVAILABLE, "group " + group
					+ " that shared memory is to let in does not exist (expected: the name or number of a group)", ex);
		}
		catch (IOException | UnsupportedOperationException ex) {
			throw new VerbsException(VerbsError.UNAVAILABLE,
					"group " + group + " that shared memory is to let in cannot be found: " + ex, ex);
		}
	}

	/** What tells the default directory from those of others. */
	String directoryName() throws IOException {
		return (this.group != null) ? "group-" + this.group.getName() : String.valueOf(ownUser());
	}

	private static Object ownUser() throws IOException {
		return Files.getAttribute(Path.of("/proc/self"), "unix:uid");
	}

	/** What a new file is created with, whose members are let in by {@link #admit}. */
	static FileAttribute<?> creating() {
		return PosixFilePermissions.asFileAttribute(USER_FILE);
	}

	/** Lets the user alone use a file or socket that this process has created. */
	static void admitUser(Path file) throws IOException {
		Files.setPosixFilePermissions(file, USER_FILE);
	}

	/** Whether a user's number is that of this process. */
	static boolean isOwn(Object user) throws IOException {
		return user.equals(ownUser());
	}

	/** Creates a directory, unless another process does. */
	void createDirectory(Path directory) throws IOException {
		try {
			if (this.group == null) {
				Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(USER_DIRECTORY));
			}
			else {
				createForGroup(directory, this.group, STICKY_GROUP_DIRECTORY);
			}
		}
		catch (FileAlreadyExistsException ex) {
			logger.debug("{} was created by another process", directory, ex);
		}
	}

	/** Others see the directory when it is theirs, and not before. */
	private static void createForGroup(Path directory, GroupPrincipal group, int mode) throws IOException {
		Path unfinished = directory.resolveSibling(directory.getFileName() + "." + UUID.randomUUID());
		Files.createDirectory(unfinished, PosixFilePermissions.asFileAttribute(USER_DIRECTORY));
		boolean moved = false;
		try {
			setGroup(unfinished, group);
			Files.setAttribute(unfinished, "unix:mode", mode, LinkOption.NOFOLLOW_LINKS);
			if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
				Files.move(unfinished, directory, StandardCopyOption.ATOMIC_MOVE);
				moved = true;
			}
		}
		catch (FileSystemException ex) {
			if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
				throw ex;
			}
			logger.debug("{} was created by another process", directory, ex);
		}
		finally {
			if (!moved) {
				Files.delete(unfinished);
			}
		}
	}

	/** Where the files of a user's connections lie: with a group, not where it meets. */
	Path connections(Path directory, Object user) {
		return (this.group != null) ? directory.resolve("." + user) : directory;
	}

	/** The same for the user of this process. */
	Path ownConnections(Path directory) throws IOException {
		return connections(directory, ownUser());
	}

	/**
	 * Sees to it that members of the group can open what they know the name of, and
	 * nothing else, where the files of this user's connections lie.
	 * @throws VerbsException with {@link VerbsError#UNAVAILABLE} if that is another one's
	 */
	void prepareConnections(Path connections) throws IOException {
		if (this.group == null) {
			return;
		}
		if (!Files.exists(connections, LinkOption.NOFOLLOW_LINKS)) {
			createForGroup(connections, this.group, TRAVERSED_GROUP_DIRECTORY);
		}
		if (!Files.isDirectory(connections, LinkOption.NOFOLLOW_LINKS)
				|| !isOwn(Files.getAttribute(connections, "unix:uid", LinkOption.NOFOLLOW_LINKS))
				|| !this.group.equals(Files.getAttribute(connections, "posix:group", LinkOption.NOFOLLOW_LINKS))
				|| !TRAVERSED_DIRECTORY.equals(Files.getPosixFilePermissions(connections, LinkOption.NOFOLLOW_LINKS))) {
			throw refused(connections, "it is no directory of this user and group " + this.group.getName()
					+ " with permissions " + PosixFilePermissions.toString(TRAVERSED_DIRECTORY));
		}
	}

	/**
	 * Lets those who may meet here use a file or socket that this process has created.
	 */
	void admit(Path file) throws IOException {
		if (this.group == null) {
			Files.setPosixFilePermissions(file, USER_FILE);
		}
		else {
			setGroup(file, this.group);
			Files.setPosixFilePermissions(file, GROUP_FILE);
		}
	}

	private static void setGroup(Path path, GroupPrincipal group) throws IOException {
		try {
			Objects
				.requireNonNull(
						Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS))
				.setGroup(group);
		}
		catch (FileSystemException ex) {
			throw new VerbsException(VerbsError.UNAVAILABLE, "group " + group.getName()
					+ " cannot be let into shared memory: " + ex + " (expected: a group of the user's)", ex);
		}
	}

	/**
	 * Checks that a directory lets in those who may meet there, and nobody else.
	 * @throws VerbsException with {@link VerbsError#UNAVAILABLE} if it does not
	 */
	void check(Path directory) throws IOException {
		if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
			throw refused(directory, "it is not a directory");
		}
		if (this.group == null) {
			if (!Objects.equals(Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS), ownUser())) {
				throw refused(directory, "it belongs to another user");
			}
		}
		else {
			Object owning = Files.getAttribute(directory, "posix:group", LinkOption.NOFOLLOW_LINKS);
			if (!this.group.equals(owning)) {
				throw refused(directory, "its group is " + owning + " (expected: " + this.group.getName() + ")");
			}
			if (!Files.isWritable(directory)) {
				throw refused(directory, "this user is no member of group " + this.group.getName());
			}
		}
		Set<PosixFilePermission> expected = (this.group != null) ? GROUP_DIRECTORY : USER_DIRECTORY;
		Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS);
		if (!permissions.equals(expected)) {
			throw refused(directory, "its permissions are " + PosixFilePermissions.toString(permissions)
					+ " (expected: " + PosixFilePermissions.toString(expected) + ")");
		}
	}

	private static VerbsException refused(Path directory, String reason) {
		return new VerbsException(VerbsError.UNAVAILABLE,
				"directory " + directory + " of shared memory cannot be used: " + reason);
	}

}
