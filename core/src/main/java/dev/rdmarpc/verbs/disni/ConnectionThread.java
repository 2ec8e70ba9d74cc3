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

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread on which a device sets up, watches and ends connections. It takes the
 * connection manager's events, runs what other threads ask of it, and keeps their
 * time-outs. All ids are created, used and destroyed here, so that no event is ever
 * attributed to an id that has gone.
 */
final class ConnectionThread {

	private static final Logger logger = LoggerFactory.getLogger(ConnectionThread.class);

	/**
	 * An iWARP adapter may want to see an attempt time out before it lets go of an id.
	 */
	private static final long PATIENCE_MILLIS = TimeUnit.SECONDS.toMillis(40);

	private final ConnectionVerbs verbs;

	private final Thread thread;

	private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	private final Map<Long, IdHandler> handlers = new HashMap<>();

	private final PriorityQueue<Deadline> deadlines = new PriorityQueue<>();

	private final ConnectionEvent event = new ConnectionEvent();

	private volatile boolean stopped;

	ConnectionThread(String deviceName, ConnectionVerbs verbs) {
		this.verbs = verbs;
		this.thread = new Thread(this::run, "rdma-rpc-" + deviceName);
		this.thread.setDaemon(true);
	}

	void start() {
		this.thread.start();
	}

	boolean isRunning() {
		return this.thread.isAlive() && !this.stopped;
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
	 */
	void join(CompletableFuture<?> done) {
		if (Thread.currentThread() == this.thread) {
			runTasks();
		}
		done.join();
	}

	boolean isCurrent() {
		return Thread.currentThread() == this.thread;
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
		while (!this.stopped) {
			try {
				runTasks();
				if (!this.stopped && this.verbs.awaitEvent(this.event, runDeadlines())) {
					dispatch();
				}
			}
			catch (IOException ex) {
				if (!this.stopped) {
					logger.error("Connection manager failed; no more connections are set up", ex);
					this.stopped = true;
				}
			}
			catch (RuntimeException | LinkageError ex) {
				logger.error("Connection thread failed to handle {}", this.event, ex);
			}
		}
		new ArrayList<>(this.handlers.keySet()).forEach(this::closeId);
		try {
			this.verbs.close();
		}
		catch (IOException ex) {
			logger.debug("Connection manager was not closed", ex);
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
		IdHandler handler = this.handlers.get(request ? this.event.listenId() : this.event.id());
		if (handler != null) {
			handler.onEvent(this.event);
		}
		else if (request) {
			handle(this.event.id(), (later) -> {
			});
			closeId(this.event.id());
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
