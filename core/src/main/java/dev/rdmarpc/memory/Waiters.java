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

package dev.rdmarpc.memory;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The threads that wait for memory. Thread-safe.
 *
 * <p>
 * Implementation notes: why no release is missed. A waiter first counts itself, then
 * looks for memory, emptying the caches under their locks, and sleeps unless something
 * was signalled since before it looked. Who releases reads the count after the memory is
 * where the waiter looks; both the count and the locks there are volatile, so either he
 * sees the waiter and signals, or the waiter sees the memory. For what he puts into a
 * cache he reads the count under its lock instead: if the waiter's look into the cache
 * came first, he sees the waiter and does not put it there.
 */
final class Waiters {

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition released = this.lock.newCondition();

	private final AtomicInteger count = new AtomicInteger();

	private long signals;

	/** Whether anybody waits. */
	boolean any() {
		return this.count.get() > 0;
	}

	/** Lets all who wait look again. */
	void signal() {
		this.lock.lock();
		try {
			this.signals++;
			this.released.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Looks for memory until there is some, the time is over or the thread is
	 * interrupted, which it then still is.
	 */
	<T> @Nullable T await(Supplier<@Nullable T> look, long timeoutNanos) {
		this.count.incrementAndGet();
		try {
			long remaining = timeoutNanos;
			for (;;) {
				long seen = signals();
				T found = look.get();
				if (found != null || remaining <= 0) {
					return found;
				}
				remaining = awaitSignal(seen, remaining);
			}
		}
		finally {
			this.count.decrementAndGet();
		}
	}

	private long signals() {
		this.lock.lock();
		try {
			return this.signals;
		}
		finally {
			this.lock.unlock();
		}
	}

	private long awaitSignal(long seen, long timeoutNanos) {
		long remaining = timeoutNanos;
		this.lock.lock();
		try {
			while (this.signals == seen && remaining > 0) {
				remaining = this.released.awaitNanos(remaining);
			}
			return remaining;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return 0;
		}
		finally {
			this.lock.unlock();
		}
	}

}
