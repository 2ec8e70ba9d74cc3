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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * The one thread on which a device sets up, watches and ends connections. It takes the
 * connection manager's events, runs what other threads ask of it, and keeps their
 * time-outs. All ids are created, used and destroyed here, so that no event is ever
 * attributed to an id that has gone.
 *
 * <p>
 * Nothing that fails ends the thread: not a task, not the handler of an event, and not
 * the connection manager. When that has told nothing but failures for
 * {@value #GIVE_UP_SECONDS} seconds, everything that waits for its events fails as if the
 * adapter had been removed, and the thread does not count as running until there is an
 * answer again.
 */
final class DisniConnectionThread {

	private static final Logger logger = LoggerFactory.getLogger(DisniConnectionThread.class);

	/**
	 * An iWARP adapter may want to see an attempt time out before it lets go of an id.
	 */
	private static final long PATIENCE_MILLIS = TimeUnit.SECONDS.toMillis(40);

	private static final int GIVE_UP_SECONDS = 10;

	/** Between two questions to a connection manager that fails. */
	private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private final Adapter adapter;

	private final ConnectionVerbs verbs;

	private final Thread thread;

	private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	private final Map<Long, IdHandler> handlers = new HashMap<>();

	private final PriorityQueue<Deadline> deadlines = new PriorityQueue<>();

	private final ConnectionEvent event = new ConnectionEvent();

	private final Runnable whenRemoved;

	private final CompletableFuture<Void> ended = new CompletableFuture<>();

	private final long giveUpNanos;

	private volatile boolean stopped;

	private volatile boolean givenUp;

	private long failingSince;

	private int lastGeneration;

	private boolean failing;

	/**
	 * Creates the thread, which is to be started.
	 * @param whenRemoved called when the connection manager says that the adapter has
	 * gone
	 */
	DisniConnectionThread(Adapter adapter, ConnectionVerbs verbs, Runnable whenRemoved) {
		this(adapter, verbs, whenRemoved, TimeUnit.SECONDS.toNanos(GIVE_UP_SECONDS));
	}

	DisniConnectionThread(Adapter adapter, ConnectionVerbs verbs, Runnable whenRemoved, long giveUpNanos) {
		this.adapter = adapter;
		this.verbs = verbs;
		this.whenRemoved = whenRemoved;
		this.giveUpNanos = giveUpNanos;
		this.thread = new Thread(this::run, "rdma-rpc-" + adapter.name());
		this.thread.setDaemon(true);
	}

	/** Starts the thread; closes the connection manager if there cannot be one. */
	void start() throws IOException {
		try {
			this.thread.start();
		}
		catch (OutOfMemoryError ex) {
			this.verbs.close();
			throw new IOException("no thread for connections: " + ex.getMessage(), ex);
		}
	}

	boolean isRunning() {
		return this.thread.isAlive() && !this.stopped && !this.givenUp;
	}

	Adapter adapter() {
		return this.adapter;
	}

	ConnectionVerbs verbs() {
		return this.verbs;
	}

	/** Runs something on this thread, soon. After the end it is forgotten. */
	void execute(Runnable task) {
		this.tasks.add(task);
		if (Thread.currentThread() != this.thread && !this.stopped) {
			try {
				this.verbs.wake();
			}
			catch (IOException ex) {
				logger.debug("Connection thread cannot be woken", ex);
			}
		}
	}

	/**
	 * Waits for what was asked of this thread; on this thread does it at once.
	 * @throws java.util.concurrent.CompletionException if it has failed
	 * @throws VerbsException with {@link VerbsError#CLOSED} if the thread has ended
	 * before
	 */
	void join(CompletableFuture<?> done) {
		if (Thread.currentThread() == this.thread) {
			runTasks();
		}
		CompletableFuture.anyOf(done, this.ended).join();
		if (!done.isDone()) {
			throw new VerbsException(VerbsError.CLOSED, "connection thread has ended");
		}
	}

	boolean isCurrent() {
		return Thread.currentThread() == this.thread;
	}

	/** Marks the work requests of a new connection. On this thread only. */
	int nextGeneration() {
		this.lastGeneration = (this.lastGeneration + 1) & WorkId.MASK;
		return this.lastGeneration;
	}

	/** Creates an id. On this thread only. */
	long createId(IdHandler handler) throws IOException {
		long id = this.verbs.createId();
		this.handlers.put(id, handler);
		return id;
	}

	/** Has somebody told of an id's events. On this thread only. */
	void handle(long id, IdHandler handler) {
		this.handlers.put(id, handler);
	}

	/** Destroys an id, unless that was done. On this thread only. */
	void closeId(long id) {
		if (this.handlers.remove(id) != null) {
			try {
				this.verbs.closeId(id);
			}
			catch (IOException ex) {
				logger.debug("Id was not destroyed", ex);
			}
		}
	}

	/** Runs something later. On this thread only. */
	Deadline schedule(long delayNanos, Runnable task) {
		Deadline deadline = new Deadline(System.nanoTime() + delayNanos, task);
		this.deadlines.add(deadline);
		return deadline;
	}

	private void run() {
		try {
			while (!this.stopped) {
				step();
			}
			new ArrayList<>(this.handlers.keySet()).forEach(this::closeId);
			this.verbs.close();
		}
		catch (IOException ex) {
			logger.debug("Connection manager was not closed", ex);
		}
		finally {
			this.ended.complete(null);
		}
	}

	private void step() {
		try {
			runTasks();
			if (!this.stopped && awaitEvent()) {
				if (this.event.type() == ConnectionEventType.DEVICE_REMOVAL) {
					this.whenRemoved.run();
				}
				dispatch();
			}
		}
		catch (Throwable ex) {
			report("Connection thread failed at what it was asked for", ex);
		}
	}

	private boolean awaitEvent() {
		long timeoutNanos = runDeadlines();
		try {
			boolean any = this.verbs.awaitEvent(this.event, timeoutNanos);
			this.failing = false;
			this.givenUp = false;
			return any;
		}
		catch (Throwable ex) {
			if (!this.stopped) {
				awaitFailed(ex);
			}
			return false;
		}
	}

	private void awaitFailed(Throwable ex) {
		report("Connection manager failed to tell of events", ex);
		long now = System.nanoTime();
		if (!this.failing) {
			this.failing = true;
			this.failingSince = now;
		}
		if (!this.givenUp && now - this.failingSince >= this.giveUpNanos) {
			this.givenUp = true;
			logger.error("Connection manager has failed for {} ms; connections end, and no more are set up for now",
					(now - this.failingSince) / 1_000_000);
			new ArrayList<>(this.handlers.keySet()).forEach(this::remove);
		}
		LockSupport.parkNanos(this, RETRY_NANOS);
	}

	/** Tells a handler that no event will come any more. */
	private void remove(long id) {
		this.event.set(ConnectionEventType.DEVICE_REMOVAL, 0, id, 0);
		dispatch();
	}

	/** Never fails itself, even if there is no memory for the line. */
	private static void report(String what, Throwable ex) {
		try {
			failures.log(Level.ERROR, what, ex);
		}
		catch (Throwable again) {
			// there is nothing left to do with it
		}
	}

	private void runTasks() {
		Runnable task = this.tasks.poll();
		while (task != null) {
			task.run();
			task = this.tasks.poll();
		}
	}

	/**
	 * Runs what is due; returns the time until the next, or -1, or 0 if what was due has
	 * asked for something.
	 */
	private long runDeadlines() {
		while (true) {
			Deadline next = this.deadlines.peek();
			long remaining = (next != null) ? next.atNanos() - System.nanoTime() : -1;
			if (next == null || (remaining > 0 && !next.cancelled)) {
				return this.tasks.isEmpty() ? remaining : 0;
			}
			this.deadlines.remove();
			if (!next.cancelled) {
				next.task.run();
			}
		}
	}

	private void dispatch() {
		boolean request = this.event.type() == ConnectionEventType.CONNECT_REQUEST;
		long id = this.event.id();
		IdHandler handler = this.handlers.get(request ? this.event.listenId() : id);
		try {
			if (handler != null) {
				handler.onEvent(this.event);
			}
		}
		catch (Throwable ex) {
			report("Connection thread failed to handle an event", ex);
		}
		if (request && !this.handlers.containsKey(id)) {
			handle(id, (later) -> {
			});
			closeId(id);
		}
	}

	/** Runs what was asked for, closes all ids, and ends. */
	void shutDown() {
		execute(() -> this.stopped = true);
		if (Thread.currentThread() == this.thread) {
			return;
		}
		boolean interrupted = false;
		while (this.thread.isAlive()) {
			try {
				this.thread.join(PATIENCE_MILLIS);
				break;
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/** Something that is to be done at a time. */
	static final class Deadline implements Comparable<Deadline> {

		private final long atNanos;

		private final Runnable task;

		private boolean cancelled;

		Deadline(long atNanos, Runnable task) {
			this.atNanos = atNanos;
			this.task = task;
		}

		long atNanos() {
			return this.atNanos;
		}

		/** It is not to be done any more. On the connection thread only. */
		void cancel() {
			this.cancelled = true;
		}

		@Override
		public int compareTo(Deadline other) {
			return Long.compare(this.atNanos - other.atNanos, 0);
		}

	}

}
