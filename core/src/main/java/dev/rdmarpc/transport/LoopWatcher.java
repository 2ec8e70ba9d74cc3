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

package dev.rdmarpc.transport;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Watches the loops of a transport: one whose thread runs users' code for too long goes
 * on with another thread.
 *
 * <p>
 * Implementation notes. The watcher looks as long as a thread was away when it looked or
 * has left meanwhile, and sleeps otherwise. A thread says that it is away before it asks
 * whether the watcher sleeps, and the watcher says that it sleeps before it looks a last
 * time, so that it is woken whenever one is away.
 *
 * <p>
 * When it looks again is up to {@link LookInterval}: a task that is shorter than the
 * interval is seldom looked at, and none is away for longer than
 * {@link LookInterval#QUIET_NANOS} without being noticed.
 */
final class LoopWatcher implements AutoCloseable {

	/** For how long users' code may hold up a loop. */
	static final long HELD_UP_NANOS = 1_000_000;

	private final List<LoopThread> loops = new CopyOnWriteArrayList<>();

	private final AtomicInteger followerNumber = new AtomicInteger();

	private final ExecutorService followers = Executors.newCachedThreadPool((task) -> {
		Thread follower = new Thread(task, "rdma-rpc-follower-" + this.followerNumber.incrementAndGet());
		follower.setDaemon(true);
		return follower;
	});

	private final LoopFailures failures = new LoopFailures();

	private final Thread thread;

	private volatile boolean asleep;

	private volatile boolean leftLately;

	private volatile boolean closed;

	private final LookInterval interval = new LookInterval(HELD_UP_NANOS);

	LoopWatcher() {
		this.thread = new Thread(this::run, "rdma-rpc-watcher");
		this.thread.setDaemon(true);
		this.thread.start();
	}

	void add(LoopThread loop) {
		this.loops.add(loop);
	}

	void remove(LoopThread loop) {
		this.loops.remove(loop);
	}

	/** A loop's thread has gone to run users' code. Any thread. */
	void left() {
		if (!this.leftLately) {
			this.leftLately = true;
		}
		if (this.asleep) {
			LockSupport.unpark(this.thread);
		}
	}

	/** Has a loop driven by another thread; one more is made if none is idle. */
	void follow(Runnable task) {
		this.followers.execute(task);
	}

	private void run() {
		boolean late = false;
		while (!this.closed) {
			try {
				if (look(late)) {
					long nanos = this.interval.nanos();
					long start = System.nanoTime();
					LockSupport.parkNanos(this, nanos);
					late = System.nanoTime() - start - nanos > HELD_UP_NANOS;
				}
				else {
					sleep();
				}
			}
			catch (Throwable ex) {
				// there may be no memory for a thread; the next look tries again
				this.failures.report(this.thread, ex);
				LockSupport.parkNanos(this, HELD_UP_NANOS);
			}
		}
	}

	private boolean look(boolean late) {
		boolean busy = this.leftLately;
		if (busy) {
			this.leftLately = false;
		}
		long now = System.nanoTime();
		long longest = 0;
		for (LoopThread loop : this.loops) {
			longest = Math.max(longest, loop.watch(now, late));
		}
		this.interval.looked(now, longest);
		return busy || longest > 0;
	}

	private void sleep() {
		this.asleep = true;
		try {
			if (!look(true) && !this.closed) {
				LockSupport.park(this);
			}
		}
		finally {
			this.asleep = false;
		}
		if (Thread.interrupted()) {
			this.leftLately = true;
		}
	}

	/** Ends the watcher; loops are closed already. */
	@Override
	public void close() {
		this.closed = true;
		LockSupport.unpark(this.thread);
		this.followers.shutdown();
	}

}
