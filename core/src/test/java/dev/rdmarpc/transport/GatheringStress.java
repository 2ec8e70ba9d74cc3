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

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

import dev.rdmarpc.transport.LoopSleepStress.Loop;

/**
 * Code that submits much leaves messages to the loop and then waits for what they bring
 * about, while the loop falls asleep. The thread does not drive before the code has
 * returned, so somebody else has to notice each of them.
 */
final class GatheringStress {

	private GatheringStress() {
	}

	/** Leaves a task and waits for it, within code that submits much. */
	private static int leaveAndWait(AtomicInteger task) {
		AtomicInteger seen = new AtomicInteger();
		Loop.DRIVER.gathering().run(() -> {
			Loop.DRIVER.execute(task::incrementAndGet);
			seen.set(await(task, 1));
		});
		return seen.get();
	}

	private static int await(AtomicInteger task, int times) {
		long begin = System.nanoTime();
		while (task.get() < times && System.nanoTime() - begin < LoopSleepStress.LOST_NANOS) {
			LockSupport.parkNanos(1_000);
		}
		return task.get();
	}

	/** Two threads do, and only one of them wakes the loop. */
	@JCStressTest
	@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "both were noticed")
	@Outcome(expect = Expect.FORBIDDEN, desc = "a wake-up was lost, or a task ran twice")
	@State
	public static class LeaveAndLeave {

		private final AtomicInteger first = new AtomicInteger();

		private final AtomicInteger second = new AtomicInteger();

		@Actor
		public void one(II_Result result) {
			result.r1 = leaveAndWait(this.first);
		}

		@Actor
		public void another(II_Result result) {
			result.r2 = leaveAndWait(this.second);
		}

	}

	/** Something arrives meanwhile, which wakes the loop, too. */
	@JCStressTest
	@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "both were noticed")
	@Outcome(expect = Expect.FORBIDDEN, desc = "a wake-up was lost, or a task ran twice")
	@State
	public static class LeaveAndArrive {

		private final AtomicInteger left = new AtomicInteger();

		private final AtomicInteger arrived = new AtomicInteger();

		@Actor
		public void gatherer(II_Result result) {
			result.r1 = leaveAndWait(this.left);
		}

		@Actor
		public void peer() {
			Loop.WORK.arrivals.add(this.arrived);
			Loop.COMPLETIONS.wakeUp();
		}

		@Arbiter
		public void count(II_Result result) {
			result.r2 = await(this.arrived, 1);
		}

	}

	/**
	 * Code that does not wait leaves two tasks, while another thread submits and drives.
	 */
	@JCStressTest
	@Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "each ran once")
	@Outcome(expect = Expect.FORBIDDEN, desc = "a task was lost or ran twice")
	@State
	public static class LeaveTwiceAndSubmit {

		private final AtomicInteger left = new AtomicInteger();

		private final AtomicInteger submitted = new AtomicInteger();

		@Actor
		public void gatherer() {
			Loop.DRIVER.gathering().run(() -> {
				Loop.DRIVER.execute(this.left::incrementAndGet);
				Loop.DRIVER.execute(this.left::incrementAndGet);
			});
		}

		@Actor
		public void submitter() {
			Loop.DRIVER.execute(this.submitted::incrementAndGet);
		}

		@Arbiter
		public void count(II_Result result) {
			result.r1 = await(this.left, 2);
			result.r2 = await(this.submitted, 1);
		}

	}

}
