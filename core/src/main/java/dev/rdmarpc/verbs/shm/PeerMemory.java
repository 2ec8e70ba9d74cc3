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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.shm.ring.PeerExtents;
import dev.rdmarpc.verbs.shm.ring.WindowDescriptor;

/**
 * What is mapped of a peer that trusts processes of this user: its window table, and the
 * extents that were read of lately. Shared by the connections to the peer. Thread-safe.
 *
 * <p>
 * Implementation notes. What is let go is unmapped when it is collected as garbage. Of
 * extents that the peer has given back, those that are mapped keep the memory; they are
 * looked for whenever a new one is mapped.
 */
final class PeerMemory implements PeerExtents {

	private static final Logger logger = LoggerFactory.getLogger(PeerMemory.class);

	/** How many extents are mapped at once; then the one that was unused longest goes. */
	static final int MAX_EXTENTS = 128;

	private final Rendezvous rendezvous;

	private final Path tableFile;

	private final ByteBuffer table;

	private final List<Mapped> mapped = new ArrayList<>();

	private long uses;

	/** How many connections share it; guarded by the {@link TrustedMemory}. */
	private int users;

	/**
	 * Maps the table of a peer.
	 * @throws IOException if that is not possible
	 */
	PeerMemory(Rendezvous rendezvous, String tableName) throws IOException {
		this.rendezvous = rendezvous;
		this.table = OwnFiles.map(rendezvous, tableName, WindowDescriptor.TOTAL_BYTES);
		this.tableFile = rendezvous.directory().resolve(tableName);
	}

	ByteBuffer table() {
		return this.table;
	}

	/** Adds or takes away users; returns how many there are. */
	int addUsers(int count) {
		this.users += count;
		return this.users;
	}

	@Override
	public synchronized @Nullable ByteBuffer find(long pool, long extent) {
		for (Mapped candidate : this.mapped) {
			if (candidate.extent == extent && candidate.pool == pool) {
				candidate.lastUse = ++this.uses;
				return candidate.memory;
			}
		}
		return map(pool, extent);
	}

	private @Nullable ByteBuffer map(long pool, long extent) {
		Path file = OwnFiles.path(this.rendezvous, pool, extent);
		try {
			this.mapped.removeIf(Mapped::isGone);
			ByteBuffer memory = OwnFiles.map(this.rendezvous, file.getFileName().toString(), 0)
				.order(ByteOrder.nativeOrder());
			makeRoom();
			this.mapped.add(new Mapped(pool, extent, file, memory, ++this.uses));
			return memory;
		}
		catch (IOException ex) {
			logger.debug("Cannot map {}, whose content is asked for", file, ex);
			return null;
		}
	}

	private void makeRoom() {
		if (this.mapped.size() == MAX_EXTENTS) {
			int oldest = 0;
			for (int i = 1; i < this.mapped.size(); i++) {
				oldest = (this.mapped.get(i).lastUse < this.mapped.get(oldest).lastUse) ? i : oldest;
			}
			this.mapped.remove(oldest);
		}
	}

	/** Whether a file that is mapped was cut, so that its use fails; system calls. */
	synchronized boolean isCut() {
		boolean cut = isShorter(this.tableFile, this.table);
		for (Mapped extent : this.mapped) {
			cut |= isShorter(extent.file, extent.memory);
		}
		return cut;
	}

	private static boolean isShorter(Path file, ByteBuffer memory) {
		try {
			return Files.size(file) < memory.capacity();
		}
		catch (IOException ex) {
			// it has no name any more, and is whole
			return false;
		}
	}

	/** An extent. */
	private static final class Mapped {

		private final long pool;

		private final long extent;

		private final Path file;

		private final ByteBuffer memory;

		private long lastUse;

		Mapped(long pool, long extent, Path file, ByteBuffer memory, long lastUse) {
			this.pool = pool;
			this.extent = extent;
			this.file = file;
			this.memory = memory;
			this.lastUse = lastUse;
		}

		boolean isGone() {
			return !Files.exists(this.file, LinkOption.NOFOLLOW_LINKS);
		}

	}

}
