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

import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A thread that runs users' code comes back when another one takes over. */
final class DriverLeaveStress {

	private static final long LEFT = 1_000;

	private static final long LATER = 2_000;

	private DriverLeaveStress() {
	}

	/** Tasks of which each is to run exactly once for each time that it is added. */
	private static final class Tasks {

		final CountedTask first = new CountedTask();

		final CountedTask second = new CountedTask();

		final CountedTask third = new CountedTask();

		/** Adds them to the tasks of a leave and has it begin. */
		Tasks leave(DriverLeave leave, long nanos) {
			this.first.linked(this.second);
			this.second.linked(this.third);
			leave.add(this.first, this.third);
			leave.begin(nanos);
			return this;
		}

		/** What the thread itself does; whether it is at home again. */
		static boolean runAll(DriverLeave leave) {
			for (UserTask task = leave.next(); task != null; task = leave.next()) {
				task.run();
			}
			return leave.end();
		}

		/** What the one does that takes over; whether it has. */
		static boolean takeOver(DriverLeave leave, long nanos, long nowNanos) {
			if (!leave.replace(nanos, nowNanos)) {
				return false;
			}
			runElsewhere(leave.takeAll());
			return true;
		}

		private static void runElsewhere(@Nullable LinkedTask first) {
			LinkedTask task = first;
			while (task != null) {
				LinkedTask next = task.linked();
				task.linked(null);
				((UserTask) task).runElsewhere();
				task = next;
			}
		}

		/** How often each was run, or -1 if not all as often. */
		int runs() {
			int runs = this.first.runs.get();
			return Stream.of(this.second, this.third).allMatch((task) -> task.runs.get() == runs) ? runs : -1;
		}

	}

	/** Either the thread comes back or it is replaced. */
	@JCStressTest
	@Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "it came back")
	@Outcome(id = "0, 1, 1", expect = Expect.ACCEPTABLE, desc = "it was replaced")
	@Outcome(expect = Expect.FORBIDDEN, desc = "both, neither, or not each task once")
	@State
	public static class ReturnAndReplace {

		private final DriverLeave leave = new DriverLeave(Thread.currentThread());

		private final Tasks tasks = new Tasks().leave(this.leave, LEFT);

		@Actor
		public void thread(III_Result result) {
			result.r1 = Tasks.runAll(this.leave) ? 1 : 0;
		}

		@Actor
		public void follower(III_Result result) {
			result.r2 = Tasks.takeOver(this.leave, 0, LEFT) ? 1 : 0;
		}

		@Arbiter
		public void count(III_Result result) {
			result.r3 = this.tasks.runs();
		}

	}

	/** Two that would take over. */
	@JCStressTest
	@Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "one of them")
	@Outcome(id = "0, 1, 1", expect = Expect.ACCEPTABLE, desc = "the other one")
	@Outcome(expect = Expect.FORBIDDEN, desc = "both, neither, or not each task once")
	@State
	public static class ReplaceAndReplace {

		private final DriverLeave leave = new DriverLeave(Thread.currentThread());

		private final Tasks tasks = new Tasks().leave(this.leave, LEFT);

		@Actor
		public void follower(III_Result result) {
			result.r1 = Tasks.takeOver(this.leave, 0, LEFT) ? 1 : 0;
		}

		@Actor
		public void another(III_Result result) {
			result.r2 = Tasks.takeOver(this.leave, 0, LEFT) ? 1 : 0;
		}

		@Arbiter
		public void count(III_Result result) {
			result.r3 = this.tasks.runs();
		}

	}

	/**
	 * The thread comes back and leaves again with the same tasks. Who has seen that its
	 * first leave lasted too long does not end the second one for that.
	 */
	@JCStressTest
	@Outcome(id = "2, 0, 2", expect = Expect.ACCEPTABLE, desc = "it came back twice")
	@Outcome(id = "0, 1, 1", expect = Expect.ACCEPTABLE, desc = "it was replaced the first time")
	@Outcome(expect = Expect.FORBIDDEN, desc = "replaced the second time, or not each task once")
	@State
	public static class ReturnAndLeaveAgain {

		private final DriverLeave leave = new DriverLeave(Thread.currentThread());

		private final Tasks tasks = new Tasks().leave(this.leave, LEFT);

		@Actor
		public void thread(III_Result result) {
			if (Tasks.runAll(this.leave)) {
				this.tasks.leave(this.leave, LATER);
				result.r1 = Tasks.runAll(this.leave) ? 2 : 1;
			}
		}

		@Actor
		public void follower(III_Result result) {
			result.r2 = Tasks.takeOver(this.leave, LATER - LEFT, LATER) ? 1 : 0;
		}

		@Arbiter
		public void count(III_Result result) {
			result.r3 = this.tasks.runs();
		}

	}

}
