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
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.iwarp.rdmap.ConnectionParameters;
import dev.rdmarpc.verbs.iwarp.rdmap.ProtocolViolation;
import dev.rdmarpc.verbs.iwarp.rdmap.StagingMemory;
import dev.rdmarpc.verbs.iwarp.rdmap.StreamBuffers;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.support.CompletionRing;
import dev.rdmarpc.verbs.support.ListenerCall;
import dev.rdmarpc.verbs.support.ScheduledStack;
import dev.rdmarpc.verbs.support.SteadyLock;

/**
 * The engine of a completion queue: one lock, one selector, and the connections whose
 * work completes there.
 *
 * <p>
 * Implementation notes. Whoever polls or awaits holds {@link #lock} while connections
 * advance; nobody holds it while blocked in the selector. A posting thread never waits
 * for the lock: it pushes its queue pair onto the {@link ScheduledStack} and tries the
 * lock once. If that fails, the holder looks at the stack after it has unlocked and, if
 * it is not empty, tries again itself; push before try and unlock before look make sure
 * that one of the two sees the other.
 *
 * <p>
 * No step of one connection fails that of another: what a connection's step cannot handle
 * ends that connection alone ({@link ConnectionLifecycle}), and {@link #leaveFailed()}
 * repeats what could not be done for want of memory.
 *
 * <p>
 * The selector is used by one thread at a time: by the awaiting thread while
 * {@link #selecting} is set, otherwise by holders of the lock. A thread that polls while
 * another awaits reads some connections in turn instead of selecting.
 */
final class Reactor {

	/** Up to so many connections are read without asking the selector first. */
	private static final int DIRECT_CONNECTIONS = 8;

	/** Fruitless reads after which a connection is read less often. */
	private static final int IDLE_READS = 256;

	/** An idle connection among several is read once in so many polls. */
	private static final int IDLE_STRIDE = 16;

	/** As many changes of interest as a selector collects before it is asked. */
	private static final int MAX_INTEREST_CHANGES = 256;

	/** How soon what has failed is tried again while a thread awaits. */
	private static final long REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	private final CompletionRing completions;

	private final SteadyLock lock = new SteadyLock();

	private final Selector selector;

	private final SplittableRandom random;

	private final StreamBuffers buffers;

	private final ScheduledStack scheduled = new ScheduledStack();

	private final List<Connection> connections = new ArrayList<>();

	/**
	 * Emptied by whoever has it filled, so that it keeps nobody alive. Belongs to the
	 * thread that selects.
	 */
	private final ArrayList<Connection> ready = new ArrayList<>();

	private final ArrayDeque<ConnectionLifecycle> backlog = new ArrayDeque<>();

	private final ReactorDeadlines deadlines = new ReactorDeadlines(this);

	private final ArrayDeque<ListenerCall> disconnected = new ArrayDeque<>();

	/** Kept, because a method reference made per call would be garbage per call. */
	private final Consumer<SelectionKey> readyAction;

	private final RateLimitedLogger failures = new RateLimitedLogger(LoggerFactory.getLogger(Reactor.class));

	private final RateLimitedLogger shortages = new RateLimitedLogger(LoggerFactory.getLogger(Reactor.class));

	private boolean selecting;

	private boolean failed;

	private boolean moved;

	private boolean upkeepDue;

	private int interestChanges;

	private int turn;

	private int polls;

	Reactor(CompletionRing completions, StreamBuffers buffers, SecureRandom secureRandom) {
		this.completions = completions;
		this.buffers = buffers;
		this.readyAction = this::addReady;
		this.random = new SplittableRandom(secureRandom.nextLong());
		try {
			this.selector = Selector.open();
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "cannot open a selector: " + ex.getMessage(), ex);
		}
	}

	private void addReady(SelectionKey key) {
		if (key.attachment() instanceof Connection connection) {
			this.ready.add(connection);
		}
	}

	/** Reports what must not happen; throws nothing. */
	void unexpected(ConnectionLifecycle lifecycle, Throwable ex) {
		this.failures.log(Level.ERROR, "Unexpected failure in {}, ending its connection", lifecycle, ex);
	}

	/** Notes that a connection has still to be left, because that has failed. */
	void repeatFailed() {
		this.failed = true;
	}

	/** The time until the next step has to be made, at most the given one. */
	long until(long timeoutNanos) {
		return this.deadlines.until(this.failed ? Math.min(timeoutNanos, REPEAT_NANOS) : timeoutNanos);
	}

	/** Leaves connections that could not be left before. */
	void leaveFailed() {
		if (!this.failed) {
			return;
		}
		this.failed = false;
		for (int i = this.connections.size() - 1; i >= 0; i--) {
			ConnectionLifecycle lifecycle = this.connections.get(i).lifecycle();
			if (lifecycle.hasFailed()) {
				lifecycle.serve();
			}
		}
	}

	void lock() {
		this.lock.lock();
	}

	/** Unlocks, and sees to what others have scheduled meanwhile. */
	void unlock() {
		this.lock.unlock();
		runScheduledIfUnlocked();
	}

	ListenerCall newListenerCall(QueuePair queuePair) {
		return new ListenerCall(queuePair, this.lock);
	}

	/** Unlocks and calls listeners of connections that have ended. */
	void unlockAndNotify() {
		try {
			while (!this.disconnected.isEmpty()) {
				ListenerCall call = this.disconnected.remove();
				this.lock.unlock();
				try {
					call.make();
				}
				finally {
					this.lock.lock();
				}
			}
		}
		finally {
			unlock();
		}
	}

	/** Has a queue pair served at the next opportunity; needs no lock. */
	void schedule(ScheduledStack.Node node) {
		this.scheduled.push(node);
	}

	/** Serves what is scheduled unless another thread is about to; needs no lock. */
	void runScheduledIfUnlocked() {
		while (!this.scheduled.isEmpty() && this.lock.tryLock()) {
			try {
				this.scheduled.serveAll();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/** Serves what is scheduled. */
	void runScheduled() {
		this.scheduled.serveAll();
	}

	/** Serves queue pairs that had waited for room in the completion queue. */
	void runBacklog() {
		for (int i = this.backlog.size(); i > 0 && hasRoom(); i--) {
			ConnectionLifecycle lifecycle = this.backlog.remove();
			lifecycle.backlogged(false);
			lifecycle.serve();
		}
	}

	/** Notes that a queue pair has more to report than there is room for. */
	void addBacklog(ConnectionLifecycle lifecycle) {
		if (!lifecycle.isBacklogged()) {
			this.backlog.add(lifecycle);
			lifecycle.backlogged(true);
		}
	}

	/** Notes that the listener of a queue pair is to be called. */
	void addDisconnected(ListenerCall call) {
		this.disconnected.add(call);
		if (this.selecting) {
			this.selector.wakeup();
		}
	}

	void removeDisconnected(ListenerCall call) {
		this.disconnected.remove(call);
	}

	ReactorDeadlines deadlines() {
		return this.deadlines;
	}

	/** Notes that bytes went through a socket. */
	void moved() {
		this.moved = true;
	}

	/** Whether bytes have moved since the last time. */
	boolean takeMoved() {
		boolean taken = this.moved;
		this.moved = false;
		return taken;
	}

	boolean hasRoom() {
		return this.completions.hasRoom();
	}

	/** Advances connections without waiting, as many as is cheap. */
	void advance() {
		this.polls++;
		leaveFailed();
		int count = this.connections.size();
		if (this.selecting || count <= DIRECT_CONNECTIONS) {
			advanceDirectly(count);
		}
		else {
			this.ready.ensureCapacity(count);
			selectNow(this.readyAction);
			advanceReady();
		}
		this.deadlines.checkNowAndThen(this.polls);
		finishUpkeep();
	}

	private void advanceDirectly(int count) {
		boolean guarded = count > 1;
		int steps = Math.min(count, DIRECT_CONNECTIONS);
		for (int i = 0; i < steps && hasRoom(); i++) {
			int size = this.connections.size();
			if (size == 0) {
				return;
			}
			this.turn = (this.turn + 1 < size) ? this.turn + 1 : 0;
			Connection connection = this.connections.get(this.turn);
			if (guarded && connection.idleReads() > IDLE_READS && (this.polls + i) % IDLE_STRIDE != 0) {
				continue;
			}
			connection.lifecycle().advance();
		}
	}

	/** Advances what the selector has found ready. */
	void advanceReady() {
		for (int i = 0; i < this.ready.size(); i++) {
			this.ready.get(i).lifecycle().advance();
		}
		this.ready.clear();
	}

	/** Sees to sockets that have left or changed; what is ready stays so. */
	void finishUpkeep() {
		if (this.upkeepDue && !this.selecting) {
			selectNow(Reactor::leaveReady);
		}
	}

	private static void leaveReady(SelectionKey key) {
	}

	private void selectNow(Consumer<SelectionKey> action) {
		this.upkeepDue = false;
		try {
			this.selector.selectNow(action);
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "selector failed: " + ex.getMessage(), ex);
		}
	}

	/** Claims the selector for a blocking {@link #select}. */
	void beginSelect() {
		if (this.selecting) {
			throw new VerbsException(VerbsError.INVALID_STATE, "another thread awaits the completion queue");
		}
		this.ready.ensureCapacity(this.connections.size());
		this.selecting = true;
		if (!this.backlog.isEmpty()) {
			this.selector.wakeup();
		}
	}

	/**
	 * Blocks until a connection is ready or somebody wakes the selector; without the
	 * lock.
	 */
	void select(long timeoutNanos) {
		long millis = TimeUnit.NANOSECONDS.toMillis(timeoutNanos + 999_999);
		try {
			this.selector.select(this.readyAction, Math.max(1, millis));
		}
		catch (ClosedSelectorException ex) {
			// The completion queue was closed; the caller finds out.
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "selector failed: " + ex.getMessage(), ex);
		}
	}

	void endSelect() {
		this.selecting = false;
		this.upkeepDue = true;
	}

	boolean isSelecting() {
		return this.selecting;
	}

	void wakeUp() {
		this.selector.wakeup();
	}

	/**
	 * Notes that a key's interest has changed, so that a blocked selector sees it. A
	 * selector that nobody asks would collect the changes without end.
	 */
	void interestChanged() {
		if (this.selecting) {
			this.selector.wakeup();
		}
		else if (++this.interestChanges % MAX_INTEREST_CHANGES == 0) {
			this.upkeepDue = true;
		}
	}

	/** Takes over the bytes of an established connection. */
	Connection register(ConnectionLifecycle lifecycle, ByteStream bytes, ConnectionParameters parameters)
			throws IOException {
		Connection connection = lifecycle.newConnection(bytes, parameters);
		this.connections.add(connection);
		boolean registered = false;
		try {
			bytes.watch(this.selector, SelectionKey.OP_READ, connection);
			registered = true;
			interestChanged();
			return connection;
		}
		finally {
			if (!registered) {
				deregister(connection);
			}
		}
	}

	/** Takes a stream out of the selector. */
	void unwatch(ByteStream bytes) {
		bytes.unwatch();
		this.upkeepDue = true;
		if (this.selecting) {
			this.selector.wakeup();
		}
		else {
			selectNow(Reactor::leaveReady);
		}
	}

	void deregister(Connection connection) {
		this.connections.remove(connection);
	}

	StreamBuffers buffers() {
		return this.buffers;
	}

	/**
	 * Allocates memory for what a connection has begun. If there is none, connections end
	 * that have held some for longest: a peer that goes on is not among them for long.
	 * @throws ProtocolViolation if it is the connection itself that ends
	 */
	StagingMemory.Block allocateStaging(int bytes, Connection connection) throws ProtocolViolation {
		while (true) {
			StagingMemory.Block block = this.buffers.staging().tryAllocate(bytes);
			if (block != null) {
				return block;
			}
			Connection eldest = eldestHolder(connection);
			ProtocolViolation violation = ProtocolViolation.ofStream(TerminateError.MPA_LOCAL_CATASTROPHIC,
					"memory for frames that are not complete, " + this.buffers.staging().totalBytes()
							+ " bytes, is used up, and the connection has held some for longest");
			this.shortages.log(Level.WARN, "Ending {}: {}", eldest.lifecycle(), violation.getMessage());
			if (eldest == connection) {
				throw violation;
			}
			eldest.end(violation);
		}
	}

	private Connection eldestHolder(Connection asking) {
		Connection eldest = asking;
		long least = (asking.stream().holdingSince() != 0) ? asking.stream().holdingSince() : Long.MAX_VALUE;
		for (int i = 0; i < this.connections.size(); i++) {
			Connection candidate = this.connections.get(i);
			long since = candidate.stream().holdingSince();
			if (since != 0 && since < least) {
				eldest = candidate;
				least = since;
			}
		}
		return eldest;
	}

	SplittableRandom random() {
		return this.random;
	}

	/** Closes the selector and lets go of the memory; no connection is left. */
	void close() {
		this.lock.lock();
		try {
			this.buffers.close();
		}
		finally {
			this.lock.unlock();
		}
		try {
			this.selector.close();
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "cannot close a selector: " + ex.getMessage(), ex);
		}
	}

}
