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

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.transport.Classes;
import dev.rdmarpc.transport.DeadlineQueue;

/**
 * The calls that wait for a thread, in a lane for each connection. The lanes are served
 * in turn, so that the calls of one connection do not keep those of others waiting, even
 * if all of them are urgent. Within a lane the more urgent ones go first, those of one
 * priority in the order of their deadlines, and those that wait are passed a bounded
 * number of times. In what order calls begin is decided here, on which threads they run
 * by the executor.
 *
 * <p>
 * Thread-safe.
 *
 * <p>
 * Implementation notes. The executor is not given calls but turns: {@link #takeTurn} runs
 * the first call of the lane whose turn it is when a thread is free, and not when the
 * call came. So nothing need be known of the executor. There are at least as many turns
 * as waiting calls; turns left over from calls that were withdrawn are used for the next
 * ones, so that the executor never holds more turns than calls have waited at once. An
 * executor that drops turns without a word, or whose threads die, would leave calls
 * waiting for ever once there are as many lost turns as calls: when calls have waited for
 * a second in which none began, the next one asks for a <em>recount</em>, and for another
 * one after twice the time if that does not come either. When one runs, the turns that
 * were asked for before it have run as well, or are lost, and turns are asked for again
 * for the calls that are left without. An executor that merely takes its time has nothing
 * counted twice by that, and its threads are never kept for more than one call; one that
 * does not keep the order is given a few turns too many, which find nothing to do. Lanes
 * link their calls through the calls themselves, and links and counts are guarded by this
 * object's lock, under which no code of others runs. The first call of a lane needs no
 * memory there, so that adding it fails before the lane has its turn, or not at all.
 */
final class CallQueue {

	/** Made with the class: there may be no memory for a literal when it is needed. */
	private static final String EXECUTOR_FAILED = "the executor of the server failed".intern();

	private static final RateLimitedLogger failures = new RateLimitedLogger(LoggerFactory.getLogger(CallQueue.class));

	/** After how long without a turn those that were asked for may be lost. */
	private static final long LOST_NANOS = 1_000_000_000;

	/** After how long without a beginning all threads are taken for stuck. */
	static final long STUCK_NANOS = 10_000_000_000L;

	/** The same where recounts have not come either, each after twice the time. */
	private static final long MOST_NANOS = 32 * LOST_NANOS;

	private final Executor executor;

	private final Runnable turn = new Turn();

	private final Runnable recount = this::recount;

	private final Deque<Lane> waiting = new ArrayDeque<>();

	private int calls;

	private int turns;

	/** Those of the turns that were asked for before a recount. */
	private int doubtful;

	private long movedNanos;

	/** Since when a thread has been wanted without any having come; 0 if none is. */
	private long wantedSince;

	private long begun;

	private long lostNanos = LOST_NANOS;

	CallQueue(Executor executor) {
		this.executor = executor;
	}

	/**
	 * Adds a call, which then runs in its turn, or is refused if there is no thread.
	 * @return {@code false} if it was canceled before, so that nobody withdraws it
	 */
	boolean add(Lane lane, QueuedWork call) {
		boolean wanted;
		boolean lost;
		long now = System.nanoTime();
		synchronized (this) {
			if (call.isCancelled()) {
				return false;
			}
			if (lane.length == 0) {
				this.waiting.add(lane);
			}
			lane.add(call);
			this.calls++;
			wanted = claimTurn();
			lost = !wanted && now - this.movedNanos > this.lostNanos;
			if (lost) {
				this.doubtful = (this.doubtful == 0) ? this.turns : this.doubtful;
				this.lostNanos = Math.min(2 * this.lostNanos, MOST_NANOS);
			}
			if (lost || (wanted && this.calls == 1)) {
				this.movedNanos = now;
			}
			if (this.wantedSince == 0) {
				this.wantedSince = now;
			}
		}
		if (wanted) {
			askForThread();
		}
		else if (lost) {
			askForRecount();
		}
		return true;
	}

	/** Whether another turn is needed, which the caller then asks for. */
	private synchronized boolean claimTurn() {
		boolean wanted = this.turns < this.calls;
		if (wanted) {
			this.turns++;
		}
		return wanted;
	}

	@SuppressWarnings("UnusedException") // an executor that is full has not lost anything
	private void askForRecount() {
		try {
			this.executor.execute(this.recount);
		}
		catch (Throwable ex) {
			// the turns that were asked for may come after all
		}
	}

	private void askForThread() {
		try {
			this.executor.execute(this.turn);
		}
		catch (RejectedExecutionException ex) {
			refuse("the executor of the server takes no more calls");
		}
		catch (Throwable ex) {
			refuse(reason(ex));
		}
	}

	/** What the caller is told; without memory it is less. */
	private static String reason(Throwable failure) {
		try {
			failures.log(Level.ERROR, "The executor of the server failed", failure);
			return "the executor of the server failed: " + FailureText.of(failure);
		}
		catch (Throwable ex) {
			return EXECUTOR_FAILED;
		}
	}

	private void refuse(String why) {
		QueuedWork refused = withdrawForLostTurn();
		if (refused != null) {
			refused.reject(why);
		}
	}

	/** Takes the newest call of the longest lane, unless there are turns for all. */
	private synchronized @Nullable QueuedWork withdrawForLostTurn() {
		endTurns(1);
		if (this.turns >= this.calls) {
			return null;
		}
		Lane longest = this.waiting.element();
		for (int i = this.waiting.size(); i > 0; i--) {
			// once round, which unlike an iterator needs no memory
			Lane lane = this.waiting.remove();
			longest = (lane.length > longest.length) ? lane : longest;
			this.waiting.add(lane);
		}
		QueuedWork newest = longest.last();
		take(newest);
		return newest;
	}

	/** An executor may count one twice, by taking it and failing all the same. */
	private void endTurns(int count) {
		this.turns = Math.max(0, this.turns - count);
		this.doubtful = Math.max(0, this.doubtful - count);
		if (this.turns == 0 && this.calls == 0) {
			this.wantedSince = 0;
		}
	}

	private void recount() {
		synchronized (this) {
			endTurns(this.doubtful);
			this.lostNanos = LOST_NANOS;
		}
		while (claimTurn()) {
			askForThread();
		}
	}

	private void takeTurn() {
		QueuedWork next = null;
		long now = System.nanoTime();
		synchronized (this) {
			endTurns(1);
			this.movedNanos = now;
			this.lostNanos = LOST_NANOS;
			Lane lane = this.waiting.poll();
			if (lane != null) {
				next = lane.takeFirst();
				this.calls--;
				this.begun++;
				if (lane.length > 0) {
					this.waiting.add(lane);
				}
			}
			this.wantedSince = (this.calls > 0) ? now : 0;
		}
		if (next != null) {
			next.runInTurn();
		}
	}

	/** Refuses whatever still waits; not the driver. */
	void refuseAll(String why) {
		for (QueuedWork call = withdrawNext(); call != null; call = withdrawNext()) {
			call.reject(why);
		}
	}

	private synchronized @Nullable QueuedWork withdrawNext() {
		Lane lane = this.waiting.peek();
		if (lane == null) {
			return null;
		}
		QueuedWork next = lane.first();
		take(next);
		return next;
	}

	/**
	 * Takes a call back.
	 * @return whether it was waiting; otherwise it has begun, or was never added
	 */
	synchronized boolean withdraw(QueuedWork call) {
		boolean waits = call.lane != null;
		if (waits) {
			take(call);
		}
		return waits;
	}

	private void take(QueuedWork call) {
		Lane lane = call.lane;
		if (lane != null) {
			this.calls--;
			lane.remove(call);
			if (lane.length == 0) {
				this.waiting.remove(lane);
			}
		}
	}

	/** Calls that wait. */
	synchronized int waiting() {
		return this.calls;
	}

	/** Calls that have begun. */
	synchronized long begun() {
		return this.begun;
	}

	/** For how long no thread has come although one is wanted, if that is long. */
	synchronized @Nullable Duration stuck(long nowNanos) {
		long nanos = nowNanos - this.wantedSince;
		return (this.wantedSince != 0 && nanos >= STUCK_NANOS) ? Duration.ofNanos(nanos) : null;
	}

	/** What the executor runs, or has no thread for. */
	private final class Turn implements HandlerPool.Refusable {

		@Override
		public void run() {
			takeTurn();
		}

		@Override
		public void refuse(Throwable cause) {
			CallQueue.this.refuse(reason(cause));
		}

	}

	/**
	 * The calls of one connection that wait, those of one priority in the order of their
	 * deadlines.
	 */
	static final class Lane {

		/** From the least urgent ones on. */
		private final List<DeadlineQueue<QueuedWork>> lines = List.of(new DeadlineQueue<>(), new DeadlineQueue<>(),
				new DeadlineQueue<>());

		/** How often more urgent ones were taken since one of each line was. */
		private final int[] passes = new int[Classes.COUNT];

		private int length;

		private void add(QueuedWork call) {
			this.lines.get(line(call)).add(call.place, call.dueNanos);
			call.lane = this;
			this.length++;
		}

		private static int line(QueuedWork call) {
			return Classes.of(call.priority);
		}

		/** The most urgent one, unless others were passed often enough. */
		private QueuedWork first() {
			QueuedWork next = null;
			for (int i = Classes.COUNT - 1; i >= 0; i--) {
				QueuedWork first = this.lines.get(i).first();
				if (first != null && (next == null || Classes.isDue(i, this.passes[i]))) {
					next = first;
				}
			}
			return required(next);
		}

		/** The newest one of the least urgent ones. */
		private QueuedWork last() {
			QueuedWork last = null;
			for (int i = 0; i < Classes.COUNT && last == null; i++) {
				last = this.lines.get(i).last();
			}
			return required(last);
		}

		/** Takes the call whose turn it is. */
		private QueuedWork takeFirst() {
			QueuedWork next = first();
			int taken = line(next);
			next.lane = null;
			this.lines.get(taken).take(next.place);
			this.length--;
			this.passes[taken] = 0;
			for (int i = 0; i < taken; i++) {
				this.passes[i] += this.lines.get(i).isEmpty() ? 0 : 1;
			}
			return next;
		}

		private void remove(QueuedWork call) {
			call.lane = null;
			this.lines.get(line(call)).remove(call.place);
			this.length--;
		}

		private static QueuedWork required(@Nullable QueuedWork call) {
			if (call == null) {
				throw new IllegalStateException("an empty lane had its turn");
			}
			return call;
		}

	}

}
