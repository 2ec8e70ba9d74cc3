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
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.shm.ring.Link;
import dev.rdmarpc.verbs.shm.ring.LinkFailure;
import dev.rdmarpc.verbs.shm.ring.LinkOwner;
import dev.rdmarpc.verbs.shm.ring.PeerAccess;
import dev.rdmarpc.verbs.shm.ring.RingDescriptor;
import dev.rdmarpc.verbs.shm.ring.SendQueue;
import dev.rdmarpc.verbs.shm.ring.SharedMemory;
import dev.rdmarpc.verbs.support.EngineConnection;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ReceiveSource;

/**
 * An established connection: a link through shared memory, and the socket that tells the
 * death of the peer and wakes. Guarded by the engine's lock.
 *
 * <p>
 * Implementation notes. A mapping lasts until it is collected as garbage. Its memory is
 * given back before: whoever leaves last cuts the file to nothing. Nobody touches the
 * memory after it has said that it leaves.
 */
final class Connection implements EngineConnection, LinkOwner {

	private static final int WAKE_BYTES = 256;

	private final Lifecycle lifecycle;

	private final Engine engine;

	private final EstablishedPeer peer;

	private final Link link;

	/** What is read directly, {@code null} if nothing is, or not any more. */
	private @Nullable PeerMemory peerMemory;

	private final ByteBuffer wakes = ByteBuffer.allocateDirect(WAKE_BYTES);

	private @Nullable SelectionKey key;

	private int idleLooks;

	private boolean peerGone;

	private boolean left;

	/**
	 * Creates a connection.
	 * @param peer owned from now on
	 */
	Connection(Lifecycle lifecycle, Engine engine, EstablishedPeer peer, PeerAccess access, SendQueue sends,
			ReceiveSource receives) {
		this.lifecycle = lifecycle;
		this.engine = engine;
		this.peer = peer;
		SharedMemory memory = peer.sharedMemory();
		this.link = new Link(memory, peer.readDepth(), peer.responderResources(), access, sends, receives, this);
		this.peerMemory = (peer.trusted() != null) ? peer.trusted().join(this.link, memory) : null;
	}

	static long mappedBytes(int ringBytes) {
		return RingDescriptor.totalBytes(ringBytes);
	}

	long mappedBytes() {
		return mappedBytes(this.peer.ringBytes());
	}

	@Override
	public Lifecycle lifecycle() {
		return this.lifecycle;
	}

	Link link() {
		return this.link;
	}

	/** How often it was looked at in vain since bytes have moved. */
	int idleLooks() {
		return this.idleLooks;
	}

	long copiedBytes() {
		return this.link.copiedBytes();
	}

	@Override
	public void watch(Selector selector) throws IOException {
		this.key = this.peer.socket().register(selector, SelectionKey.OP_READ, this);
	}

	/** Consumes and writes what is possible. */
	void advance() throws LinkFailure {
		this.link.advance();
		noteMoves();
		if (this.peerGone && !this.left && this.link.isConsumed()) {
			this.lifecycle.peerLost("the peer has died or closed its socket");
		}
	}

	/** Writes what is possible. */
	void flush() throws LinkFailure {
		this.link.flush();
		noteMoves();
	}

	private void noteMoves() {
		if (this.link.takeMoved()) {
			this.idleLooks = 0;
			this.engine.moved();
		}
		else {
			this.idleLooks++;
		}
	}

	@Override
	public void ready() {
		if (this.lifecycle.connection() == this) {
			readSocket();
			this.lifecycle.advance();
		}
	}

	/** A ring without room is looked at with each poll. */
	@Override
	public boolean isStalled() {
		return false;
	}

	@Override
	public boolean isIdle() {
		return this.link.isIdle();
	}

	@Override
	public @Nullable PostedReceive unfinishedReceive() {
		return this.link.unfinishedReceive();
	}

	/** Takes the bytes that have woken this side, and notes the end of the peer. */
	private void readSocket() {
		try {
			int read = this.peer.socket().read(this.wakes.clear());
			if (read >= 0) {
				return;
			}
		}
		catch (IOException ex) {
			// as good as its end
		}
		this.peerGone = true;
		SelectionKey current = this.key;
		if (current != null && current.isValid()) {
			current.interestOps(0);
		}
	}

	@Override
	public boolean hasRoom() {
		return this.lifecycle.hasRoom();
	}

	@Override
	public void received(long id, long bytes, int invalidatedKey, boolean solicited) {
		this.lifecycle.received(id, bytes, invalidatedKey, solicited);
	}

	@Override
	public void peerEnded(WorkStatus status, String detail) {
		this.lifecycle.peerEnded(status, detail);
	}

	/** A socket that takes no byte has many that the peer has not read: it is awake. */
	@Override
	public void wakePeer() {
		try {
			this.peer.socket().write(this.wakes.clear().limit(1));
		}
		catch (IOException ex) {
			this.peerGone = true;
		}
	}

	/** Whether the file of the memory was cut, so that its use fails; a system call. */
	boolean isCut() {
		boolean interrupted = Thread.interrupted();
		try {
			return this.peer.file().size() < mappedBytes();
		}
		catch (ClosedChannelException ex) {
			return false;
		}
		catch (IOException ex) {
			return true;
		}
		finally {
			restore(interrupted);
		}
	}

	/** Whether that, or memory of the peer's that this side reads, was; system calls. */
	boolean isAnyCut() {
		PeerMemory read = this.peerMemory;
		return isCut() || (read != null && read.isCut());
	}

	/** An interrupt would close the file, and is the business of the thread's owner. */
	private static void restore(boolean interrupted) {
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/** Whether this side has said that it does not use the memory any more. */
	boolean hasLeft() {
		return this.left;
	}

	/** Leaves the memory and closes the socket; may be repeated. */
	void close() {
		boolean last = this.peerGone;
		try {
			last |= !this.left && this.link.leave();
		}
		catch (InternalError ex) {
			// it is gone, or another connection's is: who is last sees that from its
			// socket
		}
		this.left = true;
		SelectionKey current = this.key;
		if (current != null) {
			current.cancel();
		}
		SetupHandler.closeQuietly(this.peer.socket());
		FileChannel file = this.peer.file();
		if (last) {
			truncate(file);
		}
		SetupHandler.closeQuietly(file);
		PeerMemory read = this.peerMemory;
		TrustedMemory trusted = this.peer.trusted();
		boolean lastReader = false;
		if (read != null && trusted != null) {
			this.peerMemory = null;
			lastReader = trusted.release(read);
		}
		if (this.peerGone) {
			this.peer.sweeping().sweep(lastReader);
		}
	}

	private static void truncate(FileChannel file) {
		boolean interrupted = Thread.interrupted();
		try {
			file.truncate(0);
		}
		catch (IOException ex) {
			// the memory is given back when the mapping is
		}
		finally {
			restore(interrupted);
		}
	}

	/**
	 * What set-up has made of a peer.
	 *
	 * @param socket connected to the peer, not blocking
	 * @param file of the memory, unlinked
	 * @param memory of the connection, mapped
	 * @param ringBytes capacity of each ring
	 * @param side 0 for who listened, 1 for who connected
	 * @param readDepth how many Reads of this side are outstanding at most
	 * @param responderResources how many Reads of the peer are served at once
	 * @param trusted what is shared with it if it is trusted, {@code null} if nothing is
	 * @param sweeping removes what a peer that was killed has left
	 */
	record EstablishedPeer(SocketChannel socket, FileChannel file, ByteBuffer memory, int ringBytes, int side,
			int readDepth, int responderResources, @Nullable TrustedMemory trusted, Sweeping sweeping) {

		/** The memory, seen from this side. */
		SharedMemory sharedMemory() {
			return new SharedMemory(this.memory, this.ringBytes, this.side);
		}

		/** Tells the peer where to look if it is trusted, before it sees the memory. */
		void announce(QueuePair queuePair) {
			if (this.trusted != null && queuePair instanceof SharedMemoryQueuePair own) {
				this.trusted.announce(sharedMemory(), own);
			}
		}

	}

	/** Removes without haste what a peer that was killed, perhaps, has left. */
	@FunctionalInterface
	interface Sweeping {

		/**
		 * A connection has ended without a word.
		 * @param lastReader whether no other reads the memory of that peer
		 */
		void sweep(boolean lastReader);

	}

}
