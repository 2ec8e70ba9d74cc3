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

package dev.rdmarpc.verbs.support;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.WorkRequest;

/** A work queue with two threads posting, or one posting and one consuming. */
final class WorkQueueStress {

	private WorkQueueStress() {
	}

	private static boolean post(WorkQueue queue, long id) {
		return queue.post(new WorkRequest(1).receive(id)) == PostResult.POSTED;
	}

	private static WorkQueue holdingOne() {
		WorkQueue queue = new WorkQueue(1, 1);
		post(queue, 1);
		return queue;
	}

	/** Takes the oldest entry, 0 if there is none. */
	private static int take(WorkQueue queue) {
		if (queue.isEmpty()) {
			return 0;
		}
		int id = (int) queue.id(queue.head());
		queue.release();
		return id;
	}

	/** Both entries are in the queue, whole. */
	@JCStressTest
	@Outcome(id = { "1, 2", "2, 1" }, expect = Expect.ACCEPTABLE, desc = "one after the other")
	@Outcome(expect = Expect.FORBIDDEN, desc = "an entry is lost")
	@State
	public static class TwoPosters {

		private final WorkQueue queue = new WorkQueue(2, 1);

		@Actor
		public void first() {
			post(this.queue, 1);
		}

		@Actor
		public void second() {
			post(this.queue, 2);
		}

		@Arbiter
		public void taken(II_Result result) {
			result.r1 = take(this.queue);
			result.r2 = take(this.queue);
		}

	}

	/** An entry that is seen is seen whole, and its place is used again only then. */
	@JCStressTest
	@Outcome(id = { "1, 0, 2", "1, 2, 0" }, expect = Expect.ACCEPTABLE, desc = "posted when there was room")
	@Outcome(id = "1, 0, 0", expect = Expect.ACCEPTABLE, desc = "full when it was posted")
	@Outcome(expect = Expect.FORBIDDEN, desc = "an entry is overwritten or not whole")
	@State
	public static class PosterAgainstConsumer {

		private final WorkQueue queue = holdingOne();

		@Actor
		public void poster() {
			post(this.queue, 2);
		}

		@Actor
		public void consumer(III_Result result) {
			result.r1 = take(this.queue);
			result.r2 = take(this.queue);
		}

		@Arbiter
		public void rest(III_Result result) {
			result.r3 = take(this.queue);
		}

	}

	/** Whoever posts and then looks for a taker, and a taker that looks for entries. */
	@JCStressTest
	@Outcome(id = { "1, 0", "0, 1", "1, 1" }, expect = Expect.ACCEPTABLE, desc = "one sees the other")
	@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "nobody sees to the entry")
	@State
	public static class PostThenLook {

		private final WorkQueue queue = new WorkQueue(1, 1);

		private volatile boolean looked;

		@Actor
		public void poster(II_Result result) {
			post(this.queue, 1);
			result.r1 = this.looked ? 1 : 0;
		}

		@Actor
		public void taker(II_Result result) {
			this.looked = true;
			result.r2 = this.queue.isEmpty() ? 0 : 1;
		}

	}

}
