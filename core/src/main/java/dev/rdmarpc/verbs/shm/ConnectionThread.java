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
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * The daemon thread of a device on which connections begin: it accepts, connects, and
 * exchanges what both sides have to know. Data does not pass here.
 *
 * <p>
 * Implementation notes. Other threads hand over tasks through a queue and wake the
 * selector; handlers, deadlines and the selector's keys are touched by this thread alone.
 * The thread is started by the first task and ends after {@link #shutDown()}. Nothing
 * else ends it: whatever a handler or a task throws concerns that handler.
 */
final class ConnectionThread implements Runnable {

	/** How long to wait after the selector has failed. */
	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final String deviceName;

	private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	private final Map<QueuePair, SetupHandler> attempts = new ConcurrentHashMap<>();

	private final Set<SetupHandler> handlers = new HashSet<>();

	private final long epoch = System.nanoTime();

	private final PriorityQueue<SetupHandler> deadlines = new PriorityQueue<>(
			Comparator.comparingLong((handler) -> handler.deadlineNanos() - this.epoch));

	private final RateLimitedLogger failures = new RateLimitedLogger(LoggerFactory.getLogger(ConnectionThread.class));

	private @Nullable Selector selector;

	private volatile @Nullable Thread thread;

	private volatile boolean stopping;

	ConnectionThread(String deviceName) {
		this.deviceName = deviceName;
	}

	/** Runs a task on the thread, starting it if need be; does nothing at the end. */
	void execute(Runnable task) {
		this.tasks.add(task);
		Selector current = started();
		if (current != null) {
			current.wakeup();
		}
	}

	/**
	 * Starts the thread if need be: before there is anything that would be left behind if
	 * that fails.
	 */
	void start() {
		started();
	}

	private synchronized @Nullable Selector started() {
		Selector current = this.selector;
		if (current == null && !this.stopping) {
			current = open();
		}
		return current;
	}

	/** Starts the thread; where that fails, the next task tries again. */
	private Selector open() {
		Selector opened = null;
		boolean running = false;
		try {
			opened = Selector.open();
			this.selector = opened;
			Thread created = new Thread(this, "rdma-connections-" + this.deviceName);
			created.setDaemon(true);
			created.start();
			this.thread = created;
			running = true;
			return opened;
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "cannot open a selector: " + ex.getMessage(), ex);
		}
		finally {
			if (!running) {
				this.selector = null;
				SetupHandler.closeQuietly(opened);
			}
		}
	}

	/** Registers a handler's channel; on the thread. */
	SelectionKey register(SelectableChannel channel, int interest, SetupHandler handler) throws IOException {
		SelectionKey key = channel.register(selector(), interest, handler);
		add(handler);
		return key;
	}

	/** Adds a handler that has no channel yet; on the thread. */
	void add(SetupHandler handler) {
		if (this.handlers.add(handler)) {
			this.deadlines.add(handler);
		}
	}

	/** Gives a handler another deadline, unless it is finished; on the thread. */
	void postpone(SetupHandler handler, long deadlineNanos) {
		this.deadlines.remove(handler);
		handler.deadlineNanos(deadlineNanos);
		if (!handler.isFinished()) {
			this.deadlines.add(handler);
		}
	}

	/** How many handlers the thread holds on to; on the thread, for tests. */
	int held() {
		return Math.max(this.handlers.size(), this.deadlines.size());
	}

	/** Gives a channel free for another selector; on the thread. */
	void deregister(SelectableChannel channel) throws IOException {
		SelectionKey key = channel.keyFor(selector());
		if (key != null) {
			key.cancel();
			releaseClosed();
		}
	}

	/** Has the selector let go of channels that are closed; on the thread. */
	void releaseClosed() throws IOException {
		selector().selectNow((selected) -> {
			// What is ready stays ready.
		});
	}

	/** Notes the attempt of a queue pair, so that it can be abandoned. */
	void addAttempt(QueuePair queuePair, SetupHandler handler) {
		this.attempts.put(queuePair, handler);
	}

	void removeAttempt(QueuePair queuePair) {
		this.attempts.remove(queuePair);
	}

	/**
	 * Abandons the connection attempt of a queue pair, if there is one; from any thread.
	 * Does not throw: without memory to do it at once, the attempt ends in its time.
	 */
	@SuppressWarnings("UnusedException")
	void abandon(QueuePair queuePair) {
		SetupHandler handler = this.attempts.get(queuePair);
		if (handler == null) {
			return;
		}
		try {
			execute(() -> {
				if (!handler.isFinished()) {
					fail(handler, new VerbsException(VerbsError.CLOSED, queuePair + " was closed or disconnected"));
				}
			});
		}
		catch (Throwable ex) {
			// there is no memory to tell of it
		}
	}

	private void unexpected(Throwable ex) {
		this.failures.log(Level.ERROR, "Unexpected failure on the connection thread of {}", this.deviceName, ex);
	}

	/** Closes all listeners and fails all attempts. */
	void stopAccepting() {
		synchronized (this) {
			if (this.selector == null) {
				return;
			}
		}
		execute(() -> {
			for (SetupHandler handler : new ArrayList<>(this.handlers)) {
				if (!handler.isFinished()) {
					fail(handler, new VerbsException(VerbsError.CLOSED, "device " + this.deviceName + " was closed"));
				}
			}
		});
	}

	/** Ends the thread when its tasks are done. */
	void shutDown() {
		Selector current;
		synchronized (this) {
			this.stopping = true;
			current = this.selector;
		}
		if (current != null) {
			current.wakeup();
		}
	}

	/** Whether the thread was started and runs no more. */
	boolean hasEnded() {
		Thread current = this.thread;
		return current != null && !current.isAlive();
	}

	private synchronized Selector selector() {
		Selector current = this.selector;
		if (current == null) {
			throw new IllegalStateException("connection thread was not started");
		}
		return current;
	}

	@Override
	public void run() {
		Selector current = selector();
		boolean ended = false;
		while (!ended) {
			try {
				serve(current);
				ended = true;
			}
			catch (Throwable ex) {
				// thrown while another failure was reported; there is nothing left to say
				LockSupport.parkNanos(PAUSE_NANOS);
			}
		}
		SetupHandler.closeQuietly(current);
	}

	private void serve(Selector current) {
		List<SelectionKey> ready = new ArrayList<>();
		while (!(this.stopping && this.handlers.isEmpty() && this.tasks.isEmpty())) {
			Thread.interrupted();
			try {
				current.select(ready::add, untilDeadline());
			}
			catch (Throwable ex) {
				unexpected(ex);
				LockSupport.parkNanos(PAUSE_NANOS);
			}
			try {
				ready.forEach(this::handle);
				ready.clear();
				runTasks();
				checkDeadlines();
				forgetFinished();
			}
			catch (Throwable ex) {
				unexpected(ex);
			}
		}
	}

	/**
	 * Lets go of what is finished, also where its deadline is not the next: handlers keep
	 * queue pairs.
	 */
	private void forgetFinished() {
		if (this.handlers.removeIf(SetupHandler::isFinished)) {
			this.deadlines.removeIf(SetupHandler::isFinished);
		}
	}

	private void handle(SelectionKey key) {
		SetupHandler handler = (SetupHandler) key.attachment();
		if (handler.isFinished()) {
			return;
		}
		try {
			handler.ready();
		}
		catch (CancelledKeyException | IOException | VerbsException ex) {
			fail(handler, ex);
		}
		catch (Throwable ex) {
			unexpected(ex);
			fail(handler, ex);
		}
	}

	private void fail(SetupHandler handler, Throwable cause) {
		try {
			handler.failed(cause);
		}
		catch (Throwable ex) {
			unexpected(ex);
			closeSocket(handler);
		}
	}

	/** Sees to it that a handler that cannot even fail is not called again. */
	private void closeSocket(SetupHandler handler) {
		handler.finish();
		for (SelectionKey key : selector().keys()) {
			if (key.attachment() == handler) {
				SetupHandler.closeQuietly(key.channel());
			}
		}
	}

	private void runTasks() {
		Runnable task = this.tasks.poll();
		while (task != null) {
			try {
				task.run();
			}
			catch (Throwable ex) {
				unexpected(ex);
			}
			task = this.tasks.poll();
		}
	}

	private void checkDeadlines() {
		long now = System.nanoTime();
		SetupHandler first = this.deadlines.peek();
		while (first != null && (first.isFinished() || first.deadlineNanos() - now <= 0)) {
			this.deadlines.remove();
			if (!first.isFinished()) {
				timeOut(first);
			}
			first = this.deadlines.peek();
		}
	}

	private void timeOut(SetupHandler handler) {
		try {
			handler.timedOut();
		}
		catch (Throwable ex) {
			unexpected(ex);
			fail(handler, ex);
		}
	}

	/** Milliseconds until the next deadline, 0 for ever. */
	private long untilDeadline() {
		if (!this.tasks.isEmpty()) {
			return 1;
		}
		SetupHandler first = this.deadlines.peek();
		if (first == null) {
			return 0;
		}
		return Math.max(1, TimeUnit.NANOSECONDS.toMillis(first.deadlineNanos() - System.nanoTime()) + 1);
	}

}
