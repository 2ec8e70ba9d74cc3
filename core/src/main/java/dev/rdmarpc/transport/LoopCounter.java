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
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

/**
 * A counter that any thread adds to, and mostly the loop's own, away or driving, which
 * does so without an atomic operation.
 *
 * <p>
 * Implementation notes. Each thread of the loop's has a part that only it writes; what
 * others add is in an adder. A thread that is replaced while it adds may have that count
 * lost, since its part is summed up by then: what one message counts, where users' code
 * held up the loop. The sum never becomes less otherwise, and is no more than an
 * instant's.
 */
final class LoopCounter {

	private final LongAdder others = new LongAdder();

	private volatile @Nullable Part own;

	/**
	 * Says which thread is the loop's from now on; one at a time, any thread. Without
	 * memory to note that down, it counts as others do.
	 */
	@SuppressWarnings("UnusedException") // the loop is not to lose its thread for that
	void ownedBy(Thread thread) {
		Part before = this.own;
		try {
			this.own = new Part(thread, (before != null) ? before.count() : 0);
		}
		catch (OutOfMemoryError ex) {
			// the part before stays, and is written no more
		}
	}

	/** Any thread. */
	void add(long more) {
		Part part = this.own;
		if (part != null && part.owner == Thread.currentThread()) {
			part.add(more);
		}
		else {
			this.others.add(more);
		}
	}

	/** Any thread. */
	long sum() {
		Part part = this.own;
		return this.others.sum() + ((part != null) ? part.count() : 0);
	}

	/** What one thread has added, and those that were the loop's before it. */
	private static final class Part {

		private static final VarHandle COUNT;

		static {
			try {
				COUNT = MethodHandles.lookup().findVarHandle(Part.class, "count", long.class);
			}
			catch (ReflectiveOperationException ex) {
				throw new ExceptionInInitializerError(ex);
			}
		}

		private final Thread owner;

		private long count;

		Part(Thread owner, long count) {
			this.owner = owner;
			this.count = count;
		}

		void add(long more) {
			COUNT.setOpaque(this, this.count + more);
		}

		long count() {
			return (long) COUNT.getOpaque(this);
		}

	}

}
