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

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.CompletionQueue;

/**
 * The thread of a loop's own: drives when nobody else does, runs the users' code that
 * turns make ready, and is replaced by a follower when that holds it up.
 *
 * <p>
 * Implementation notes: see {@link LoopDriver}, whose role it takes, and
 * {@link DriverLeave}, which decides between coming back and being replaced. The leave in
 * the field names the thread that is the loop's; a follower writes it after it has
 * replaced the one before. The tasks that it takes over it hands out one by one from its
 * own leave, away: if that holds it up in turn, the next follower takes the rest.
 */
final class LoopThread {

	private static final Logger logger = LoggerFactory.getLogger(LoopThread.class);

	/**
	 * For how long it stands by at most while callers go on driving: each look takes the
	 * processor from one of them or from their peer.
	 */
	private static final long MOST_STANDBY_NANOS = 16_000_000;

	/** How long it spins for the role before it pauses. */
	private static final long ROLE_SPIN_NANOS = 100_000;

	/**
	 * How many tasks of users run before what they have left is posted: no fewer than a
	 * turn can make ready, whose replies then leave with one system call.
	 */
	private static final int TASKS_PER_LEAVE = CompletionBatch.MOST_HANDLED;

	/** For how long they do. */
	private static final long LEAVE_NANOS = 200_000;

	/**
	 * After how long a turn comes between tasks of which there are always some: far
	 * longer than what one turn makes ready takes, so that calls do not arrive faster
	 * than they are served.
	 */
	private static final long TURN_NANOS = 20_000_000;

	/** For how long users' code may hold up the loop where processors are scarce. */
	private static final long MOST_NANOS = 20_000_000;

	/**
	 * After how many the clock is read first, which takes as long as a tenth of a call.
	 */
	private static final int TASKS_PER_LOOK = 4;

	/** After how many more while they are quick. */
	private static final int QUICK_TASKS_PER_LOOK = 16;

	/** How long these may take on average. */
	private static final long QUICK_NANOS = 5_000;

	private final String name;

	private final LoopDriver driver;

	private final LoopMetrics metrics;

	private final LoopWatcher watcher;

	private final Thread firstThread;

	private volatile DriverLeave leave;

	private volatile boolean standingBy;

	/** For how long it stands by next time; its own. */
	private long standbyNanos = LoopDriver.STANDBY_NANOS;

	/** When the thread that runs users' code looked at the clock; its own. */
	private long lookNanos;

	private volatile boolean ended;

	private final BooleanSupplier othersStandBy;

	private final BooleanSupplier othersDrive;

	private final BooleanSupplier othersDriveOrAwait;

	LoopThread(String name, LoopDriver driver, LoopMetrics metrics, LoopWatcher watcher) {
		this.name = name;
		this.driver = driver;
		this.metrics = metrics;
		this.watcher = watcher;
		this.othersStandBy = driver::standsBy;
		this.othersDrive = driver::isDriven;
		this.othersDriveOrAwait = driver::isDrivenOrAwaited;
		this.firstThread = new Thread(() -> run(this.leave), name);
		this.firstThread.setDaemon(true);
		this.leave = new DriverLeave(this.firstThread);
		metrics.ownedBy(this.firstThread);
	}

	String name() {
		return this.name;
	}

	void start() {
		this.watcher.add(this);
		this.firstThread.start();
	}

	boolean is(@Nullable Thread other) {
		return this.leave.owner() == other;
	}

	/** Whether the current thread is the loop's, driving or away. */
	boolean isCurrent() {
		return is(Thread.currentThread());
	}

	/** Whether the current thread is the loop's, and comes back by itself. */
	boolean isCurrentAway() {
		DriverLeave own = this.leave;
		return own.owner() == Thread.currentThread() && own.isAway();
	}

	boolean isLost() {
		return !this.leave.owner().isAlive();
	}

	boolean hasEnded() {
		return this.ended || isLost();
	}

	/** Has it look for what there is to do. Any thread. */
	void wake(@Nullable Thread awaiter, CompletionQueue completions) {
		Thread own = this.leave.owner();
		if (awaiter == own) {
			completions.wakeUp();
		}
		else {
			LockSupport.unpark(own);
		}
	}

	/** Somebody has to drive: the caller has stopped, or does not begin. Any thread. */
	void wakeIfStandingBy() {
		if (this.standingBy) {
			LockSupport.unpark(this.leave.owner());
		}
	}

	/** Until it is replaced or the loop closes. */
	private void run(DriverLeave own) {
		boolean stays = true;
		while (stays && !this.driver.isClosing()) {
			try {
				step(own);
				stays = !own.hasTasks() || runTasks(own);
			}
			catch (Throwable ex) {
				this.driver.failed(ex);
				LockSupport.parkNanos(this, LoopDriver.STANDBY_NANOS);
				stays = !own.isReplaced();
			}
		}
		if (stays && own.end()) {
			runAllElsewhere(own.takeAll());
			this.ended = true;
		}
	}

	/** What to do next. */
	private void step(DriverLeave own) {
		ignoreInterrupt();
		if (this.driver.standsBy()) {
			standBy(this.othersStandBy, this.standbyNanos);
			this.standbyNanos = Math.min(2 * this.standbyNanos, MOST_STANDBY_NANOS);
			return;
		}
		this.standbyNanos = LoopDriver.STANDBY_NANOS;
		if (!this.driver.tryEnter()) {
			awaitRole();
			return;
		}
		AwaiterRole await = AwaiterRole.NOT_NEEDED;
		try {
			if (!this.driver.turn() && this.driver.hasPolledEnough()) {
				await = this.driver.prepareAwait();
			}
		}
		finally {
			this.driver.exit(own);
		}
		switch (await) {
			case MINE -> this.driver.await(own.hasTasks() ? System.nanoTime() : Long.MAX_VALUE);
			case TAKEN -> {
				if (!own.hasTasks()) {
					standBy(this.othersDriveOrAwait, LoopDriver.STANDBY_NANOS);
				}
			}
			case NOT_NEEDED -> this.driver.pause();
		}
	}

	/** It was meant for what ran before, and is not to reach what runs next. */
	private void ignoreInterrupt() {
		if (Thread.interrupted()) {
			logger.debug("{} ignores an interrupt", this.name);
		}
	}

	/** Parks for a while, unless somebody has to drive. */
	private void standBy(BooleanSupplier othersDrive, long nanos) {
		this.standingBy = true;
		try {
			if (othersDrive.getAsBoolean()) {
				LockSupport.parkNanos(this, nanos);
			}
		}
		finally {
			this.standingBy = false;
		}
	}

	/** Another thread has the role, usually for a moment: naps grow as it keeps it. */
	private void awaitRole() {
		long start = System.nanoTime();
		while (this.driver.isDriven() && !this.driver.isClosing() && !this.driver.standsBy()) {
			long waited = System.nanoTime() - start;
			if (waited < ROLE_SPIN_NANOS) {
				Thread.onSpinWait();
			}
			else {
				standBy(this.othersDrive, Math.min(waited, LoopDriver.STANDBY_NANOS));
			}
		}
	}

	/**
	 * Runs users' code, without the role; what it leaves is posted now and then. It may
	 * make ever more of it ready, and wait for what only a turn brings.
	 * @return whether this is the loop's thread still
	 */
	private boolean runTasks(DriverLeave own) {
		long turned = 0;
		while (own.hasTasks()) {
			if (!runSome(own)) {
				return false;
			}
			turned = (turned == 0) ? this.lookNanos : turned;
			if (own.hasTasks() && this.driver.tryEnter()) {
				try {
					if (this.lookNanos - turned < TURN_NANOS) {
						this.driver.drainInbox();
					}
					else {
						this.driver.turn();
						turned = this.lookNanos;
					}
				}
				finally {
					this.driver.exit(own);
				}
			}
		}
		return true;
	}

	private boolean runSome(DriverLeave own) {
		long start = System.nanoTime();
		int count = 0;
		int look = TASKS_PER_LOOK;
		boolean stays = false;
		this.lookNanos = start;
		own.begin(start);
		try {
			this.watcher.left();
			UserTask task = own.next();
			while (task != null) {
				count++;
				this.driver.run(task);
				ignoreInterrupt();
				if (count == look) {
					long now = System.nanoTime();
					this.lookNanos = now;
					look = nextLook(count, now - start);
				}
				task = (count < look) ? own.next() : null;
			}
		}
		finally {
			stays = own.end();
		}
		return stays;
	}

	/**
	 * The time, as a task of a few before the current one saw it, to the thread that runs
	 * users' code, unless that was replaced; otherwise 0.
	 */
	long roughNanos() {
		return isCurrentAway() ? this.lookNanos : 0;
	}

	/** After how many tasks the clock is read again, or as many if it is enough. */
	private static int nextLook(int count, long nanos) {
		if (nanos >= LEAVE_NANOS) {
			return count;
		}
		int more = (nanos < count * QUICK_NANOS) ? QUICK_TASKS_PER_LOOK : TASKS_PER_LOOK;
		return Math.min(TASKS_PER_LEAVE, count + more);
	}

	/**
	 * Looks after the thread, and replaces it if it has been away for too long.
	 * @param late whether processors are scarce
	 * @return for how long it has been away, in nanoseconds, or 0
	 */
	long watch(long nowNanos, boolean late) {
		DriverLeave seen = this.leave;
		long nanos = seen.nanos(nowNanos);
		if (nanos >= LoopWatcher.HELD_UP_NANOS) {
			boolean computes = seen.owner().getState() == Thread.State.RUNNABLE;
			if (!computes || nanos >= (late ? MOST_NANOS : 2 * LoopWatcher.HELD_UP_NANOS)) {
				this.watcher.follow(() -> follow(seen, LoopWatcher.HELD_UP_NANOS));
			}
		}
		return nanos;
	}

	/** The current thread is about to block, perhaps in users' code on this loop. */
	void handOver() {
		DriverLeave own = this.leave;
		if (!isCurrent() || !own.isAway()) {
			return;
		}
		try {
			this.watcher.follow(() -> follow(own, 0));
		}
		catch (Throwable ex) {
			// the watcher tries it again
			this.driver.failed(ex);
		}
	}

	/** Becomes the loop's thread, unless the one before has come back. */
	private void follow(DriverLeave before, long nanos) {
		Thread self = Thread.currentThread();
		DriverLeave own = new DriverLeave(self);
		String idleName = self.getName();
		if (this.driver.isClosing() || !before.replace(nanos, System.nanoTime())) {
			return;
		}
		LinkedTask first = before.takeAll();
		if (first != null) {
			own.add(first, last(first));
		}
		this.lookNanos = System.nanoTime();
		own.begin(this.lookNanos);
		this.leave = own;
		this.metrics.ownedBy(self);
		this.watcher.left();
		this.metrics.takenOver();
		try {
			self.setName(this.name);
			for (UserTask task = own.next(); task != null; task = own.next()) {
				runElsewhere(task);
			}
			if (own.end()) {
				run(own);
			}
		}
		finally {
			self.setName(idleName);
			Thread.interrupted();
		}
	}

	private static LinkedTask last(LinkedTask first) {
		LinkedTask last = first;
		for (LinkedTask next = first.linked(); next != null; next = next.linked()) {
			last = next;
		}
		return last;
	}

	/** Has linked tasks of users run on threads of their own; not the driver. */
	void runAllElsewhere(@Nullable LinkedTask first) {
		LinkedTask task = first;
		while (task != null) {
			LinkedTask next = task.linked();
			task.linked(null);
			runElsewhere((UserTask) task);
			task = next;
		}
	}

	private void runElsewhere(UserTask task) {
		try {
			task.runElsewhere();
		}
		catch (Throwable ex) {
			this.driver.failed(ex);
		}
	}

	/** No follower takes over any more, and the thread ends soon. */
	void close() {
		this.watcher.remove(this);
		LockSupport.unpark(this.leave.owner());
	}

	/**
	 * The loop closes without waiting any longer for users' code that holds up the
	 * thread, which is interrupted.
	 */
	void breakOff(@Nullable Thread driving) {
		DriverLeave before = this.leave;
		Thread held = before.owner();
		if (before.replace(0, System.nanoTime())) {
			held.interrupt();
			runAllElsewhere(before.takeAll());
			this.ended = true;
		}
		else if (driving == held) {
			held.interrupt();
		}
	}

}
