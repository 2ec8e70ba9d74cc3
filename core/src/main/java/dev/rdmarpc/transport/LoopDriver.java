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

import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.memory.VirtualThreads;
import dev.rdmarpc.verbs.CompletionQueue;

/**
 * Decides which thread drives a loop. A thread of the loop's own drives when nobody else
 * does; a thread blocked in the only call drives until its reply is there, so that a
 * blocking call costs no hand-over between threads; a thread with something to send
 * drives just long enough to post it. Users' code never runs while driving.
 *
 * <p>
 * Implementation notes. All state of the loop and of its channels belongs to the
 * <em>driver</em>: the one thread that has moved {@code driver} from {@code null} to
 * itself. Acquiring is a compare-and-set and releasing a volatile store, so each driver
 * sees what the one before it wrote. A thread that does not get the role leaves a task in
 * the inbox; each driver looks into the inbox once more <em>after</em> releasing, and
 * takes the role again if it finds something. A task is offered before the role is tried,
 * so either the one offering gets the role or the one holding it sees the task: nobody
 * has to be woken for it.
 *
 * <p>
 * <b>Users' code</b> that a turn makes ready is noted down in a list of the driver's. The
 * {@linkplain LoopThread loop's thread} moves it into its {@link DriverLeave}, gives the
 * role up and runs it. Any other driver leaves it, says so in {@code readyLeft} before it
 * releases the role, and wakes the loop's thread after that.
 *
 * <p>
 * <b>Waiting.</b> At most one thread, the <em>awaiter</em>, blocks in
 * {@link CompletionQueue#await}, and it has given up the role before. A caller drives
 * only while its call is the only one outstanding; otherwise it parks. Each call is noted
 * as done before its caller is looked for, and a caller looks whether it is done after it
 * became the awaiter and after each parking, so none sleeps on. The loop's thread stands
 * by only while callers are counted as driving or no call is outstanding. A caller that
 * stops driving takes itself off that count and then wakes the loop's thread if calls are
 * outstanding and it stands by; that one says that it stands by before it looks at the
 * count a last time. So somebody drives while calls are outstanding. While none is,
 * nobody may drive for as long as the loop's thread stands by, which is the longer the
 * longer callers have gone on driving: what the peer sends without having been asked is
 * seen that much later, or by the next caller.
 *
 * <p>
 * Nothing that is thrown ends the loop's thread, nor reaches a caller who happens to
 * drive. Role and awaiter are given up by a plain store in the frame that took them,
 * which succeeds even where no stack is left for a call. When the loop closes, the last
 * task is published and looked for like the inbox.
 */
final class LoopDriver {

	private static final Logger logger = LoggerFactory.getLogger(LoopDriver.class);

	private static final VarHandle DRIVER;

	private static final VarHandle AWAITER;

	static final long STANDBY_NANOS = 2_000_000;

	/** For how long callers do not drive after there were several. */
	private static final long CROWDED_NANOS = 1_000_000;

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

	private final LoopThread thread;

	private final Gathering gathering;

	private final MpscUnboundedVarHandleArrayQueue<Runnable> inbox = new MpscUnboundedVarHandleArrayQueue<>(256);

	private final AtomicInteger drivingCallers = new AtomicInteger();

	private volatile @Nullable Thread driver;

	private volatile @Nullable Thread awaiter;

	private volatile long awaitUntilNanos;

	private volatile long lastCallerNanos;

	private final ReadyTasks ready = new ReadyTasks();

	private volatile boolean readyLeft;

	private final OutstandingCalls calls = new OutstandingCalls();

	private volatile long crowdedNanos;

	private volatile boolean closing;

	private volatile @Nullable Runnable last;

	LoopDriver(String name, LoopWork work, CompletionQueue completions, LoopMetrics metrics, PollingOptions polling,
			LoopWatcher watcher) {
		this.work = work;
		this.completions = completions;
		this.metrics = metrics;
		this.spinBudget = new SpinBudget(polling, metrics);
		this.lastCallerNanos = System.nanoTime() - 2 * STANDBY_NANOS;
		this.crowdedNanos = this.lastCallerNanos;
		this.thread = new LoopThread(name, this, metrics, watcher);
		this.gathering = new Gathering(this, completions);
	}

	String name() {
		return this.thread.name();
	}

	void start() {
		this.spinBudget.wakeUp();
		this.thread.start();
	}

	boolean isDriver() {
		return this.driver == Thread.currentThread();
	}

	LoopThread thread() {
		return this.thread;
	}

	Gathering gathering() {
		return this.gathering;
	}

	boolean tryEnter() {
		return DRIVER.compareAndSet(this, null, Thread.currentThread());
	}

	/**
	 * Gives up the role, unless there is something left for whoever has it.
	 * @param own of the loop's thread, to which tasks of users go, or {@code null}
	 */
	void exit(@Nullable DriverLeave own) {
		release(own);
		while ((!this.inbox.isEmpty() || this.last != null) && tryEnter()) {
			drainInbox();
			runLast();
			release(own);
		}
	}

	private void release(@Nullable DriverLeave own) {
		LinkedTask left = null;
		boolean ending = this.closing;
		try {
			this.work.flush();
		}
		catch (Throwable ex) {
			this.failures.report(this, ex);
		}
		finally {
			try {
				left = passOn(own, ending);
			}
			finally {
				this.driver = null;
			}
		}
		if (left != null && ending) {
			this.thread.runAllElsewhere(left);
		}
		else if (left != null) {
			this.thread.wake(this.awaiter, this.completions);
		}
	}

	/** Gives the loop's thread the tasks of users, or tells which are left for it. */
	private @Nullable LinkedTask passOn(@Nullable DriverLeave own, boolean ending) {
		if (this.ready.isEmpty()) {
			return null;
		}
		if (own == null && !ending) {
			this.readyLeft = true;
			return this.ready.first();
		}
		this.readyLeft = false;
		return this.ready.moveTo(own);
	}

	/** Has users' code run after the turn; driver. */
	void afterTurn(UserTask task) {
		this.ready.add(task);
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
		if (!this.gathering.leaves(this.awaiter)) {
			help();
		}
	}

	/** Runs what the current thread has left, unless somebody drives who will. */
	void help() {
		Thread self = Thread.currentThread();
		try {
			if (tryEnter()) {
				drainInbox();
				exit(null);
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
		if (this.calls.areAny() && this.drivingCallers.get() == 0) {
			this.thread.wakeIfStandingBy();
		}
	}

	/** The same where the caller is about to drive: the loop's thread is not woken. */
	void executeForCaller(Runnable task) {
		if (!mayDrive()) {
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
	 * of devices, since what others have left may close a queue pair, which waits for the
	 * thread that calls its listener.
	 */
	void executeLater(Runnable task) {
		this.inbox.offer(task);
		if (isDriver()) {
			return;
		}
		this.thread.wake(null, this.completions);
		this.completions.wakeUp();
		if (this.closing && tryEnter()) {
			drainInbox();
			exit(null);
		}
	}

	/** Runs what others have left; driver. */
	boolean drainInbox() {
		boolean any = false;
		for (Runnable task = this.inbox.poll(); task != null; task = this.inbox.poll()) {
			run(task);
			any = true;
		}
		if (any) {
			this.spinBudget.submitted();
		}
		return any;
	}

	void run(Runnable task) {
		try {
			task.run();
		}
		catch (Throwable ex) {
			this.failures.report(this, ex);
		}
	}

	/** One turn; driver. */
	boolean turn() {
		this.spinBudget.turns();
		boolean worked = this.work.turn();
		this.spinBudget.turned(worked, this.work.nowNanos());
		this.watch.turned(this.work.nowNanos());
		return worked;
	}

	AwaiterRole prepareAwait() {
		if (!AWAITER.compareAndSet(this, null, Thread.currentThread())) {
			return AwaiterRole.TAKEN;
		}
		boolean mine = false;
		try {
			this.completions.requestNotification(false);
			mine = !turn();
			this.awaitUntilNanos = this.work.nextTickNanos();
			if (mine) {
				this.spinBudget.sleeps(this.work.nowNanos());
			}
		}
		finally {
			if (!mine) {
				this.awaiter = null;
			}
		}
		return mine ? AwaiterRole.MINE : AwaiterRole.NOT_NEEDED;
	}

	void await(long deadlineNanos) {
		try {
			long start = System.nanoTime();
			long nanos = Math.min(this.awaitUntilNanos - start, remaining(deadlineNanos, start));
			this.gathering.awaits();
			if (nanos > 0 && this.inbox.isEmpty() && !this.closing) {
				try {
					this.spinBudget.fallAsleep();
					this.completions.await(nanos);
					this.metrics.awaited(System.nanoTime() - start, nanos);
				}
				finally {
					this.spinBudget.wakeUp();
				}
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

	/** A turn, or waiting for its next one, has failed; the loop goes on. */
	void failed(Throwable failure) {
		if (!this.closing) {
			this.failures.report(this, failure);
		}
	}

	/** Whether callers drive, of whom one may be miscounted, or one may soon be back. */
	boolean standsBy() {
		if (this.readyLeft || this.closing || !this.inbox.isEmpty()) {
			return false;
		}
		if (this.drivingCallers.get() > 0) {
			return isDrivenOrAwaited() || System.nanoTime() - this.watch.lastTurnNanos() < LOST_CALLERS_NANOS;
		}
		return !this.calls.areAny() && isWithin(STANDBY_NANOS, this.lastCallerNanos);
	}

	/** Why the loop does not run, or {@code null}. Any thread. */
	@Nullable String problem() {
		return (this.thread.isLost() && !this.closing) ? "has lost its thread"
				: this.watch.problem(this.driver, System.nanoTime());
	}

	/** See {@link ChannelLoop#waitFor}. */
	boolean waitFor(PendingCall call, long deadlineNanos) {
		if (isDriver()) {
			throw new IllegalStateException("the driver of " + this + " cannot wait for it");
		}
		this.thread.handOver();
		boolean begins = true;
		while (!call.isDone() && (begins || !isGivenUp(deadlineNanos, System.nanoTime()))) {
			if (!mayDrive() || drive(call, deadlineNanos, begins) == AwaiterRole.TAKEN) {
				park(call, deadlineNanos);
			}
			begins = false;
		}
		if (this.calls.areAny()) {
			this.thread.wakeIfStandingBy();
		}
		return call.isDone();
	}

	/** Whether a caller should: its call is the only one, and has been for a while. */
	private boolean mayDrive() {
		return !this.calls.areSeveral() && !this.readyLeft && !this.closing
				&& !VirtualThreads.isVirtual(Thread.currentThread()) && !isWithin(CROWDED_NANOS, this.crowdedNanos);
	}

	/** The last turn was earlier, so that it mostly tells without a look at the clock. */
	private boolean isWithin(long nanos, long since) {
		return this.work.nowNanos() - since < nanos && System.nanoTime() - since < nanos;
	}

	/** Drives if nobody else does, and tells whether there is somebody to wait for. */
	private AwaiterRole drive(PendingCall call, long deadlineNanos, boolean begins) {
		Thread self = Thread.currentThread();
		AwaiterRole await = AwaiterRole.TAKEN;
		boolean counted = false;
		try {
			if (!tryEnter()) {
				return AwaiterRole.TAKEN;
			}
			this.drivingCallers.incrementAndGet();
			counted = true;
			try {
				if (this.thread.is(this.awaiter)) {
					this.completions.wakeUp();
				}
				if (begins) {
					this.spinBudget.submitted();
				}
				await = spin(call, deadlineNanos);
			}
			finally {
				this.lastCallerNanos = this.work.nowNanos();
				exit(null);
			}
			if (await == AwaiterRole.MINE) {
				await(call.isDone() ? System.nanoTime() : deadlineNanos);
			}
		}
		catch (Throwable ex) {
			await = AwaiterRole.NOT_NEEDED;
			failed(ex);
			LockSupport.parkNanos(this, STANDBY_NANOS);
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

	private AwaiterRole spin(PendingCall call, long deadlineNanos) {
		while (!call.isDone() && !this.calls.areSeveral() && this.ready.isEmpty() && !this.closing
				&& !isGivenUp(deadlineNanos, this.work.nowNanos())) {
			if (!turn()) {
				if (hasPolledEnough()) {
					return prepareAwait();
				}
				this.spinBudget.pause();
			}
		}
		return AwaiterRole.NOT_NEEDED;
	}

	boolean isClosing() {
		return this.closing;
	}

	boolean isDriven() {
		return this.driver != null;
	}

	boolean isDrivenOrAwaited() {
		return isDriven() || this.awaiter != null;
	}

	/** Whether to sleep rather than poll; driver, after a turn that found nothing. */
	boolean hasPolledEnough() {
		long now = this.work.nowNanos();
		return this.spinBudget.isSpent(now) && !(this.work.expectsBytes() && this.spinBudget.pollsForTransfer(now));
	}

	/** Between two polls; any thread. */
	void pause() {
		this.spinBudget.pause();
	}

	private void park(PendingCall call, long deadlineNanos) {
		this.thread.wakeIfStandingBy();
		long nanos = remaining(deadlineNanos, System.nanoTime());
		if (nanos > 0 && !call.isDone()) {
			LockSupport.parkNanos(this, nanos);
		}
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

	private static boolean isGivenUp(long deadlineNanos, long now) {
		return (deadlineNanos != Long.MAX_VALUE && now - deadlineNanos >= 0) || Thread.currentThread().isInterrupted();
	}

	private static long remaining(long deadlineNanos, long now) {
		return (deadlineNanos == Long.MAX_VALUE) ? Long.MAX_VALUE : deadlineNanos - now;
	}

	void callStarted() {
		this.calls.started();
		if (this.calls.areSeveral() && this.crowdedNanos != this.work.nowNanos()) {
			this.crowdedNanos = this.work.nowNanos();
		}
	}

	void callFinished() {
		this.calls.finished();
	}

	int outstandingCalls() {
		return this.calls.count();
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
		this.thread.close();
		LoopClosing rest = new LoopClosing(this.completions, () -> this.thread.breakOff(this.driver));
		rest.await(() -> this.thread.hasEnded() && this.awaiter == null);
		this.spinBudget.fallAsleep();
		this.last = task;
		rest.await(() -> {
			if (tryEnter()) {
				exit(null);
			}
			return this.last == null;
		});
		if (this.last != null) {
			logger.warn("{} closes as soon as a callback returns{}", name(), LoopWatch.heldUpBy(this.driver));
		}
	}

	@Override
	public String toString() {
		return name();
	}

}
