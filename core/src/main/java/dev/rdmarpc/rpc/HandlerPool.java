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

package dev.rdmarpc.rpc;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.logging.ThreadText;

/**
 * The server's own executor. A task that finds no thread idle starts one, up to a
 * maximum; beyond it tasks wait, as many as there are calls. Idle threads end.
 *
 * <p>
 * Thread-safe.
 *
 * <p>
 * Implementation notes. Everything is guarded by one lock, under which no code of others
 * runs and nobody waits. Tasks are not handed to threads: they are put into a queue, and
 * a thread is called for them, which is the one that has become idle last or a new one.
 * Few threads are on their way at once, as many as there are processors to run them, and
 * each that arrives calls the next one before it begins to work if there are still tasks.
 * So a burst of quick tasks wakes few threads rather than one for each, while tasks that
 * block get threads as fast as these can start. Nothing is left waiting: while there are
 * tasks, a thread is on its way, or none is idle and no more are permitted, because a
 * thread becomes idle, and ends, only under the lock and when there are no tasks. Where
 * threads cannot start and there are no others, what waits is refused.
 * <p>
 * Virtual threads end as soon as there is no task, because a new one costs less than a
 * timed wait.
 */
final class HandlerPool implements Executor, AutoCloseable {

	private static final RateLimitedLogger failures = new RateLimitedLogger(LoggerFactory.getLogger(HandlerPool.class));

	private static final long KEEP_ALIVE_NANOS = 10_000_000_000L;

	private static final int MOST_ARRIVING = Runtime.getRuntime().availableProcessors();

	private final ThreadFactory factory;

	private volatile int maxThreads;

	private final long keepAliveNanos;

	private final Queue<Runnable> tasks = new ArrayDeque<>();

	private final Set<Worker> workers = new LinkedHashSet<>();

	private final Deque<Worker> idle = new ArrayDeque<>();

	private int arriving;

	private volatile boolean closed;

	HandlerPool(ThreadFactory factory, int maxThreads, long keepAliveNanos) {
		this.factory = factory;
		this.maxThreads = maxThreads;
		this.keepAliveNanos = keepAliveNanos;
	}

	static HandlerPool of(HandlerOptions options, int calls) {
		int threads = threadsFor(options, calls);
		return options.threads().isVirtual() ? new HandlerPool(HandlerThreadFactory.virtual(), threads, 0)
				: new HandlerPool(HandlerThreadFactory.platform(), threads, KEEP_ALIVE_NANOS);
	}

	/** How many threads so many calls may have. */
	static int threadsFor(HandlerOptions options, int calls) {
		return options.threads().isVirtual() ? calls : Math.min(options.maxThreads(), calls);
	}

	@Override
	public void execute(Runnable task) {
		Worker called;
		synchronized (this) {
			if (this.closed) {
				throw new RejectedExecutionException("the server has stopped");
			}
			this.tasks.add(task);
			called = call();
		}
		summon(called, task);
	}

	/** Has one more thread come if there are tasks; with the lock. */
	private @Nullable Worker call() {
		if (this.tasks.isEmpty() || this.arriving >= MOST_ARRIVING) {
			return null;
		}
		Worker worker = this.idle.poll();
		if (worker == null) {
			if (this.workers.size() >= this.maxThreads) {
				return null;
			}
			worker = new Worker();
			this.workers.add(worker);
		}
		worker.called = true;
		this.arriving++;
		return worker;
	}

	/**
	 * What is done for a called thread without the lock.
	 * @param own the task of the caller, who is told with an exception if there is no
	 * thread for it
	 */
	private void summon(@Nullable Worker called, @Nullable Runnable own) {
		if (called == null) {
			return;
		}
		Thread thread = called.thread;
		if (thread != null) {
			LockSupport.unpark(thread);
			return;
		}
		try {
			start(called);
		}
		catch (Throwable ex) {
			leave(called);
			if (refuseStranded(own, ex)) {
				throw ex;
			}
			failures.log(Level.WARN, "No further thread for handlers", ex);
		}
	}

	/**
	 * Refuses what waits if there is no thread for it any more, also where several could
	 * not start at once, each of which the callers of the others had counted on.
	 * @return whether the caller's own task was among it
	 */
	private boolean refuseStranded(@Nullable Runnable own, Throwable cause) {
		boolean refused = false;
		for (Runnable task = pollStranded(); task != null; task = pollStranded()) {
			if (task == own && !refused) {
				refused = true;
			}
			else {
				refuse(task, cause);
			}
		}
		return refused;
	}

	private synchronized @Nullable Runnable pollStranded() {
		return this.workers.isEmpty() ? this.tasks.poll() : null;
	}

	private static void refuse(Runnable task, Throwable cause) {
		try {
			if (task instanceof Refusable refusable) {
				refusable.refuse(cause);
			}
			else {
				task.run();
			}
		}
		catch (Throwable ex) {
			failures.log(Level.ERROR, "A task for which there was no thread has failed", ex);
		}
	}

	private void start(Worker called) {
		Thread started = this.factory.newThread(called);
		called.thread = started;
		started.start();
	}

	/** A thread has ended, or could not start. */
	private synchronized void leave(Worker worker) {
		if (worker.called) {
			worker.called = false;
			this.arriving--;
		}
		this.workers.remove(worker);
	}

	/** Threads, idle ones included. */
	synchronized int threads() {
		return this.workers.size();
	}

	/** Threads that run a handler, or are about to. */
	synchronized int busy() {
		return this.workers.size() - this.idle.size();
	}

	int maxThreads() {
		return this.maxThreads;
	}

	/**
	 * Permits another number of threads. Those beyond it end when there are no tasks.
	 */
	void maxThreads(int threads) {
		Worker called;
		synchronized (this) {
			this.maxThreads = threads;
			called = call();
		}
		summon(called, null);
	}

	/** The threads, in the order in which they were started. */
	synchronized List<Thread> list() {
		List<Thread> threads = new ArrayList<>();
		for (Worker worker : this.workers) {
			if (worker.thread != null) {
				threads.add(worker.thread);
			}
		}
		return threads;
	}

	/** The end of a sentence that says what the first thread does. */
	String heldUpBy() {
		Thread first = list().stream().findFirst().orElse(null);
		return (first != null) ? ", busy threads: " + threads() + ", " + ThreadText.of(first) : "";
	}

	/** Drops what waits, interrupts the handlers, and ends the threads. */
	@Override
	public void close() {
		synchronized (this) {
			this.closed = true;
			this.tasks.clear();
		}
		list().forEach(Thread::interrupt);
	}

	/**
	 * A task that can be told that there is no thread for it; others run where that
	 * shows.
	 */
	interface Refusable extends Runnable {

		/** Any thread, which it may not keep. */
		void refuse(Throwable cause);

	}

	/** One thread. */
	private final class Worker implements Runnable {

		private volatile @Nullable Thread thread;

		/** Whether it is on its way; written with the lock. */
		private volatile boolean called;

		private boolean ended;

		@Override
		public void run() {
			try {
				work();
			}
			finally {
				leave(this);
			}
		}

		private void work() {
			boolean late = false;
			while (!this.ended) {
				Runnable task = next(late);
				late = false;
				if (task != null) {
					run(task);
				}
				else if (!this.ended) {
					late = !awaitCall();
				}
			}
		}

		private void run(Runnable task) {
			try {
				task.run();
			}
			catch (Throwable ex) {
				failures.log(Level.ERROR, "A thread for handlers goes on after a failure", ex);
			}
			finally {
				Thread.interrupted();
			}
		}

		/**
		 * The next task; {@code null} if the thread is idle from here on, or has ended.
		 */
		private @Nullable Runnable next(boolean late) {
			Runnable task;
			Worker other = null;
			synchronized (HandlerPool.this) {
				if (this.called) {
					this.called = false;
					HandlerPool.this.arriving--;
				}
				else if (late) {
					HandlerPool.this.idle.remove(this);
				}
				task = HandlerPool.this.tasks.poll();
				if (task != null) {
					other = call();
				}
				else if (late || HandlerPool.this.keepAliveNanos == 0 || HandlerPool.this.closed) {
					this.ended = true;
					HandlerPool.this.workers.remove(this);
				}
				else {
					HandlerPool.this.idle.push(this);
				}
			}
			summon(other, null);
			return task;
		}

		/** Waits to be called; {@code false} if that takes too long. */
		private boolean awaitCall() {
			long end = System.nanoTime() + HandlerPool.this.keepAliveNanos;
			long left = HandlerPool.this.keepAliveNanos;
			while (!this.called && left > 0 && !HandlerPool.this.closed) {
				LockSupport.parkNanos(HandlerPool.this, left);
				Thread.interrupted();
				left = end - System.nanoTime();
			}
			return this.called;
		}

	}

}
