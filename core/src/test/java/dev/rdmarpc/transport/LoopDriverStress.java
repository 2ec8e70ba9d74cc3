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

import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Who drives: callers that wait, threads that leave something, the loop's thread, and
 * those that take over from it. All states of a test share one loop, whose thread runs.
 */
final class LoopDriverStress {

	/** Only a wake-up that was lost takes as long. */
	private static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(10);

	private LoopDriverStress() {
	}

	/** Whether something happens soon that others bring about. */
	private static boolean awaitTrue(BooleanSupplier condition) {
		long begin = System.nanoTime();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - begin > LOST_NANOS) {
				return false;
			}
			LockSupport.parkNanos(1_000);
		}
		return true;
	}

	/** Two threads leave something for the driver. */
	@JCStressTest
	@Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "each ran, one after the other")
	@Outcome(expect = Expect.FORBIDDEN, desc = "lost, or two drivers")
	@State
	public static class LeaveAndLeave {

		private int plain;

		@Actor
		public void one() {
			Loop.DRIVER.execute(() -> Loop.WORK.exclusively(() -> this.plain++));
		}

		@Actor
		public void another() {
			Loop.DRIVER.execute(() -> Loop.WORK.exclusively(() -> this.plain++));
		}

		@Arbiter
		public void count(II_Result result) {
			AtomicInteger seen = new AtomicInteger(-1);
			Loop.DRIVER.execute(() -> seen.set(this.plain));
			awaitTrue(() -> seen.get() >= 0);
			result.r1 = seen.get();
			result.r2 = Loop.WORK.violations();
		}

	}

	/** Two threads make users' code ready. */
	@JCStressTest
	@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "each once, and not while driving")
	@Outcome(expect = Expect.FORBIDDEN, desc = "lost, twice, or while driving")
	@State
	public static class ReadyAndReady {

		private final CountedTask first = new CountedTask(Loop::mustNotDrive);

		private final CountedTask second = new CountedTask(Loop::mustNotDrive);

		@Actor
		public void one() {
			Loop.DRIVER.execute(() -> Loop.DRIVER.afterTurn(this.first));
		}

		@Actor
		public void another() {
			Loop.DRIVER.execute(() -> Loop.DRIVER.afterTurn(this.second));
		}

		@Arbiter
		public void count(III_Result result) {
			awaitTrue(() -> this.first.runs.get() > 0 && this.second.runs.get() > 0);
			result.r1 = this.first.runs.get();
			result.r2 = this.second.runs.get();
			result.r3 = Loop.WORK.violations();
		}

	}

	/** Two callers wait, and the reply of each comes when the other one begins to. */
	@JCStressTest
	@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "both were told")
	@Outcome(expect = Expect.FORBIDDEN, desc = "a wake-up was lost, or two drivers")
	@State
	public static class WaitAndWait {

		private final Reply first = new Reply();

		private final Reply second = new Reply();

		@Actor
		public void one(III_Result result) {
			this.second.arrive();
			result.r1 = this.first.call();
		}

		@Actor
		public void another(III_Result result) {
			this.first.arrive();
			result.r2 = this.second.call();
		}

		@Arbiter
		public void count(III_Result result) {
			result.r3 = Loop.WORK.violations();
		}

	}

	/** A caller waits while users' code of another call becomes ready. */
	@JCStressTest
	@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "told, and run elsewhere")
	@Outcome(expect = Expect.FORBIDDEN, desc = "a wake-up or a task was lost, or ran in the call")
	@State
	public static class WaitAndReady {

		private final Reply call = new Reply();

		private volatile @Nullable Thread caller;

		private final CountedTask task = new CountedTask(() -> {
			Loop.mustNotDrive();
			if (Thread.currentThread() == this.caller) {
				Loop.WORK.violated();
			}
		});

		@Actor
		public void caller(III_Result result) {
			this.caller = Thread.currentThread();
			result.r1 = this.call.call();
		}

		@Actor
		public void peer() {
			Loop.DRIVER.execute(() -> Loop.DRIVER.afterTurn(this.task));
			this.call.arrive();
		}

		@Arbiter
		public void count(III_Result result) {
			awaitTrue(() -> this.task.runs.get() > 0);
			result.r2 = this.task.runs.get();
			result.r3 = Loop.WORK.violations();
		}

	}

	/**
	 * What users' code waits for is brought about though it holds up the loop's thread.
	 */
	@JCStressTest
	@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "somebody took over")
	@Outcome(expect = Expect.FORBIDDEN, desc = "nobody drove, or two did")
	@State
	public static class HoldUpAndTakeOver {

		private final Reply call = new Reply();

		private volatile boolean released;

		private final CountedTask holdUp = new CountedTask(() -> {
			if (!awaitTrue(() -> this.released)) {
				Loop.WORK.violated();
			}
		});

		private final CountedTask after = new CountedTask(() -> this.released = true);

		@Actor
		public void user() {
			Loop.DRIVER.execute(() -> {
				Loop.DRIVER.afterTurn(this.holdUp);
				Loop.DRIVER.afterTurn(this.after);
			});
			this.call.arrive();
		}

		@Actor
		public void caller(III_Result result) {
			result.r1 = this.call.call();
		}

		@Arbiter
		public void count(III_Result result) {
			awaitTrue(() -> this.holdUp.runs.get() > 0 && this.after.runs.get() > 0);
			result.r2 = Math.max(this.holdUp.runs.get(), this.after.runs.get());
			result.r3 = Loop.WORK.violations();
		}

	}

	/** A call whose reply a peer sends. */
	private static final class Reply {

		private final StubCall stub = new StubCall();

		private volatile @Nullable Thread caller;

		private final AtomicInteger halves = new AtomicInteger();

		/** Waits for it as its caller does; 1 if it was told of the end. */
		int call() {
			this.caller = Thread.currentThread();
			Loop.DRIVER.executeForCaller(this::start);
			return Loop.DRIVER.waitFor(this.stub, System.nanoTime() + LOST_NANOS) ? 1 : 0;
		}

		/** The request is sent; driver. */
		private void start() {
			Loop.DRIVER.callStarted();
			arrive();
		}

		/** The peer sends the reply, as soon as it has the request; any thread. */
		void arrive() {
			if (this.halves.incrementAndGet() == 2) {
				Loop.WORK.arrived.add(this);
				Loop.COMPLETIONS.wakeUp();
			}
		}

		/** Ends the call; driver. */
		void deliver() {
			Loop.DRIVER.callFinished();
			this.stub.onFailure(CallFailure.CANCELLED, "answered");
			Loop.DRIVER.wake(Objects.requireNonNull(this.caller));
		}

	}

	/** The loop of all states of a test. */
	private static final class Loop {

		static final FakeCompletionQueue COMPLETIONS = new FakeCompletionQueue();

		static final Work WORK = new Work();

		static final LoopDriver DRIVER = new LoopDriver("loop-of-the-test", WORK, COMPLETIONS, new LoopMetrics(),
				new PollingOptions(PollingMode.ADAPTIVE, 20_000), new LoopWatcher());

		static {
			DRIVER.start();
		}

		private Loop() {
		}

		/** For users' code. */
		static void mustNotDrive() {
			if (DRIVER.isDriver()) {
				WORK.violated();
			}
		}

	}

	/** Delivers replies, and notices two drivers. */
	private static final class Work implements LoopWork {

		final ConcurrentLinkedQueue<Reply> arrived = new ConcurrentLinkedQueue<>();

		private final AtomicInteger violations = new AtomicInteger();

		private final AtomicReference<@Nullable Thread> inside = new AtomicReference<>();

		private long nowNanos = System.nanoTime();

		int violations() {
			return this.violations.get();
		}

		void violated() {
			this.violations.incrementAndGet();
		}

		void exclusively(Runnable code) {
			Thread self = Thread.currentThread();
			boolean outermost = this.inside.get() != self;
			if (outermost && !this.inside.compareAndSet(null, self)) {
				violated();
			}
			code.run();
			if (outermost) {
				this.inside.compareAndSet(self, null);
			}
		}

		@Override
		public boolean turn() {
			boolean[] worked = new boolean[1];
			exclusively(() -> {
				this.nowNanos = System.nanoTime();
				worked[0] = Loop.DRIVER.drainInbox();
				for (Reply reply = this.arrived.poll(); reply != null; reply = this.arrived.poll()) {
					reply.deliver();
					worked[0] = true;
				}
			});
			return worked[0];
		}

		@Override
		public long nowNanos() {
			return this.nowNanos;
		}

		@Override
		public void flush() {
			exclusively(() -> {
			});
		}

		@Override
		public boolean expectsBytes() {
			return false;
		}

		@Override
		public long nextTickNanos() {
			return this.nowNanos + TimeUnit.HOURS.toNanos(1);
		}

	}

}
