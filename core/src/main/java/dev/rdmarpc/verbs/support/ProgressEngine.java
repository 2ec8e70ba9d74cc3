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

/**
 * The engine of a completion queue in user space: one lock, one selector, and the
 * connections whose work completes there. A provider adds how connections are advanced.
 *
 * <p>
 * Threading. Everything is guarded by the {@link #lock()}, but for what says that it
 * needs none.
 *
 * <p>
 * Implementation notes. Whoever polls or awaits holds the lock while connections advance;
 * nobody holds it while blocked in the selector. A posting thread never waits for the
 * lock: it pushes its queue pair onto the {@link ScheduledStack} and tries the lock once.
 * If that fails, the holder looks at the stack after it has unlocked and, if it is not
 * empty, tries again itself; push before try and unlock before look make sure that one of
 * the two sees the other.
 *
 * <p>
 * No step of one connection fails that of another: what a connection's step cannot handle
 * ends that connection alone ({@link QueuePairLifecycle}), and {@link #leaveFailed()}
 * repeats what could not be done for want of memory.
 *
 * <p>
 * What a peer sends at once costs others time when it is handled. So while there are
 * several connections, each completes a few receives per step, and the rest waits, for
 * the most part in its socket or ring: what has come from another peer is never behind
 * more than a few messages of each. One that is alone has no such bound.
 *
 * <p>
 * The selector is used by one thread at a time: by the awaiting thread while
 * {@link #isSelecting()}, otherwise by holders of the lock.
 *
 * @param <C> type of the connections
 */
public abstract class ProgressEngine<C extends EngineConnection> {

	/** How soon what has failed is tried again while a thread awaits. */
	private static final long REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	/** Receives that one of several connections may complete before the others. */
	private static final int SHARE = 16;

	/** How often those are looked at that disconnect, of which there may be many. */
	private static final long DRAIN_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final CompletionRing completions;

	private final SteadyLock lock = new SteadyLock();

	private final Selector selector;

	private final ScheduledStack scheduled = new ScheduledStack();

	private final List<C> connections = new ArrayList<>();

	/**
	 * Emptied by whoever has it filled, so that it keeps nobody alive. Belongs to the
	 * thread that selects.
	 */
	private final ArrayList<EngineConnection> ready = new ArrayList<>();

	private final ArrayDeque<QueuePairLifecycle<?>> backlog = new ArrayDeque<>();

	private final List<QueuePairLifecycle<?>> draining = new ArrayList<>();

	private final ArrayDeque<ListenerCall> disconnected = new ArrayDeque<>();

	/** Kept, because a method reference made per call would be garbage per call. */
	private final Consumer<SelectionKey> readyAction = this::addReady;

	private final RateLimitedLogger failures = new RateLimitedLogger(LoggerFactory.getLogger(getClass()));

	private long drainCheckNanos = System.nanoTime();

	private long steps;

	private boolean selecting;

	private boolean failed;

	private boolean moved;

	private boolean upkeepDue;

	/**
	 * Creates an engine without connections.
	 * @param capacity how many completions may wait to be polled
	 */
	protected ProgressEngine(int capacity) {
		this.completions = new CompletionRing(capacity);
		try {
			this.selector = Selector.open();
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "cannot open a selector: " + ex.getMessage(), ex);
		}
	}

	private void addReady(SelectionKey key) {
		if (key.attachment() instanceof EngineConnection connection) {
			this.ready.add(connection);
		}
	}

	/** The completions that were not polled yet. */
	final CompletionRing completions() {
		return this.completions;
	}

	/** How many steps there were: what a connection may receive is counted by them. */
	final long steps() {
		return this.steps;
	}

	/** How many receives of a connection may complete in a step. */
	final int share() {
		return (this.connections.size() > 1) ? SHARE : Integer.MAX_VALUE;
	}

	/** Whether one more completion can be added. */
	public final boolean hasRoom() {
		return this.completions.hasRoom();
	}

	/** The connections, in no particular order. */
	protected final List<C> connections() {
		return this.connections;
	}

	/** Reports what must not happen; throws nothing. */
	public final void unexpected(QueuePairLifecycle<?> lifecycle, Throwable ex) {
		this.failures.log(Level.ERROR, "Unexpected failure in {}, ending its connection", lifecycle, ex);
	}

	/** Notes that a connection has still to be left, because that has failed. */
	public final void repeatFailed() {
		this.failed = true;
	}

	/** Leaves connections that could not be left before. */
	protected final void leaveFailed() {
		if (!this.failed) {
			return;
		}
		this.failed = false;
		for (int i = this.connections.size() - 1; i >= 0; i--) {
			QueuePairLifecycle<?> lifecycle = this.connections.get(i).lifecycle();
			if (lifecycle.hasFailed()) {
				lifecycle.serve();
			}
		}
	}

	/** Takes the lock. */
	public final void lock() {
		this.lock.lock();
	}

	/** Unlocks, and sees to what others have scheduled meanwhile. */
	public final void unlock() {
		this.lock.unlock();
		runScheduledIfUnlocked();
	}

	final ListenerCall newListenerCall(QueuePair queuePair) {
		return new ListenerCall(queuePair, this.lock);
	}

	/** Unlocks and calls listeners of connections that have ended. */
	public final void unlockAndNotify() {
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
	final void schedule(ScheduledStack.Node node) {
		this.scheduled.push(node);
	}

	/** Whether no queue pair is scheduled; needs no lock. */
	protected final boolean nothingScheduled() {
		return this.scheduled.isEmpty();
	}

	/** Serves what is scheduled unless another thread is about to; needs no lock. */
	public final void runScheduledIfUnlocked() {
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
	protected final void runScheduled() {
		this.scheduled.serveAll();
	}

	/** Serves queue pairs that had waited for room in the completion queue. */
	protected final void runBacklog() {
		for (int i = this.backlog.size(); i > 0 && hasRoom(); i--) {
			QueuePairLifecycle<?> lifecycle = this.backlog.remove();
			lifecycle.backlogged(false);
			lifecycle.serve();
		}
	}

	/** Notes that a queue pair has more to report than there is room for. */
	final void addBacklog(QueuePairLifecycle<?> lifecycle) {
		if (!lifecycle.isBacklogged()) {
			this.backlog.add(lifecycle);
			lifecycle.backlogged(true);
		}
	}

	/** Notes that the listener of a queue pair is to be called. */
	final void addDisconnected(ListenerCall call) {
		this.disconnected.add(call);
		wakeUpIfSelecting();
	}

	final void removeDisconnected(ListenerCall call) {
		this.disconnected.remove(call);
	}

	/** Notes that a queue pair has a deadline for what it still has to send. */
	final void addDraining(QueuePairLifecycle<?> lifecycle) {
		this.draining.add(lifecycle);
		wakeUpIfSelecting();
	}

	/**
	 * Ends orderly disconnects that have run out of time, and forgets those that ended.
	 */
	protected final void endDrained() {
		if (this.draining.isEmpty()) {
			return;
		}
		long now = System.nanoTime();
		if (now - this.drainCheckNanos < 0) {
			return;
		}
		this.drainCheckNanos = now + DRAIN_CHECK_NANOS;
		for (int i = this.draining.size() - 1; i >= 0; i--) {
			if (this.draining.get(i).drainEnded(now)) {
				this.draining.remove(i);
			}
		}
	}

	/** Notes that bytes have moved. */
	public final void moved() {
		this.moved = true;
	}

	/** Whether bytes have moved since the last time it was {@link #takeMoved asked}. */
	protected final boolean hasMoved() {
		return this.moved;
	}

	/** Whether bytes have moved since the last time. */
	final boolean takeMoved() {
		boolean taken = this.moved;
		this.moved = false;
		return taken;
	}

	/**
	 * Makes a step of whoever polls.
	 * @param wanting whether there are fewer completions than are wanted
	 */
	protected void step(boolean wanting) {
		this.steps++;
		runScheduled();
		if (wanting) {
			runBacklog();
			advance();
		}
	}

	/** Advances connections without waiting, as many as is cheap. */
	protected abstract void advance();

	/** Makes a step of whoever awaits, before it looks for completions. */
	protected void stepBeforeAwait() {
		this.steps++;
		runScheduled();
		runBacklog();
	}

	/**
	 * Sees to it that whatever is to be done from now on ends the wait; returns false if
	 * there is something to do already.
	 */
	protected boolean tryFallAsleep() {
		return true;
	}

	/** The time until something is to be done by itself, at most the given one. */
	protected long until(long timeoutNanos) {
		long least = this.failed ? Math.min(timeoutNanos, REPEAT_NANOS) : timeoutNanos;
		if (this.draining.isEmpty()) {
			return least;
		}
		long now = System.nanoTime();
		for (QueuePairLifecycle<?> lifecycle : this.draining) {
			least = Math.min(least, lifecycle.drainDeadline() - now);
		}
		return Math.max(1, Math.max(least, Math.min(timeoutNanos, this.drainCheckNanos - now)));
	}

	/** Claims the selector for a blocking {@link #select}. */
	final void beginSelect() {
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
	 * Blocks until a socket is ready or somebody wakes the selector; without the lock.
	 */
	final void select(long timeoutNanos) {
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

	/** Gives the selector back and advances what it has found ready. */
	protected void endSelect() {
		this.selecting = false;
		serveReady();
	}

	/** Whether a thread is blocked in the selector, or about to. */
	public final boolean isSelecting() {
		return this.selecting;
	}

	/** Has a thread that awaits look again. */
	public final void wakeUpIfSelecting() {
		if (this.selecting) {
			this.selector.wakeup();
		}
	}

	/** Notes that the selector is to be asked soon, also if nobody awaits. */
	protected final void requestUpkeep() {
		this.upkeepDue = true;
	}

	/** Whether the selector is to be asked, and may be. */
	protected final boolean isUpkeepDue() {
		return this.upkeepDue && !this.selecting;
	}

	/** Asks the selector, which nobody uses, and notes which connections are ready. */
	protected final void findReady() {
		this.ready.ensureCapacity(this.connections.size());
		selectNow(this.readyAction);
	}

	/** Asks the selector, which nobody uses; a system call. */
	protected final void selectNow(Consumer<SelectionKey> action) {
		this.upkeepDue = false;
		try {
			this.selector.selectNow(action);
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "selector failed: " + ex.getMessage(), ex);
		}
	}

	/** Advances the connections that the selector has found ready. */
	protected final void serveReady() {
		for (int i = 0; i < this.ready.size(); i++) {
			this.ready.get(i).ready();
		}
		this.ready.clear();
	}

	/** Takes over an established connection. */
	final void register(C connection) throws IOException {
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

	/** Lets go of a connection that was left. */
	protected void deregister(C connection) {
		this.connections.remove(connection);
	}

	/** Payload bytes copied for its connections; the caller holds the lock. */
	protected abstract long copiedBytes();

	/** Closes the selector; no connection is left, and the caller has no lock. */
	protected void close() {
		try {
			this.selector.close();
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "cannot close a selector: " + ex.getMessage(), ex);
		}
	}

}
