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

import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

/**
 * The thread caches of a pool, and which one a thread uses. There is a fixed number of
 * them, so together they keep a bounded part of the budget. Thread-safe.
 *
 * <p>
 * Implementation notes. A platform thread gets a cache of its own while there is one
 * without a living owner, with all that an owner who ended left in it. Later threads, and
 * virtual ones, share the last ones, as many as there are processors, by their identity:
 * no more of them run at a time, and each call's new virtual thread would else fill
 * another cache until all of them are full. Sharing is safe because every cache has a
 * lock; if it is taken the thread goes on to another cache, so a thread that was
 * suspended while it held one delays nobody. What is released can be kept in any cache
 * and allocated from any other.
 */
final class ThreadCaches {

	private static final int MAX_CACHES = 64;

	/** The part of the budget that caches may keep together: 1/4. */
	private static final int BUDGET_SHIFT = 2;

	private final ThreadCache[] caches;

	/** How many of them, the last ones, threads share that have none of their own. */
	private final int shared;

	/** What threads refer to their caches by; empty once these are closed. */
	private final Owned[] owned;

	@SuppressWarnings("ThreadLocalUsage") // a thread has a cache in each pool
	private final ThreadLocal<@Nullable Owned> own = new ThreadLocal<>();

	ThreadCaches(MemoryOptions options, Extents extents, SizeClassPool[] pools) {
		long affordable = (options.maxBytes() >> BUDGET_SHIFT) / Math.max(1, options.threadCacheBytes());
		this.caches = new ThreadCache[(int) Math.max(1, Math.min(MAX_CACHES, affordable))];
		this.shared = Math.min(Runtime.getRuntime().availableProcessors(), this.caches.length);
		this.owned = new Owned[this.caches.length];
		int maxBytes = (int) Math.min(options.threadCacheBytes(), options.maxBytes() >> BUDGET_SHIFT);
		for (int index = 0; index < this.caches.length; index++) {
			this.caches[index] = new ThreadCache(extents, pools, maxBytes);
			this.owned[index] = new Owned(this.caches[index]);
		}
	}

	/**
	 * A cache for the current thread, locked; to be unlocked by the caller. A thread that
	 * has none yet, and no memory to note one down with, gets any.
	 */
	@SuppressWarnings("UnusedException") // whoever releases is not to fail for that
	ThreadCache lock() {
		Thread thread = Thread.currentThread();
		try {
			Owned mine = VirtualThreads.isVirtual(thread) ? null : this.own.get();
			ThreadCache cache = (mine != null) ? mine.cache : null;
			return (cache != null && cache.tryLock()) ? cache : lockAnother(thread, cache);
		}
		catch (OutOfMemoryError ex) {
			return lockAny(indexOf(thread));
		}
	}

	private ThreadCache lockAnother(Thread thread, @Nullable ThreadCache busy) {
		int index = indexOf(thread);
		if (busy == null && !VirtualThreads.isVirtual(thread)) {
			Owned mine = assign(thread);
			this.own.set(mine);
			ThreadCache cache = mine.cache;
			if (cache != null && cache.tryLock()) {
				return cache;
			}
		}
		return lockAny(index);
	}

	private ThreadCache lockAny(int index) {
		for (int tries = 0; tries < this.caches.length; tries++) {
			ThreadCache cache = this.caches[(index + this.caches.length - tries) % this.caches.length];
			if (cache.tryLock()) {
				return cache;
			}
		}
		this.caches[index].lock();
		return this.caches[index];
	}

	private synchronized Owned assign(Thread thread) {
		for (int index = 0; index < this.caches.length; index++) {
			if (this.caches[index].claim(thread)) {
				return this.owned[index];
			}
		}
		return this.owned[indexOf(thread)];
	}

	private int indexOf(Thread thread) {
		return this.caches.length - 1 - (int) (thread.getId() % this.shared);
	}

	/** Empties all caches. The caller holds no lock. */
	void flush() {
		for (ThreadCache cache : this.caches) {
			cache.lock();
			try {
				cache.flushAll();
			}
			finally {
				cache.unlock();
			}
		}
	}

	/** Empties the caches of threads that have ended. The caller holds no lock. */
	void flushOrphans() {
		for (ThreadCache cache : this.caches) {
			if (cache.isOrphaned()) {
				cache.lock();
				try {
					cache.flushAll();
				}
				finally {
					cache.unlock();
				}
			}
		}
	}

	/** Empties all caches and forgets the threads' objects. The caller holds no lock. */
	void close() {
		for (ThreadCache cache : this.caches) {
			cache.lock();
			try {
				cache.close();
			}
			finally {
				cache.unlock();
			}
		}
		for (Owned each : this.owned) {
			each.cache = null;
		}
		this.own.remove();
	}

	/** How much is allocated. Takes no lock, and so is no more than an instant's. */
	long allocatedBytes() {
		long sum = 0;
		for (ThreadCache cache : this.caches) {
			sum += cache.allocatedBytes();
		}
		return sum;
	}

	/** A counter, over all caches. The caller holds no lock. */
	long sum(ToLongFunction<ThreadCache> counter) {
		long sum = 0;
		for (ThreadCache cache : this.caches) {
			cache.lock();
			try {
				sum += counter.applyAsLong(cache);
			}
			finally {
				cache.unlock();
			}
		}
		return sum;
	}

	/**
	 * A cache as threads refer to it, which live longer than the pool. Lost with the
	 * pool: what a thread reads too late is a cache that is closed.
	 */
	private static final class Owned {

		private @Nullable ThreadCache cache;

		Owned(ThreadCache cache) {
			this.cache = cache;
		}

	}

}
