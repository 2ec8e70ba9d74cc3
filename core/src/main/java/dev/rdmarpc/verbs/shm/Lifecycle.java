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
import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.shm.Connection.EstablishedPeer;
import dev.rdmarpc.verbs.shm.ring.Link;
import dev.rdmarpc.verbs.shm.ring.LinkFailure;
import dev.rdmarpc.verbs.shm.ring.PeerAccess;
import dev.rdmarpc.verbs.shm.ring.SendQueue;
import dev.rdmarpc.verbs.support.QueuePairLifecycle;
import dev.rdmarpc.verbs.support.ReceiveSource;
import dev.rdmarpc.verbs.support.WorkReporter;

/**
 * The life of a queue pair of shared memory. A fault in the mapped memory ends the
 * connection that the memory is of, and no other.
 */
final class Lifecycle extends QueuePairLifecycle<Connection> {

	private static final QueuePairFault MEMORY_LOST = new QueuePairFault(WorkStatus.CONNECTION_LOST, Origin.LOCAL,
			"the shared memory of the connection, or that of the peer, is gone: its file was cut, or its file system is full");

	private final PeerAccess access;

	private final Engine engine;

	private final SendQueue sendQueue;

	private final ReceiveSource receives;

	/** What the peer is told at the end. */
	private @Nullable LinkFailure told;

	private boolean memoryLost;

	Lifecycle(PeerAccess access, SharedMemoryCompletionQueue completionQueue, SendQueue sendQueue,
			ReceiveSource receives, WorkReporter reporter, Duration drainTimeout) {
		super(access.queuePair(), completionQueue, sendQueue, reporter, drainTimeout);
		this.access = access;
		this.engine = completionQueue.engine();
		this.sendQueue = sendQueue;
		this.receives = receives;
	}

	@Override
	protected void move(Connection current, boolean receive) {
		try {
			if (receive) {
				current.advance();
			}
			else {
				current.flush();
			}
			if (this.engine.isSelecting() && (current.link().isStalled() || current.link().isPostponed())) {
				this.engine.wakeUpIfSelecting();
			}
		}
		catch (LinkFailure ex) {
			refuseOrLose(current, ex);
		}
	}

	private void refuseOrLose(Connection current, LinkFailure failure) {
		if (!isLost(current)) {
			refuse(failure);
		}
	}

	/**
	 * Where the memory is gone, nonsense is read from it, also that the peer has ended
	 * the connection.
	 */
	private boolean isLost(@Nullable Connection current) {
		if (current == null || !current.isAnyCut()) {
			return false;
		}
		memoryLost();
		this.engine.expectFault();
		return true;
	}

	/** Asks the peer to wake this side; returns false if there is something to do. */
	boolean tryFallAsleep() {
		Connection current = connection();
		try {
			return current == null || current.link().tryFallAsleep();
		}
		catch (LinkFailure ex) {
			refuseOrLose(Objects.requireNonNull(current), ex);
		}
		catch (Throwable ex) {
			failed(ex);
		}
		return false;
	}

	@Override
	protected boolean handled(Throwable ex) {
		if (this.memoryLost) {
			return false;
		}
		return (ex instanceof InternalError && this.engine.tryEndCut()) || super.handled(ex);
	}

	/** Ends the connection because its memory is gone; throws nothing. */
	void memoryLost() {
		this.memoryLost = true;
		try {
			end();
		}
		catch (Throwable ex) {
			repeatEnd();
		}
	}

	/** Whatever fails after the memory is gone fails because of that. */
	@Override
	protected QueuePairFault failure() {
		return this.memoryLost ? MEMORY_LOST : super.failure();
	}

	@Override
	protected void cannotExecute(Connection current, WorkStatus status) {
		refuse(LinkFailure.ofLocal(status));
	}

	/** Ends the connection for a reason that the peer is told. */
	private void refuse(LinkFailure failure) {
		this.told = failure;
		enterError(new QueuePairFault(failure.status(), Origin.LOCAL, String.valueOf(failure.getMessage())),
				failure.receiveStatus());
	}

	/** The peer has ended the connection. */
	void peerEnded(WorkStatus status, String detail) {
		if (isLost(connection())) {
			return;
		}
		if (status == WorkStatus.FLUSHED) {
			enterError(new QueuePairFault(status, Origin.DISCONNECT, "disconnected by the peer"), null);
		}
		else if (status == WorkStatus.CONNECTION_LOST) {
			enterError(new QueuePairFault(status, Origin.REMOTE, "peer has failed: " + detail), null);
		}
		else {
			enterError(new QueuePairFault(status, Origin.REMOTE, "refused by the peer: " + detail), null);
		}
	}

	/** The peer is gone without a word. */
	void peerLost(String detail) {
		lost(WorkStatus.CONNECTION_LOST, detail);
	}

	@Override
	protected void leave(Connection current) {
		try {
			if (!current.hasLeft()) {
				tell(current.link());
			}
		}
		catch (InternalError ex) {
			// the memory is gone, and with it the way to tell
		}
		finally {
			current.close();
		}
	}

	private void tell(Link link) {
		if (this.memoryLost) {
			return;
		}
		QueuePairFault fault = fault();
		if (this.told != null) {
			link.end(this.told);
		}
		else if (fault != null && fault.status() != WorkStatus.FLUSHED) {
			link.abort(fault.detail());
		}
		else {
			link.disconnect();
		}
	}

	/**
	 * Takes over an established connection.
	 * @param peer owned from now on, if this returns {@code true}
	 * @param ended run once when it is over
	 * @return false if the queue pair was disconnected or closed meanwhile
	 */
	boolean established(EstablishedPeer peer, @Nullable Runnable ended) throws IOException {
		return established(() -> new Connection(this, this.engine, peer, this.access, this.sendQueue, this.receives),
				ended);
	}

}
