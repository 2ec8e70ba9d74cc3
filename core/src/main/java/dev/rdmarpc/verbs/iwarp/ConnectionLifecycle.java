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

package dev.rdmarpc.verbs.iwarp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.rdmap.ConnectionParameters;
import dev.rdmarpc.verbs.iwarp.rdmap.PeerAccess;
import dev.rdmarpc.verbs.iwarp.rdmap.ProtocolViolation;
import dev.rdmarpc.verbs.iwarp.rdmap.RdmapStream;
import dev.rdmarpc.verbs.iwarp.rdmap.SendQueue;
import dev.rdmarpc.verbs.iwarp.rdmap.StagingMemory;
import dev.rdmarpc.verbs.iwarp.rdmap.StreamOwner;
import dev.rdmarpc.verbs.support.ListenerCall;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ReceiveSource;
import dev.rdmarpc.verbs.support.ScheduledStack;
import dev.rdmarpc.verbs.support.WorkReporter;

/**
 * The states of a queue pair and the way from one to the next; while it is connected, the
 * owner of its {@link Connection}. Changes are guarded by the reactor's lock, state and
 * fault may be read by anybody.
 *
 * <pre>
 * INITIALIZED - CONNECTING - READY_TO_SEND - DRAINING - ERROR - CLOSED
 *      |  &lt;- failed - |           |                      |
 *      +-------------+-----------+------ error ---------+
 * </pre>
 *
 * <p>
 * Implementation notes. The reactor's steps ({@link #serve()}, {@link #advance()},
 * {@link #drainEnded}) throw nothing, so that whatever fails on one connection, for want
 * of memory or by a fault of this side, ends that connection and leaves the others their
 * step. Leaving a connection may itself fail half-way. It is made of parts that may be
 * repeated, the queue pair forgets the connection last, and the reactor repeats the
 * leaving with its next steps until it is done.
 */
final class ConnectionLifecycle implements StreamOwner {

	private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

	/** Made in advance, because there may be no memory when it is needed. */
	private static final QueuePairFault FAILED = new QueuePairFault(WorkStatus.CONNECTION_LOST, Origin.LOCAL,
			"unexpected failure on this side, which is in the log");

	private final PeerAccess access;

	private final QueuePair queuePair;

	private final IwarpCompletionQueue completionQueue;

	private final Reactor reactor;

	private final SendQueue sendQueue;

	private final ReceiveSource receives;

	private final WorkReporter reporter;

	private final ConnectionThread thread;

	private final IwarpOptions options;

	private final ListenerCall listenerCall;

	private final ScheduledStack.Node scheduleNode = new ScheduledStack.Node(this::serve);

	private volatile QueuePairState state = QueuePairState.INITIALIZED;

	private volatile @Nullable QueuePairFault fault;

	private @Nullable Connection connection;

	private @Nullable Runnable connectionEnded;

	private boolean backlogged;

	private boolean failed;

	private long drainDeadline;

	ConnectionLifecycle(PeerAccess access, IwarpCompletionQueue completionQueue, SendQueue sendQueue,
			ReceiveSource receives, WorkReporter reporter, ConnectionThread thread, IwarpOptions options) {
		this.access = access;
		this.queuePair = access.queuePair();
		this.completionQueue = completionQueue;
		this.reactor = completionQueue.reactor();
		this.sendQueue = sendQueue;
		this.receives = receives;
		this.reporter = reporter;
		this.thread = thread;
		this.options = options;
		this.listenerCall = this.reactor.newListenerCall(this.queuePair);
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
		this.reactor.schedule(this.scheduleNode);
	}

	@Override
	public boolean hasRoom() {
		return this.reactor.hasRoom();
	}

	@Override
	public void received(long id, long bytes, int invalidatedKey, boolean solicited) {
		this.reporter.completeReceive(id, bytes, invalidatedKey, solicited);
	}

	@Override
	public StagingMemory.Block allocateStaging(int bytes) throws ProtocolViolation {
		return this.reactor.allocateStaging(bytes, Objects.requireNonNull(this.connection));
	}

	/** Whether the queue pair waits for room in the completion queue. */
	boolean isBacklogged() {
		return this.backlogged;
	}

	/** Notes whether the queue pair waits for room in the completion queue. */
	void backlogged(boolean backlogged) {
		this.backlogged = backlogged;
	}

	/** Sends what was posted and reports what has ended. */
	void serve() {
		step(false);
	}

	/** Receives and sends what is possible, and reports what has ended. */
	void advance() {
		step(true);
	}

	private void step(boolean receive) {
		try {
			if (this.failed) {
				end();
			}
			Connection current = this.connection;
			if (current != null) {
				if (receive || current.isStalled()) {
					current.advance();
				}
				else {
					current.flush();
				}
			}
			report();
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	/** Ends the connection because something failed that must not; throws nothing. */
	void failed(Throwable ex) {
		this.failed = true;
		try {
			this.reactor.unexpected(this, ex);
			end();
		}
		catch (Throwable again) {
			this.reactor.repeatFailed();
		}
	}

	private void end() {
		enterError(FAILED, null, NOTHING);
		leaveConnection(NOTHING);
		this.failed = false;
	}

	/** Whether the connection has still to be left, because that has failed. */
	boolean hasFailed() {
		return this.failed;
	}

	private void report() {
		Connection current = this.connection;
		if (current != null) {
			this.sendQueue.written(current.stream().writtenBytes());
		}
		boolean all = this.reporter.reportEnded();
		WorkStatus failed = this.sendQueue.failureAtHead();
		if (failed != null && current != null && this.state != QueuePairState.ERROR) {
			current.terminate(ProtocolViolation.ofLocal(failed, "work request cannot be executed"));
		}
		if (this.state == QueuePairState.ERROR) {
			all = this.reporter.flush();
		}
		else if (this.state == QueuePairState.CLOSED) {
			all = this.reporter.flushUnfinished();
		}
		else if (this.state == QueuePairState.DRAINING && current != null && this.sendQueue.isDrained()
				&& current.stream().isIdle()) {
			enterError(new QueuePairFault(WorkStatus.FLUSHED, Origin.DISCONNECT, "disconnected by this side"), null,
					NOTHING);
			return;
		}
		if (!all || (current != null && current.isStalled())) {
			this.reactor.addBacklog(this);
		}
	}

	@Override
	public void terminated(WorkStatus status, long failedSequence, String detail) {
		this.sendQueue.failAt(failedSequence, status);
		enterError(new QueuePairFault(status, Origin.REMOTE, detail), null, NOTHING);
	}

	/** The socket has failed, or memory went away in the middle of being sent. */
	void lost(IOException ex, boolean memoryLost) {
		WorkStatus status = memoryLost ? WorkStatus.LOCAL_PROTECTION_ERROR : WorkStatus.CONNECTION_LOST;
		this.sendQueue.failAt(this.sendQueue.queue().head(), status);
		enterError(new QueuePairFault(status, Origin.LOCAL, "connection lost: " + ex.getMessage()), null, NOTHING);
	}

	/** Sees the socket of a connection that was left out. */
	void linger(ByteStream bytes, ByteBuffer lastWords) {
		this.thread.linger(bytes, lastWords);
	}

	/** Leaves the connection, if any, and flushes; only the first call counts. */
	void enterError(QueuePairFault cause, @Nullable WorkStatus receiveStatus, ByteBuffer lastWords) {
		if (this.state == QueuePairState.ERROR || this.state == QueuePairState.CLOSED) {
			return;
		}
		this.fault = cause;
		this.state = QueuePairState.ERROR;
		Connection current = this.connection;
		if (current != null) {
			takeUnfinished(current, (receiveStatus != null) ? receiveStatus : WorkStatus.FLUSHED);
			leaveConnection(lastWords);
		}
		if (!this.reporter.flush()) {
			this.reactor.addBacklog(this);
		}
	}

	private void takeUnfinished(Connection current, WorkStatus status) {
		PostedReceive unfinished = current.stream().unfinishedReceive();
		if (unfinished != null) {
			this.reporter.takeUnfinished(unfinished, status);
		}
	}

	private void leaveConnection(ByteBuffer lastWords) {
		Connection current = this.connection;
		if (current == null) {
			return;
		}
		this.sendQueue.written(current.stream().writtenBytes());
		current.close(lastWords);
		Runnable ended = this.connectionEnded;
		if (ended != null) {
			ended.run();
			this.connectionEnded = null;
		}
		if (this.state == QueuePairState.ERROR) {
			this.reactor.addDisconnected(this.listenerCall);
		}
		this.reactor.deregister(current);
		this.connection = null;
	}

	/** Claims the queue pair for a connection attempt. */
	void beginConnecting() {
		this.reactor.lock();
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
			this.reactor.unlock();
		}
	}

	/** Gives the queue pair back after a connection attempt that has failed. */
	void connectingFailed() {
		this.reactor.lock();
		try {
			if (this.state == QueuePairState.CONNECTING) {
				this.state = QueuePairState.INITIALIZED;
			}
		}
		finally {
			this.reactor.unlock();
		}
	}

	/**
	 * Takes over an established connection.
	 * @param ended run once when it is over
	 * @return false if the queue pair was disconnected or closed meanwhile
	 */
	boolean established(ByteStream bytes, ConnectionParameters parameters, @Nullable Runnable ended)
			throws IOException {
		this.reactor.lock();
		try {
			if (this.state != QueuePairState.CONNECTING) {
				return false;
			}
			attach(this.reactor.register(this, bytes, parameters), ended);
			return true;
		}
		finally {
			this.reactor.unlock();
		}
	}

	/** Makes a connection of a stream of bytes; the caller holds the lock. */
	Connection newConnection(ByteStream bytes, ConnectionParameters parameters) {
		RdmapStream stream = new RdmapStream(bytes, parameters, this.reactor.buffers(), this.reactor.random(),
				this.access, this.sendQueue, this.receives, this);
		return new Connection(this, this.reactor, bytes, stream, this.options.frameTimeout());
	}

	/** Makes a connection this queue pair's; the caller holds the lock. */
	void attach(Connection established, @Nullable Runnable ended) {
		this.connection = established;
		this.connectionEnded = ended;
		this.state = QueuePairState.READY_TO_SEND;
		serve();
	}

	/** Begins the orderly end of the connection. */
	void disconnect() {
		this.reactor.lock();
		try {
			QueuePairState current = this.state;
			if (current == QueuePairState.READY_TO_SEND) {
				this.drainDeadline = System.nanoTime() + this.options.drainTimeout().toNanos();
				this.reactor.deadlines().addDraining(this);
				this.state = QueuePairState.DRAINING;
				this.sendQueue.limitToPosted();
				serve();
			}
			else if (current == QueuePairState.INITIALIZED || current == QueuePairState.CONNECTING) {
				enterError(new QueuePairFault(WorkStatus.FLUSHED, Origin.DISCONNECT,
						"disconnected before the connection was established"), null, NOTHING);
			}
		}
		finally {
			this.reactor.unlock();
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
		end(new QueuePairFault(WorkStatus.CONNECTION_LOST, Origin.LOCAL,
				"peer did not take what was posted before the disconnect in time"));
		return true;
	}

	long drainDeadline() {
		return this.drainDeadline;
	}

	/** The completion queue is closing; the caller holds the lock. */
	void completionQueueClosed() {
		end(new QueuePairFault(WorkStatus.FLUSHED, Origin.LOCAL, "completion queue was closed"));
	}

	private void end(QueuePairFault cause) {
		try {
			enterError(cause, null, NOTHING);
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	private void leaveAtClose() {
		try {
			leaveConnection(NOTHING);
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
		this.reactor.lock();
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
			this.reactor.unlock();
		}
	}

	private void forget() {
		this.reporter.clear();
		this.completionQueue.detach(this, this.reporter.sharesReceives());
		this.reactor.removeDisconnected(this.listenerCall);
		if (!this.reporter.flushUnfinished()) {
			this.reactor.addBacklog(this);
		}
	}

	@Override
	public String toString() {
		return this.queuePair.toString();
	}

}
