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

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A loop that never polls in vain arms the notification, looks once more and falls asleep
 * while something arrives, is submitted, or both. Nothing but that wakes it: its next
 * tick is far away, and an event before the notification is armed does not count.
 */
final class LoopSleepStress {

	/** Only a wake-up that was lost takes as long. */
	static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(10);

	private LoopSleepStress() {
	}

	private static void awaitBoth(AtomicInteger one, AtomicInteger another) {
		long begin = System.nanoTime();
		while ((one.get() == 0 || another.get() == 0) && System.nanoTime() - begin < LOST_NANOS) {
			LockSupport.parkNanos(1_000);
		}
	}

	/** Something arrives while something else is submitted. */
	@JCStressTest
	@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "both were noticed")
	@Outcome(expect = Expect.FORBIDDEN, desc = "a wake-up was lost")
	@State
	public static class ArriveAndSubmit {

		private final AtomicInteger arrived = new AtomicInteger();

		private final AtomicInteger submitted = new AtomicInteger();

		@Actor
		public void peer() {
			Loop.WORK.arrivals.add(this.arrived);
			Loop.COMPLETIONS.wakeUp();
		}

		@Actor
		public void submitter() {
			Loop.DRIVER.execute(this.submitted::incrementAndGet);
		}

		@Arbiter
		public void count(II_Result result) {
			awaitBoth(this.arrived, this.submitted);
			result.r1 = this.arrived.get();
			result.r2 = this.submitted.get();
		}

	}

	/** The same where the thread that submits must not drive. */
	@JCStressTest
	@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "both were noticed")
	@Outcome(expect = Expect.FORBIDDEN, desc = "a wake-up was lost")
	@State
	public static class ArriveAndLeave {

		private final AtomicInteger arrived = new AtomicInteger();

		private final AtomicInteger submitted = new AtomicInteger();

		@Actor
		public void peer() {
			Loop.WORK.arrivals.add(this.arrived);
			Loop.COMPLETIONS.wakeUp();
		}

		@Actor
		public void submitter() {
			Loop.DRIVER.executeLater(this.submitted::incrementAndGet);
		}

		@Arbiter
		public void count(II_Result result) {
			awaitBoth(this.arrived, this.submitted);
			result.r1 = this.arrived.get();
			result.r2 = this.submitted.get();
		}

	}

	/** The loop of all states, here and where else a loop is to fall asleep. */
	static final class Loop {

		static final FakeCompletionQueue COMPLETIONS = new FakeCompletionQueue();

		static final Work WORK = new Work();

		static final LoopDriver DRIVER = new LoopDriver("loop-of-the-test", WORK, COMPLETIONS, new LoopMetrics(),
				new PollingOptions(PollingMode.EVENT, 0), new LoopWatcher());

		static {
			DRIVER.start();
		}

		private Loop() {
		}

	}

	/** Takes what has arrived. */
	static final class Work implements LoopWork {

		final ConcurrentLinkedQueue<AtomicInteger> arrivals = new ConcurrentLinkedQueue<>();

		private long nowNanos = System.nanoTime();

		@Override
		public boolean turn() {
			this.nowNanos = System.nanoTime();
			boolean worked = Loop.DRIVER.drainInbox();
			for (AtomicInteger arrived = this.arrivals.poll(); arrived != null; arrived = this.arrivals.poll()) {
				arrived.incrementAndGet();
				worked = true;
			}
			dawdle();
			return worked;
		}

		/** What comes now has been missed: the loop must not fall asleep without it. */
		private static void dawdle() {
			for (int i = 0; i < 50; i++) {
				Thread.onSpinWait();
			}
		}

		@Override
		public long nowNanos() {
			return this.nowNanos;
		}

		@Override
		public void flush() {
			// nothing is sent
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
