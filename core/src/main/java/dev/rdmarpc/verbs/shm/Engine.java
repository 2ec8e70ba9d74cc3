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
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
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
 * Polling looks into the rings and makes no system call, except that every so often it
 * asks the selector whether a peer has died. The selector is used by one thread at a
 * time: by the awaiting thread while {@link #selecting} is set, otherwise by holders of
 * the lock.
 */
final class Engine {

	/** Up to so many connections are looked at in each poll. */
	private static final int DIRECT_CONNECTIONS = 8;

	/** Fruitless looks after which a connection is looked at less often. */
	private static final int IDLE_LOOKS = 256;

	/**
	 * An idle connection among many is looked at once in so many polls; a power of two.
	 */
	private static final int IDLE_STRIDE = 16;

	/** Fruitless polls between two questions to the selector; a power of two. */
	private static final int IDLE_POLLS = 512;

	/** Polls between two questions to the selector; a power of two. */
	private static final int BUSY_POLLS = 8192;

	/** How soon what has failed is tried again while a thread awaits. */
	private static final long REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	private final CompletionRing completions;

	private final SteadyLock lock = new SteadyLock();

	private final Selector selector;

	private final ScheduledStack scheduled = new ScheduledStack();

	private final List<Connection> connections = new ArrayList<>();

	/** Belongs to the thread that selects. */
	private final ArrayList<Connection> ready = new ArrayList<>();

	private final ArrayDeque<Lifecycle> backlog = new ArrayDeque<>();

	private final List<Lifecycle> draining = new ArrayList<>();

	private final ArrayDeque<ListenerCall> disconnected = new ArrayDeque<>();

	/** Kept, because a method reference made per call would be garbage per call. */
	private final Consumer<SelectionKey> readyAction;

	private final RateLimitedLogger failures = new RateLimitedLogger(LoggerFactory.getLogger(Engine.class));

	private boolean selecting;

	private boolean failed;

	private boolean moved;

	private boolean upkeepDue;

	private int polls;

	private int idlePolls;

	private int looks;

	/** Whether memory was lost without an error that says so. */
	private boolean faultDue;

	private int turn;

	private long copiedBefore;

	Engine(CompletionRing completions) {
		this.completions = completions;
		this.readyAction = this::addReady;
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
	void unexpected(Lifecycle lifecycle, Throwable ex) {
		this.failures.log(Level.ERROR, "Unexpected failure in {}, ending its connection", lifecycle, ex);
	}

	/** Notes that a connection has still to be left, because that has failed. */
	void repeatFailed() {
		this.failed = true;
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
			Lifecycle lifecycle = this.backlog.remove();
			lifecycle.backlogged(false);
			lifecycle.serve();
		}
	}

	/** Notes that a queue pair has more to report than there is room for. */
	void addBacklog(Lifecycle lifecycle) {
		if (!lifecycle.isBacklogged()) {
			this.backlog.add(lifecycle);
			lifecycle.backlogged(true);
		}
	}

	/** Notes that the listener of a queue pair is to be called. */
	void addDisconnected(ListenerCall call) {
		this.disconnected.add(call);
		wakeUpIfSelecting();
	}

	void removeDisconnected(ListenerCall call) {
		this.disconnected.remove(call);
	}

	/** Notes that a queue pair has a deadline for what it still has to send. */
	void addDraining(Lifecycle lifecycle) {
		this.draining.add(lifecycle);
		wakeUpIfSelecting();
	}

	/** Notes that bytes have moved. */
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
		int count = this.connections.size();
		if (count <= DIRECT_CONNECTIONS) {
			for (int i = count - 1; i >= 0; i--) {
				advance(i);
			}
		}
		else {
			advanceMany(count);
		}
		this.idlePolls = this.moved ? 0 : this.idlePolls + 1;
		if ((this.idlePolls & IDLE_POLLS - 1) == IDLE_POLLS - 1 || (this.polls & BUSY_POLLS - 1) == 0) {
			lookAtSockets();
		}
		finishStep();
	}

	private void advanceMany(int count) {
		this.turn++;
		for (int i = 0; i < count; i++) {
			int index = (this.turn + i) % count;
			if (index < this.connections.size()) {
				boolean idle = this.connections.get(index).idleLooks() > IDLE_LOOKS;
				if (!idle || (this.polls + index & IDLE_STRIDE - 1) == 0) {
					advance(index);
				}
			}
		}
	}

	private void advance(int index) {
		if (index < this.connections.size()) {
			this.connections.get(index).lifecycle().advance();
		}
	}

	/** Advances all connections without waiting. */
	void advanceAll() {
		for (int i = this.connections.size() - 1; i >= 0; i--) {
			advance(i);
		}
		finishStep();
	}

	private void finishStep() {
		if (this.failed) {
			leaveFailed();
		}
		if (!this.draining.isEmpty()) {
			long now = System.nanoTime();
			this.draining.removeIf((lifecycle) -> lifecycle.drainEnded(now));
		}
		if (this.upkeepDue && !this.selecting) {
			lookAtSockets();
		}
	}

	/**
	 * Ends the connections whose memory is gone, after an error that says that some is.
	 * The virtual machine may throw it later than where the memory was used, even when
	 * the connection has ended.
	 * @return whether there is, or was, one
	 */
	boolean tryEndCut() {
		boolean found = this.faultDue;
		this.faultDue = false;
		for (int i = this.connections.size() - 1; i >= 0; i--) {
			if (i < this.connections.size() && this.connections.get(i).isCut()) {
				found = true;
				this.connections.get(i).lifecycle().memoryLost();
			}
		}
		return found;
	}

	private void leaveFailed() {
		this.failed = false;
		for (int i = this.connections.size() - 1; i >= 0; i--) {
			Lifecycle lifecycle = this.connections.get(i).lifecycle();
			if (lifecycle.hasFailed()) {
				lifecycle.serve();
			}
		}
	}

	/** The time until something is to be done by itself, at most the given one. */
	long until(long timeoutNanos) {
		long least = this.failed ? Math.min(timeoutNanos, REPEAT_NANOS) : timeoutNanos;
		if (this.draining.isEmpty()) {
			return least;
		}
		long now = System.nanoTime();
		for (Lifecycle lifecycle : this.draining) {
			least = Math.min(least, Math.max(1, lifecycle.drainDeadline() - now));
		}
		return least;
	}

	/** Asks the peers to wake this side; returns false if there is something to do. */
	boolean tryFallAsleep() {
		for (int i = this.connections.size() - 1; i >= 0; i--) {
			if (i < this.connections.size() && !this.connections.get(i).lifecycle().tryFallAsleep()) {
				return false;
			}
		}
		return this.scheduled.isEmpty();
	}

	/** Sees whether peers have died or woken this side; a system call. */
	private void lookAtSockets() {
		if (this.selecting) {
			return;
		}
		this.upkeepDue = false;
		try {
			this.selector.selectNow(this.readyAction);
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "selector failed: " + ex.getMessage(), ex);
		}
		serveReady();
		int index = Math.floorMod(this.looks++, Math.max(1, this.connections.size()));
		if (index < this.connections.size() && this.connections.get(index).isCut()) {
			this.connections.get(index).lifecycle().memoryLost();
			expectFault();
		}
	}

	/** Notes that memory is gone, of which an error may still be thrown. */
	void expectFault() {
		this.faultDue = true;
	}

	private void serveReady() {
		for (int i = 0; i < this.ready.size(); i++) {
			this.ready.get(i).lifecycle().socketReady();
		}
		this.ready.clear();
	}

	/** Claims the selector for a blocking {@link #select}. */
	void beginSelect() {
		if (this.selecting) {
			throw new VerbsException(VerbsError.INVALID_STATE, "another thread awaits the completion queue");
		}
		this.selecting = true;
	}

	/**
	 * Blocks until a socket is ready or somebody wakes the selector; without the lock.
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
		serveReady();
	}

	boolean isSelecting() {
		return this.selecting;
	}

	/** Has a thread that awaits look again. */
	void wakeUpIfSelecting() {
		if (this.selecting) {
			this.selector.wakeup();
		}
	}

	/** Takes over an established connection. */
	void register(Connection connection) throws IOException {
		this.connections.add(connection);
		boolean registered = false;
		try {
			connection.watch(this.selector);
			registered = true;
			wakeUpIfSelecting();
		}
		finally {
			if (!registered) {
				deregister(connection);
			}
		}
	}

	/** Lets go of a connection whose socket is closed. */
	void deregister(Connection connection) {
		if (this.connections.remove(connection)) {
			this.copiedBefore += connection.copiedBytes();
		}
		this.upkeepDue = true;
		wakeUpIfSelecting();
	}

	long copiedBytes() {
		lock();
		try {
			long sum = this.copiedBefore;
			for (Connection connection : this.connections) {
				sum += connection.copiedBytes();
			}
			return sum;
		}
		finally {
			unlock();
		}
	}

	long mappedBytes() {
		lock();
		try {
			long sum = 0;
			for (Connection connection : this.connections) {
				sum += connection.mappedBytes();
			}
			return sum;
		}
		finally {
			unlock();
		}
	}

	/** Closes the selector; no connection is left. */
	void close() {
		try {
			this.selector.close();
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "cannot close a selector: " + ex.getMessage(), ex);
		}
	}

}
