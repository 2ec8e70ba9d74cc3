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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.CompletionQueue;

/**
 * Decides which thread drives a loop. Whoever waits may drive: a thread of the loop's own
 * drives when nobody else does; a thread blocked in a call drives until its own reply is
 * there, so that a blocking call costs no hand-over between threads; a thread with
 * something to send drives just long enough to post it.
 *
 * <p>
 * Implementation notes. All state of the loop and of its channels belongs to the
 * <em>driver</em>: the one thread that has moved {@code driver} from {@code null} to
 * itself. Acquiring is a compare-and-set and releasing a volatile store, so each driver
 * sees what the one before it wrote. Whoever does not get the role leaves a task in the
 * inbox; each driver looks into the inbox once more <em>after</em> releasing, and takes
 * the role again if it finds something. A task is offered before the role is tried, so
 * either the one offering gets the role or the one holding it sees the task: nobody has
 * to be woken for it.
 *
 * <p>
 * At most one thread, the <em>awaiter</em>, blocks in {@link CompletionQueue#await}, and
 * it has given up the driver role before. A caller whose reply another driver delivers
 * meanwhile is woken through the completion queue if it is the awaiter, else unparked; it
 * becomes the awaiter before it looks for its reply a last time, and the deliverer stores
 * the reply before it looks for the awaiter, both volatile, so one of them notices.
 *
 * <p>
 * While callers drive, the loop's thread stands by, parked, instead of being woken by
 * their replies. A caller that leaves while calls are outstanding unparks it. Parking is
 * always bounded by {@link #STANDBY_NANOS}, which also bounds how late work is noticed
 * that arrives unasked while nobody drives. Where another thread keeps the role, because
 * a callback blocks, the loop's thread looks for it in pauses that grow to that bound.
 *
 * <p>
 * Nothing that is thrown ends the loop's thread, nor reaches a caller who happens to
 * drive. A turn that fails is followed by a pause, and the next one goes on where it
 * stood. Role and awaiter are given up by a plain store in the frame that took them,
 * which succeeds even where no stack is left for a call. When the loop closes, the last
 * task is published before the role is tried and looked for after releasing, like the
 * inbox: whom a callback held up runs it in the end.
 */
final class LoopDriver {

	private static final Logger logger = LoggerFactory.getLogger(LoopDriver.class);

	private static final VarHandle DRIVER;

	private static final VarHandle AWAITER;

	private static final long STANDBY_NANOS = 2_000_000;

	/** How long the loop's thread spins for the role before it pauses. */
	private static final long ROLE_SPIN_NANOS = 100_000;

	/** After how long without a turn, with callers said to drive, somebody else does. */
	private static final long LOST_CALLERS_NANOS = 100_000_000;

	static {
		try {
			MethodHandles.Lookup lookup = MethodHandles.lookup();
			DRIVER = lookup.findVarHandle(LoopDriver.class, "driver", Thread.class);
			AWAITER = lookup.findVarHandle(LoopDriver.class, "awaiter", Thread.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private final LoopWork work;

	private final CompletionQueue completions;

	private final LoopMetrics metrics;

	private final SpinBudget spinBudget;

	private final LoopFailures failures = new LoopFailures();

	private final LoopWatch watch = new LoopWatch(System.nanoTime());

	private final Thread thread;

	private final MpscUnboundedVarHandleArrayQueue<Runnable> inbox = new MpscUnboundedVarHandleArrayQueue<>(256);

	private final AtomicInteger drivingCallers = new AtomicInteger();

	private volatile @Nullable Thread driver;

	private volatile @Nullable Thread awaiter;

	private volatile long awaitUntilNanos;

	private volatile long lastCallerNanos;

	private long lastWorkNanos;

	private boolean ranTasks;

	private volatile int outstandingCalls;

	private volatile boolean closing;

	private volatile @Nullable Runnable last;

	LoopDriver(String name, LoopWork work, CompletionQueue completions, LoopMetrics metrics, PollingOptions polling) {
		this.work = work;
		this.completions = completions;
		this.metrics = metrics;
		this.spinBudget = new SpinBudget(polling, System.nanoTime());
		this.lastCallerNanos = System.nanoTime() - 2 * STANDBY_NANOS;
		this.thread = new Thread(this::run, name);
		this.thread.setDaemon(true);
	}

	String name() {
		return this.thread.getName();
	}

	void start() {
		this.thread.start();
	}

	boolean isDriver() {
		return this.driver == Thread.currentThread();
	}

	private boolean tryEnter() {
		return DRIVER.compareAndSet(this, null, Thread.currentThread());
	}

	/** Gives up the role, unless there is something left for whoever has it. */
	private void exit() {
		release();
		while ((!this.inbox.isEmpty() || this.last != null) && tryEnter()) {
			drainInbox();
			runLast();
			release();
		}
	}

	private void release() {
		try {
			this.work.flush();
		}
		catch (Throwable ex) {
			this.failures.report(this.thread, ex);
		}
		finally {
			this.driver = null;
		}
	}

	private void runLast() {
		Runnable task = this.last;
		if (task != null) {
			run(task);
			this.last = null;
		}
	}

	/** Runs a task as driver, now or soon. If it throws, the task does not run. */
	void execute(Runnable task) {
		if (isDriver()) {
			run(task);
			return;
		}
		this.inbox.offer(task);
		Thread self = Thread.currentThread();
		try {
			if (tryEnter()) {
				drainInbox();
				exit();
			}
		}
		catch (Throwable ex) {
			failed(ex);
		}
		finally {
			if (this.driver == self) {
				this.driver = null;
			}
		}
		if (this.outstandingCalls > 0 && this.drivingCallers.get() == 0 && this.awaiter == null) {
			LockSupport.unpark(this.thread);
		}
	}

	/** The same where the caller is about to drive: the loop's thread is not woken. */
	void executeForCaller(Runnable task) {
		if (isDriver() || VirtualThreads.isCurrentVirtual()) {
			execute(task);
		}
		else {
			this.drivingCallers.incrementAndGet();
			try {
				execute(task);
			}
			finally {
				this.drivingCallers.decrementAndGet();
			}
		}
	}

	/**
	 * Leaves a task to whoever drives next, which the caller does not become: for threads
	 * that must not run callbacks of users, since those may wait for the very thread.
	 */
	void executeLater(Runnable task) {
		this.inbox.offer(task);
		if (isDriver()) {
			return;
		}
		LockSupport.unpark(this.thread);
		this.completions.wakeUp();
		if (this.closing && tryEnter()) {
			drainInbox();
			exit();
		}
	}

	/** Runs what others have left; driver. */
	boolean drainInbox() {
		boolean any = false;
		for (Runnable task = this.inbox.poll(); task != null; task = this.inbox.poll()) {
			run(task);
			any = true;
		}
		this.ranTasks |= any;
		return any;
	}

	private void run(Runnable task) {
		try {
			task.run();
		}
		catch (Throwable ex) {
			this.failures.report(this.thread, ex);
		}
	}

	/** One turn; driver. */
	private boolean turn() {
		boolean worked = this.work.turn();
		this.watch.turned(this.work.nowNanos());
		return worked;
	}

	private enum Await {

		/** There was work after all. */
		NOT_NEEDED,

		/** This thread is the awaiter: it leaves the driver role and blocks. */
		MINE,

		/** Another thread is. */
		TAKEN

	}

	private Await prepareAwait() {
		if (!AWAITER.compareAndSet(this, null, Thread.currentThread())) {
			return Await.TAKEN;
		}
		boolean mine = false;
		try {
			this.completions.requestNotification(false);
			mine = !turn();
			this.awaitUntilNanos = this.work.nextTickNanos();
		}
		finally {
			if (!mine) {
				this.awaiter = null;
			}
		}
		return mine ? Await.MINE : Await.NOT_NEEDED;
	}

	private void await(long deadlineNanos) {
		try {
			long start = System.nanoTime();
			long nanos = Math.min(this.awaitUntilNanos - start, remaining(deadlineNanos, start));
			if (nanos > 0 && this.inbox.isEmpty() && !this.closing) {
				this.completions.await(nanos);
				long woken = System.nanoTime();
				this.metrics.awaited(woken - start);
				this.spinBudget.slept(woken - start, woken);
			}
		}
		finally {
			this.awaiter = null;
		}
	}

	/** The time of the next tick has moved closer; driver. */
	void tickMoved(long nextTickNanos) {
		if (this.awaiter != null && this.awaitUntilNanos - nextTickNanos > 0) {
			this.completions.wakeUp();
		}
	}

	private void run() {
		long idleSince = System.nanoTime();
		while (!this.closing) {
			try {
				idleSince = step(idleSince);
			}
			catch (Throwable ex) {
				failed(ex);
				LockSupport.parkNanos(this, STANDBY_NANOS);
			}
		}
	}

	/**
	 * What the loop's own thread does next.
	 * @return since when there is nothing to do
	 */
	private long step(long idleSince) {
		if (Thread.interrupted()) {
			logger.debug("{} ignores an interrupt", this.thread.getName());
		}
		if (standsBy()) {
			LockSupport.parkNanos(this, STANDBY_NANOS);
			return idleSince;
		}
		if (!tryEnter()) {
			awaitRole();
			return idleSince;
		}
		long since = idleSince;
		Await await = Await.NOT_NEEDED;
		try {
			boolean worked = turn();
			long now = System.nanoTime();
			if (worked) {
				since = now;
				this.lastWorkNanos = now;
			}
			else if (hasPolledEnough(now, since)) {
				await = prepareAwait();
			}
		}
		finally {
			exit();
		}
		switch (await) {
			case MINE -> {
				await(Long.MAX_VALUE);
				since = System.nanoTime();
			}
			case TAKEN -> LockSupport.parkNanos(this, STANDBY_NANOS);
			case NOT_NEEDED -> Thread.onSpinWait();
		}
		return since;
	}

	/** Another thread has the role, for a moment or because a callback blocks it. */
	private void awaitRole() {
		long start = System.nanoTime();
		while (this.driver != null && !this.closing) {
			long waited = System.nanoTime() - start;
			LockSupport.parkNanos(this, (waited < ROLE_SPIN_NANOS) ? 0 : Math.min(waited, STANDBY_NANOS));
		}
	}

	/** A turn, or waiting for its next one, has failed; the loop goes on. */
	private void failed(Throwable failure) {
		if (!this.closing) {
			this.failures.report(this.thread, failure);
		}
	}

	/**
	 * Whether to leave driving to callers: some do, unless one that ran out of stack was
	 * miscounted, or one has just left and may be back.
	 */
	private boolean standsBy() {
		long now = System.nanoTime();
		if (this.drivingCallers.get() > 0) {
			return this.driver != null || this.awaiter != null || now - this.watch.lastTurnNanos() < LOST_CALLERS_NANOS;
		}
		return this.outstandingCalls == 0 && now - this.lastCallerNanos < STANDBY_NANOS;
	}

	/** Why the loop does not run, or {@code null}. Any thread. */
	@Nullable String problem() {
		boolean threadLost = !this.thread.isAlive() && !this.closing;
		return threadLost ? "has lost its thread" : this.watch.problem(this.driver, System.nanoTime());
	}

	/** See {@link ChannelLoop#waitFor}. */
	boolean waitFor(PendingCall call, long deadlineNanos) {
		if (isDriver()) {
			return waitNested(call::isDone, deadlineNanos);
		}
		boolean mayDrive = !VirtualThreads.isCurrentVirtual();
		while (!call.isDone()) {
			if (isGivenUp(deadlineNanos)) {
				break;
			}
			if (!mayDrive || this.closing || drive(call, deadlineNanos) == Await.TAKEN) {
				park(call, deadlineNanos);
			}
		}
		if (this.outstandingCalls > 0) {
			LockSupport.unpark(this.thread);
		}
		return call.isDone();
	}

	/** Drives if nobody else does, and tells whether there is somebody to wait for. */
	private Await drive(PendingCall call, long deadlineNanos) {
		Thread self = Thread.currentThread();
		Await await = Await.TAKEN;
		boolean counted = false;
		try {
			if (!tryEnter()) {
				return Await.TAKEN;
			}
			this.drivingCallers.incrementAndGet();
			counted = true;
			try {
				if (this.awaiter == this.thread) {
					this.completions.wakeUp();
				}
				await = spin(call, deadlineNanos);
			}
			finally {
				this.lastCallerNanos = System.nanoTime();
				exit();
			}
			if (await == Await.MINE) {
				await(call.isDone() ? System.nanoTime() : deadlineNanos);
			}
		}
		catch (Throwable ex) {
			await = Await.TAKEN;
			failed(ex);
		}
		finally {
			if (this.driver == self) {
				this.driver = null;
			}
			if (this.awaiter == self) {
				this.awaiter = null;
			}
			if (counted) {
				this.drivingCallers.decrementAndGet();
			}
		}
		return await;
	}

	private Await spin(PendingCall call, long deadlineNanos) {
		long idleSince = System.nanoTime();
		while (!call.isDone() && !this.closing && !isGivenUp(deadlineNanos)) {
			long now = System.nanoTime();
			if (turn()) {
				idleSince = now;
				this.lastWorkNanos = now;
			}
			else if (hasPolledEnough(now, idleSince)) {
				return prepareAwait();
			}
			else {
				Thread.onSpinWait();
			}
		}
		return Await.NOT_NEEDED;
	}

	/** Whether to sleep rather than poll; a call submitted meanwhile is work. Driver. */
	private boolean hasPolledEnough(long now, long idleSince) {
		if (now - idleSince < this.spinBudget.nanos()) {
			return false;
		}
		if (this.ranTasks) {
			this.ranTasks = false;
			this.lastWorkNanos = now;
		}
		return !this.work.expectsBytes() || !this.spinBudget.pollsForTransfer(this.lastWorkNanos, now);
	}

	private void park(PendingCall call, long deadlineNanos) {
		if (this.drivingCallers.get() == 0 && this.awaiter == null) {
			LockSupport.unpark(this.thread);
		}
		long nanos = Math.min(remaining(deadlineNanos, System.nanoTime()), STANDBY_NANOS);
		if (nanos > 0 && !call.isDone()) {
			LockSupport.parkNanos(this, nanos);
		}
	}

	/**
	 * A callback on this loop waits for something that the same loop brings about: it
	 * goes on driving.
	 */
	boolean waitNested(BooleanSupplier done, long deadlineNanos) {
		while (!done.getAsBoolean() && !this.closing && !isGivenUp(deadlineNanos)) {
			try {
				if (!turn()) {
					Thread.onSpinWait();
				}
			}
			catch (Throwable ex) {
				failed(ex);
				LockSupport.parkNanos(this, STANDBY_NANOS);
			}
		}
		return done.getAsBoolean();
	}

	/** Wakes a thread whose call is done; driver. */
	void wake(Thread waiter) {
		if (this.awaiter == waiter) {
			this.completions.wakeUp();
		}
		else if (this.driver != waiter) {
			LockSupport.unpark(waiter);
		}
	}

	private static boolean isGivenUp(long deadlineNanos) {
		return (deadlineNanos != Long.MAX_VALUE && System.nanoTime() - deadlineNanos >= 0)
				|| Thread.currentThread().isInterrupted();
	}

	private static long remaining(long deadlineNanos, long now) {
		return (deadlineNanos == Long.MAX_VALUE) ? Long.MAX_VALUE : deadlineNanos - now;
	}

	@SuppressWarnings("NonAtomicVolatileUpdate")
	void callStarted() {
		this.outstandingCalls++;
	}

	@SuppressWarnings("NonAtomicVolatileUpdate")
	void callFinished() {
		this.outstandingCalls--;
	}

	int outstandingCalls() {
		return this.outstandingCalls;
	}

	/**
	 * Stops the loop's thread and runs a last task as driver, after which nothing turns
	 * any more and nobody awaits; tasks left later still run, on the thread that leaves
	 * them. A callback that blocks is waited for a bounded time, and interrupted where it
	 * is the loop's thread that it blocks; then the last task is left to the thread that
	 * it blocks. Must not be called by the driver.
	 */
	void close(Runnable task) {
		this.closing = true;
		LockSupport.unpark(this.thread);
		LoopClosing rest = new LoopClosing(this.completions, this.thread, () -> this.driver);
		rest.await(() -> !this.thread.isAlive() && this.awaiter == null);
		this.last = task;
		rest.await(() -> {
			if (tryEnter()) {
				exit();
			}
			return this.last == null;
		});
		if (this.last != null) {
			logger.warn("{} closes as soon as a callback returns{}", name(), LoopWatch.heldUpBy(this.driver));
		}
	}

}
