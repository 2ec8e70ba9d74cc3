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
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.shm.ring.Link;
import dev.rdmarpc.verbs.shm.ring.PeerWindows;
import dev.rdmarpc.verbs.shm.ring.SharedMemory;
import dev.rdmarpc.verbs.shm.ring.SharedMemory.Announcement;
import dev.rdmarpc.verbs.shm.ring.WindowDescriptor;
import dev.rdmarpc.verbs.shm.ring.WindowTable;

/**
 * What a device shares with processes of the same user, and maps of them: its own window
 * table, and the memory of its peers. Thread-safe.
 */
final class TrustedMemory implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(TrustedMemory.class);

	private final Rendezvous rendezvous;

	private final OwnFiles files;

	private final String tableName;

	private final WindowTable table;

	/** By the names of their tables; guarded by this. */
	private final Map<String, PeerMemory> peers = new HashMap<>();

	private TrustedMemory(Rendezvous rendezvous, OwnFiles files) throws IOException {
		this.rendezvous = rendezvous;
		this.files = files;
		long number = OwnFiles.newNumber();
		this.tableName = files.name(number);
		this.table = new WindowTable(files.create(number, WindowDescriptor.TOTAL_BYTES, ByteBuffer.allocate(0)));
	}

	/** Begins to share, or returns {@code null} if that is not possible. */
	static @Nullable TrustedMemory open(Rendezvous rendezvous) {
		OwnFiles files = null;
		TrustedMemory opened = null;
		try {
			files = OwnFiles.open(rendezvous);
			opened = new TrustedMemory(rendezvous, files);
		}
		catch (IOException | VerbsException ex) {
			logger.warn("Memory is not shared with processes that are trusted: {} has no room for it", rendezvous, ex);
		}
		finally {
			if (opened == null && files != null) {
				files.close();
			}
		}
		return opened;
	}

	/** Where regions are shown. */
	WindowTable table() {
		return this.table;
	}

	/** Tells the peer of a queue pair where to look, before it sees the memory. */
	void announce(SharedMemory memory, SharedMemoryQueuePair queuePair) {
		memory.announce(new Announcement(this.tableName, queuePair.grantNumber(), queuePair.domain().grantNumber()));
	}

	/**
	 * Has a link read from its peer's memory, if the peer has announced it and lets this
	 * user.
	 * @return to be {@link #release released}
	 */
	@Nullable PeerMemory join(Link link, SharedMemory memory) {
		Announcement announced = memory.peerAnnouncement();
		if (announced == null) {
			return null;
		}
		PeerMemory peer = acquire(announced.table());
		if (peer != null) {
			link.readFrom(new PeerWindows(peer.table(), announced.grantNumber(), announced.domainNumber(), peer));
		}
		return peer;
	}

	private synchronized @Nullable PeerMemory acquire(String name) {
		try {
			PeerMemory peer = this.peers.get(name);
			if (peer == null) {
				peer = new PeerMemory(this.rendezvous, name);
				this.peers.put(name, peer);
			}
			peer.addUsers(1);
			return peer;
		}
		catch (IOException ex) {
			logger.debug("A peer's memory is not read directly", ex);
			return null;
		}
	}

	/**
	 * A connection does not use its peer's memory any more.
	 * @return whether it was the last one
	 */
	synchronized boolean release(PeerMemory peer) {
		return peer.addUsers(-1) == 0 && this.peers.values().remove(peer);
	}

	/** How many peers there are whose memory is mapped. */
	synchronized int peers() {
		return this.peers.size();
	}

	@Override
	public void close() {
		this.files.close();
	}

}
