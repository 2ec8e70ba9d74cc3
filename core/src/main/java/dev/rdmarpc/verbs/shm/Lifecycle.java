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

import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.shm.Connection.EstablishedPeer;
import dev.rdmarpc.verbs.shm.ring.Link;
import dev.rdmarpc.verbs.shm.ring.LinkFailure;
import dev.rdmarpc.verbs.shm.ring.PeerAccess;
import dev.rdmarpc.verbs.shm.ring.SendQueue;
import dev.rdmarpc.verbs.support.ListenerCall;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ReceiveSource;
import dev.rdmarpc.verbs.support.ScheduledStack;
import dev.rdmarpc.verbs.support.WorkReporter;

/**
 * The states of a queue pair and the way from one to the next; while it is connected, the
 * owner of its {@link Connection}. Changes are guarded by the engine's lock, state and
 * fault may be read by anybody.
 *
 * <pre>
 * INITIALIZED - CONNECTING - READY_TO_SEND - DRAINING - ERROR - CLOSED
 *      |  &lt;- failed - |           |                      |
 *      +-------------+-----------+------ error ---------+
 * </pre>
 *
 * <p>
 * Implementation notes. The engine's steps throw nothing, so that whatever fails on one
 * connection, a fault in the mapped memory included, ends that connection and leaves the
 * others their step. Leaving a connection may itself fail half-way; it is then repeated
 * with the next steps until it is done.
 */
final class Lifecycle {

	/** Made in advance, because there may be no memory when it is needed. */
	private static final QueuePairFault FAILED = new QueuePairFault(WorkStatus.CONNECTION_LOST, Origin.LOCAL,
			"unexpected failure on this side, which is in the log");

	private static final QueuePairFault MEMORY_LOST = new QueuePairFault(WorkStatus.CONNECTION_LOST, Origin.LOCAL,
			"the shared memory of the connection is gone: its file was cut, or its file system is full");

	private final PeerAccess access;

	private final QueuePair queuePair;

	private final SharedMemoryCompletionQueue completionQueue;

	private final Engine engine;

	private final SendQueue sendQueue;

	private final ReceiveSource receives;

	private final WorkReporter reporter;

	private final Duration drainTimeout;

	private final ListenerCall listenerCall;

	private final ScheduledStack.Node scheduleNode = new ScheduledStack.Node(this::serve);

	private volatile QueuePairState state = QueuePairState.INITIALIZED;

	private volatile @Nullable QueuePairFault fault;

	private @Nullable Connection connection;

	private @Nullable Runnable connectionEnded;

	private boolean backlogged;

	private boolean failed;

	private boolean memoryLost;

	private long drainDeadline;

	Lifecycle(PeerAccess access, SharedMemoryCompletionQueue completionQueue, SendQueue sendQueue,
			ReceiveSource receives, WorkReporter reporter, Duration drainTimeout) {
		this.access = access;
		this.queuePair = access.queuePair();
		this.completionQueue = completionQueue;
		this.engine = completionQueue.engine();
		this.sendQueue = sendQueue;
		this.receives = receives;
		this.reporter = reporter;
		this.drainTimeout = drainTimeout;
		this.listenerCall = this.engine.newListenerCall(this.queuePair);
	}

	QueuePairState state() {
		return this.state;
	}

	@Nullable QueuePairFault fault() {
		return this.fault;
	}

	QueuePair queuePair() {
		return this.queuePair;
	}

	/** Has posted work seen to at the next opportunity; from any thread. */
	void schedule() {
		this.engine.schedule(this.scheduleNode);
	}

	void received(long id, long bytes, int invalidatedKey, boolean solicited) {
		this.reporter.completeReceive(id, bytes, invalidatedKey, solicited);
	}

	/** Whether the queue pair waits for room in the completion queue. */
	boolean isBacklogged() {
		return this.backlogged;
	}

	/** Notes whether the queue pair waits for room in the completion queue. */
	void backlogged(boolean backlogged) {
		this.backlogged = backlogged;
	}

	/** Writes what was posted and reports what has ended. */
	void serve() {
		step(false);
	}

	/** Consumes and writes what is possible, and reports what has ended. */
	void advance() {
		step(true);
	}

	private void step(boolean consume) {
		try {
			if (this.failed) {
				end();
			}
			Connection current = this.connection;
			if (current != null) {
				move(current, consume);
			}
			report();
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	private void move(Connection current, boolean consume) {
		try {
			if (consume) {
				current.advance();
			}
			else {
				current.flush();
			}
			if (this.engine.isSelecting() && current.link().isStalled()) {
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
		if (current == null || !current.isCut()) {
			return false;
		}
		memoryLost();
		this.engine.expectFault();
		return true;
	}

	/** The socket has something to say. */
	void socketReady() {
		Connection current = this.connection;
		if (current != null) {
			current.readSocket();
			advance();
		}
	}

	/** Asks the peer to wake this side; returns false if there is something to do. */
	boolean tryFallAsleep() {
		Connection current = this.connection;
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

	/** Ends the connection because something failed that must not; throws nothing. */
	void failed(Throwable ex) {
		this.failed = true;
		try {
			if (ex instanceof InternalError && !this.memoryLost && this.engine.tryEndCut()) {
				this.failed &= this.connection != null;
				return;
			}
			if (!this.memoryLost) {
				this.engine.unexpected(this, ex);
			}
			end();
		}
		catch (Throwable again) {
			this.engine.repeatFailed();
		}
	}

	/** Ends the connection because its memory is gone; throws nothing. */
	void memoryLost() {
		this.memoryLost = true;
		try {
			enterError(MEMORY_LOST, null, null);
			end();
		}
		catch (Throwable ex) {
			this.failed = true;
			this.engine.repeatFailed();
		}
	}

	private void end() {
		enterError(FAILED, null, null);
		leaveConnection(null);
		this.failed = false;
	}

	/** Whether the connection has still to be left, because that has failed. */
	boolean hasFailed() {
		return this.failed;
	}

	private void report() {
		boolean all = this.reporter.reportEnded();
		WorkStatus failure = this.sendQueue.failureAtHead();
		Connection current = this.connection;
		if (failure != null && current != null && this.state != QueuePairState.ERROR) {
			refuse(LinkFailure.ofLocal(failure));
		}
		if (this.state == QueuePairState.ERROR) {
			all = this.reporter.flush();
		}
		else if (this.state == QueuePairState.CLOSED) {
			all = this.reporter.flushUnfinished();
		}
		else if (this.state == QueuePairState.DRAINING && current != null && this.sendQueue.isDrained()
				&& current.link().isIdle()) {
			enterError(new QueuePairFault(WorkStatus.FLUSHED, Origin.DISCONNECT, "disconnected by this side"), null,
					null);
			return;
		}
		if (!all) {
			this.engine.addBacklog(this);
		}
	}

	/** Ends the connection for a reason that the peer is told. */
	private void refuse(LinkFailure failure) {
		enterError(new QueuePairFault(failure.status(), Origin.LOCAL, String.valueOf(failure.getMessage())),
				failure.receiveStatus(), failure);
	}

	/** The peer has ended the connection. */
	void peerEnded(WorkStatus status, String detail) {
		if (isLost(this.connection)) {
			return;
		}
		if (status == WorkStatus.FLUSHED) {
			enterError(new QueuePairFault(status, Origin.DISCONNECT, "disconnected by the peer"), null, null);
		}
		else if (status == WorkStatus.CONNECTION_LOST) {
			enterError(new QueuePairFault(status, Origin.REMOTE, "peer has failed: " + detail), null, null);
		}
		else {
			enterError(new QueuePairFault(status, Origin.REMOTE, "refused by the peer: " + detail), null, null);
		}
	}

	/** The peer is gone without a word. */
	void lost(String detail) {
		this.sendQueue.failAt(this.sendQueue.queue().head(), WorkStatus.CONNECTION_LOST);
		enterError(new QueuePairFault(WorkStatus.CONNECTION_LOST, Origin.LOCAL, "connection lost: " + detail), null,
				null);
	}

	/** Leaves the connection, if any, and flushes; only the first call counts. */
	private void enterError(QueuePairFault cause, @Nullable WorkStatus receiveStatus, @Nullable LinkFailure told) {
		if (this.state == QueuePairState.ERROR || this.state == QueuePairState.CLOSED) {
			return;
		}
		this.fault = cause;
		this.state = QueuePairState.ERROR;
		Connection current = this.connection;
		if (current != null) {
			takeUnfinished(current, (receiveStatus != null) ? receiveStatus : WorkStatus.FLUSHED);
			leaveConnection(told);
		}
		if (!this.reporter.flush()) {
			this.engine.addBacklog(this);
		}
	}

	private void takeUnfinished(Connection current, WorkStatus status) {
		PostedReceive unfinished = current.link().unfinishedReceive();
		if (unfinished != null) {
			this.reporter.takeUnfinished(unfinished, status);
		}
	}

	private void leaveConnection(@Nullable LinkFailure told) {
		Connection current = this.connection;
		if (current == null) {
			return;
		}
		try {
			tell(current.link(), told);
		}
		catch (InternalError ex) {
			// the memory is gone, and with it the way to tell
		}
		finally {
			current.close();
		}
		Runnable ended = this.connectionEnded;
		if (ended != null) {
			ended.run();
			this.connectionEnded = null;
		}
		if (this.state == QueuePairState.ERROR) {
			this.engine.addDisconnected(this.listenerCall);
		}
		this.engine.deregister(current);
		this.connection = null;
	}

	private void tell(Link link, @Nullable LinkFailure told) {
		if (this.memoryLost) {
			return;
		}
		QueuePairFault current = this.fault;
		if (told != null) {
			link.end(told);
		}
		else if (current != null && current.status() != WorkStatus.FLUSHED) {
			link.abort(current.detail());
		}
		else {
			link.disconnect();
		}
	}

	/** Claims the queue pair for a connection attempt. */
	void beginConnecting() {
		this.engine.lock();
		try {
			QueuePairState current = this.state;
			if (current == QueuePairState.CLOSED) {
				throw new VerbsException(VerbsError.CLOSED, this.queuePair + " is closed");
			}
			if (current != QueuePairState.INITIALIZED) {
				throw new VerbsException(VerbsError.INVALID_STATE,
						this.queuePair + " cannot be connected, its state is " + current);
			}
			this.state = QueuePairState.CONNECTING;
		}
		finally {
			this.engine.unlock();
		}
	}

	/** Gives the queue pair back after a connection attempt that has failed. */
	void connectingFailed() {
		this.engine.lock();
		try {
			if (this.state == QueuePairState.CONNECTING) {
				this.state = QueuePairState.INITIALIZED;
			}
		}
		finally {
			this.engine.unlock();
		}
	}

	/**
	 * Takes over an established connection.
	 * @param peer owned from now on, if this returns {@code true}
	 * @param ended run once when it is over
	 * @return false if the queue pair was disconnected or closed meanwhile
	 */
	boolean established(EstablishedPeer peer, @Nullable Runnable ended) throws IOException {
		this.engine.lock();
		try {
			if (this.state != QueuePairState.CONNECTING) {
				return false;
			}
			Connection created = new Connection(this, this.engine, peer, this.access, this.sendQueue, this.receives);
			this.engine.register(created);
			this.connection = created;
			this.connectionEnded = ended;
			this.state = QueuePairState.READY_TO_SEND;
			serve();
			return true;
		}
		finally {
			this.engine.unlock();
		}
	}

	/** Begins the orderly end of the connection. */
	void disconnect() {
		this.engine.lock();
		try {
			QueuePairState current = this.state;
			if (current == QueuePairState.READY_TO_SEND) {
				this.drainDeadline = System.nanoTime() + this.drainTimeout.toNanos();
				this.engine.addDraining(this);
				this.state = QueuePairState.DRAINING;
				this.sendQueue.limitToPosted();
				serve();
			}
			else if (current == QueuePairState.INITIALIZED || current == QueuePairState.CONNECTING) {
				enterError(new QueuePairFault(WorkStatus.FLUSHED, Origin.DISCONNECT,
						"disconnected before the connection was established"), null, null);
			}
		}
		finally {
			this.engine.unlock();
		}
	}

	/** Whether an orderly disconnect is over; ends it when its time is. */
	boolean drainEnded(long now) {
		if (this.state != QueuePairState.DRAINING) {
			return true;
		}
		if (now - this.drainDeadline < 0) {
			return false;
		}
		endWith(new QueuePairFault(WorkStatus.CONNECTION_LOST, Origin.LOCAL,
				"peer did not take what was posted before the disconnect in time"));
		return true;
	}

	long drainDeadline() {
		return this.drainDeadline;
	}

	/** The completion queue is closing; the caller holds the lock. */
	void completionQueueClosed() {
		endWith(new QueuePairFault(WorkStatus.FLUSHED, Origin.LOCAL, "completion queue was closed"));
	}

	private void endWith(QueuePairFault cause) {
		try {
			enterError(cause, null, null);
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	/**
	 * Leaves the connection at once and forgets what was posted, but for the receives it
	 * has taken from a shared queue: those are reported, for they are missing there.
	 */
	void close() {
		this.engine.lock();
		try {
			if (this.state == QueuePairState.CLOSED) {
				return;
			}
			this.state = QueuePairState.CLOSED;
			Connection current = this.connection;
			try {
				if (current != null) {
					takeUnfinished(current, WorkStatus.FLUSHED);
					leaveAtClose();
				}
			}
			finally {
				forget();
			}
			this.listenerCall.awaitEnd();
		}
		finally {
			this.engine.unlock();
		}
	}

	private void leaveAtClose() {
		try {
			leaveConnection(null);
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	private void forget() {
		this.reporter.clear();
		this.completionQueue.detach(this, this.reporter.sharesReceives());
		this.engine.removeDisconnected(this.listenerCall);
		if (!this.reporter.flushUnfinished()) {
			this.engine.addBacklog(this);
		}
	}

	@Override
	public String toString() {
		return this.queuePair.toString();
	}

}
