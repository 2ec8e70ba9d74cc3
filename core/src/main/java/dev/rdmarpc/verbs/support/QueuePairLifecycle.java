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

package dev.rdmarpc.verbs.support;

import java.io.IOException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * The life of a queue pair in user space: its state, its connection while it has one, and
 * how both end. Changes are guarded by the engine's lock, state and fault are read by any
 * thread. A provider adds how its connections are made, moved and left.
 *
 * <p>
 * Implementation notes. The engine's steps ({@link #serve()}, {@link #advance()},
 * {@link #drainEnded}) throw nothing, so that whatever fails on one connection, for want
 * of memory or by a fault of this side, ends that connection and leaves the others their
 * step. Leaving a connection may itself fail half-way. It is made of parts that may be
 * repeated, the queue pair forgets the connection last, and the engine repeats the
 * leaving with its next steps until it is done.
 *
 * @param <C> type of the connections
 */
public abstract class QueuePairLifecycle<C extends EngineConnection> {

	/** Made in advance, because there may be no memory when it is needed. */
	private static final QueuePairFault FAILED = new QueuePairFault(WorkStatus.CONNECTION_LOST, Origin.LOCAL,
			"unexpected failure on this side, which is in the log");

	private final QueuePair queuePair;

	private final EngineCompletionQueue<? extends ProgressEngine<C>> completionQueue;

	private final ProgressEngine<C> engine;

	private final PostedSends sends;

	private final WorkReporter reporter;

	private final Duration drainTimeout;

	private final ListenerCall listenerCall;

	private final ScheduledStack.Node scheduleNode = new ScheduledStack.Node(this::serve);

	private volatile QueuePairState state = QueuePairState.INITIALIZED;

	private volatile @Nullable QueuePairFault fault;

	private @Nullable C connection;

	private @Nullable Runnable connectionEnded;

	private boolean backlogged;

	private boolean failed;

	private long drainDeadline;

	private long receivedStep;

	private int receivedInStep;

	/**
	 * Creates the life of a queue pair that is not connected.
	 * @param drainTimeout how long an orderly disconnect waits for what was posted
	 */
	protected QueuePairLifecycle(QueuePair queuePair,
			EngineCompletionQueue<? extends ProgressEngine<C>> completionQueue, PostedSends sends,
			WorkReporter reporter, Duration drainTimeout) {
		this.queuePair = queuePair;
		this.completionQueue = completionQueue;
		this.engine = completionQueue.engine();
		this.sends = sends;
		this.reporter = reporter;
		this.drainTimeout = drainTimeout;
		this.listenerCall = this.engine.newListenerCall(queuePair);
	}

	/** The state; from any thread. */
	public final QueuePairState state() {
		return this.state;
	}

	/** Why the connection has ended, if it has; from any thread. */
	public final @Nullable QueuePairFault fault() {
		return this.fault;
	}

	/** Whose life it is. */
	public final QueuePair queuePair() {
		return this.queuePair;
	}

	/** The connection at present; the caller holds the lock. */
	public final @Nullable C connection() {
		return this.connection;
	}

	/** Has posted work seen to at the next opportunity; from any thread. */
	public final void schedule() {
		this.engine.schedule(this.scheduleNode);
	}

	/**
	 * Whether a Send of the peer may be completed now: there is room, and it is its turn.
	 */
	public final boolean hasRoom() {
		return this.engine.hasRoom()
				&& (this.receivedInStep < this.engine.share() || this.receivedStep != this.engine.steps());
	}

	/** A Send of the peer has filled a receive; there is room. */
	public final void received(long id, long bytes, int invalidatedKey, boolean solicited) {
		long step = this.engine.steps();
		if (step != this.receivedStep) {
			this.receivedStep = step;
			this.receivedInStep = 0;
		}
		this.receivedInStep++;
		this.reporter.completeReceive(id, bytes, invalidatedKey, solicited);
	}

	/** Whether the queue pair waits for room in the completion queue. */
	final boolean isBacklogged() {
		return this.backlogged;
	}

	/** Notes whether the queue pair waits for room in the completion queue. */
	final void backlogged(boolean backlogged) {
		this.backlogged = backlogged;
	}

	/** Sends what was posted and reports what has ended. */
	public final void serve() {
		step(false);
	}

	/** Receives and sends what is possible, and reports what has ended. */
	public final void advance() {
		step(true);
	}

	private void step(boolean receive) {
		try {
			if (this.failed) {
				end();
			}
			C current = this.connection;
			if (current != null) {
				move(current, receive);
			}
			report();
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	/** Sends what is possible on the connection, and receives if that is asked for. */
	protected abstract void move(C current, boolean receive);

	/** Ends the connection because something failed that must not; throws nothing. */
	public final void failed(Throwable ex) {
		this.failed = true;
		try {
			if (handled(ex)) {
				this.failed &= this.connection != null;
				return;
			}
			end();
		}
		catch (Throwable again) {
			this.engine.repeatFailed();
		}
	}

	/**
	 * Logs a failure, or does all that is to be done because of it.
	 * @return false if this connection is still to be ended
	 */
	protected boolean handled(Throwable ex) {
		this.engine.unexpected(this, ex);
		return false;
	}

	/** Leaves the connection after a failure; what fails again is repeated later. */
	protected final void end() {
		enterError(failure(), null);
		leaveConnection();
		this.failed = false;
	}

	/** Why a connection ends that has failed; needs no memory. */
	protected QueuePairFault failure() {
		return FAILED;
	}

	/** Has the leaving of the connection repeated with the engine's next steps. */
	protected final void repeatEnd() {
		this.failed = true;
		this.engine.repeatFailed();
	}

	/** Whether the connection has still to be left, because that has failed. */
	final boolean hasFailed() {
		return this.failed;
	}

	private void report() {
		C current = this.connection;
		boolean all = this.reporter.reportEnded();
		WorkStatus failure = this.sends.failureAtHead();
		if (failure != null && current != null && this.state != QueuePairState.ERROR) {
			cannotExecute(current, failure);
		}
		if (this.state == QueuePairState.ERROR) {
			all = this.reporter.flush();
		}
		else if (this.state == QueuePairState.CLOSED) {
			all = this.reporter.flushUnfinished();
		}
		else if (this.state == QueuePairState.DRAINING && current != null && this.sends.isDrained()
				&& current.isIdle()) {
			enterError(new QueuePairFault(WorkStatus.FLUSHED, Origin.DISCONNECT, "disconnected by this side"), null);
			return;
		}
		if (!all || (current != null && current.isStalled())) {
			this.engine.addBacklog(this);
		}
	}

	/** Ends the connection because the oldest request failed; the peer is told. */
	protected abstract void cannotExecute(C current, WorkStatus status);

	/** The way to the peer is gone, and with it what was posted from the oldest on. */
	protected final void lost(WorkStatus status, String detail) {
		this.sends.failAt(this.sends.queue().head(), status);
		enterError(new QueuePairFault(status, Origin.LOCAL, "connection lost: " + detail), null);
	}

	/**
	 * Leaves the connection, if any, and flushes; only the first call counts.
	 * @param receiveStatus of the receive that an unfinished message occupies, if not
	 * flushed
	 */
	public final void enterError(QueuePairFault cause, @Nullable WorkStatus receiveStatus) {
		if (this.state == QueuePairState.ERROR || this.state == QueuePairState.CLOSED) {
			return;
		}
		this.fault = cause;
		this.state = QueuePairState.ERROR;
		C current = this.connection;
		if (current != null) {
			takeUnfinished(current, (receiveStatus != null) ? receiveStatus : WorkStatus.FLUSHED);
			leaveConnection();
		}
		if (!this.reporter.flush()) {
			this.engine.addBacklog(this);
		}
	}

	private void takeUnfinished(C current, WorkStatus status) {
		PostedReceive unfinished = current.unfinishedReceive();
		if (unfinished != null) {
			this.reporter.takeUnfinished(unfinished, status);
		}
	}

	private void leaveConnection() {
		C current = this.connection;
		if (current == null) {
			return;
		}
		leave(current);
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

	/** Says what is still to be said and gives everything back; may be repeated. */
	protected abstract void leave(C current);

	/** Claims the queue pair for a connection attempt. */
	public final void beginConnecting() {
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
	public final void connectingFailed() {
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
	 * @param maker makes it, with the lock
	 * @param ended run once when it is over
	 * @return false if the queue pair was disconnected or closed meanwhile
	 */
	protected final boolean established(ConnectionMaker<C> maker, @Nullable Runnable ended) throws IOException {
		this.engine.lock();
		try {
			if (this.state != QueuePairState.CONNECTING) {
				return false;
			}
			C created = maker.make();
			this.engine.register(created);
			attach(created, ended);
			return true;
		}
		finally {
			this.engine.unlock();
		}
	}

	/** Makes a connection this queue pair's; the caller holds the lock. */
	public final void attach(C established, @Nullable Runnable ended) {
		this.connection = established;
		this.connectionEnded = ended;
		this.state = QueuePairState.READY_TO_SEND;
		serve();
	}

	/** Begins the orderly end of the connection. */
	public final void disconnect() {
		this.engine.lock();
		try {
			QueuePairState current = this.state;
			if (current == QueuePairState.READY_TO_SEND) {
				this.drainDeadline = System.nanoTime() + this.drainTimeout.toNanos();
				this.engine.addDraining(this);
				this.state = QueuePairState.DRAINING;
				this.sends.limitToPosted();
				serve();
			}
			else if (current == QueuePairState.INITIALIZED || current == QueuePairState.CONNECTING) {
				enterError(new QueuePairFault(WorkStatus.FLUSHED, Origin.DISCONNECT,
						"disconnected before the connection was established"), null);
			}
		}
		finally {
			this.engine.unlock();
		}
	}

	/** Whether an orderly disconnect is over; ends it when its time is. */
	final boolean drainEnded(long now) {
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

	final long drainDeadline() {
		return this.drainDeadline;
	}

	/** The completion queue is closing; the caller holds the lock. */
	final void completionQueueClosed() {
		endWith(new QueuePairFault(WorkStatus.FLUSHED, Origin.LOCAL, "completion queue was closed"));
	}

	private void endWith(QueuePairFault cause) {
		try {
			enterError(cause, null);
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	/**
	 * Leaves the connection at once and forgets what was posted, but for the receives it
	 * has taken from a shared queue: those are reported, for they are missing there.
	 */
	public final void close() {
		this.engine.lock();
		try {
			if (this.state == QueuePairState.CLOSED) {
				return;
			}
			this.state = QueuePairState.CLOSED;
			C current = this.connection;
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
			leaveConnection();
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	private void forget() {
		this.reporter.clear();
		this.completionQueue.detach(this, this.reporter.source(), this.reporter.sharesReceives());
		this.engine.removeDisconnected(this.listenerCall);
		if (!this.reporter.flushUnfinished()) {
			this.engine.addBacklog(this);
		}
	}

	@Override
	public final String toString() {
		return this.queuePair.toString();
	}

	/**
	 * Makes a connection.
	 *
	 * @param <C> type of the connection
	 */
	@FunctionalInterface
	protected interface ConnectionMaker<C> {

		/** Makes the connection; called with the engine's lock. */
		C make();

	}

}
