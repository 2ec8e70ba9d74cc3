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
 * Finds blocks: in the thread's cache, then in the size class, then in the extents; large
 * ones are runs of pages. Thread-safe.
 *
 * <p>
 * Implementation notes. A block in use belongs to whoever has its buffer. A free one
 * belongs to exactly one place, under the lock of that place: a {@link ThreadCache}, the
 * {@link Span} in its {@link SizeClassPool}, or the pages of its extent in
 * {@link Extents}. Locks are taken in this order: cache, size class, extents. Each
 * hand-over from one thread to the next goes through one of these locks, so whoever
 * allocates a block sees all that its last user did. Extents are registered and
 * deregistered while none of these locks is held: registered by who lacks memory,
 * deregistered in the background. Who waits for memory looks again when either is done.
 */
final class BlockAllocator {

	private final RegisteredBuffer.Home home;

	private final SizeClassPool[] pools = new SizeClassPool[SizeClasses.COUNT];

	private final ThreadCaches caches;

	private final Extents extents;

	private final Waiters waiters;

	private final BackgroundWork deregistering;

	private final BackgroundWork collecting;

	/** When a large block was taken or given back for the last time. */
	private volatile long largeMovedNanos = System.nanoTime();

	BlockAllocator(RegisteredBuffer.Home home, MemoryOptions options, Extents extents, Waiters waiters,
			BackgroundWork deregistering) {
		this.home = home;
		this.extents = extents;
		this.waiters = waiters;
		this.deregistering = deregistering;
		this.collecting = new BackgroundWork(() -> {
			extents.collect();
			waiters.signal();
		});
		for (int sizeClass = 0; sizeClass < this.pools.length; sizeClass++) {
			this.pools[sizeClass] = new SizeClassPool(home, extents, sizeClass, options.maxBytes());
		}
		this.caches = new ThreadCaches(options, extents, this.pools);
	}

	/** Takes a block from what there is, or none. */
	@Nullable RegisteredBuffer take(int lengthBytes) {
		if (lengthBytes > SizeClasses.MAX_BYTES) {
			return takePages(pagesFor(lengthBytes));
		}
		ThreadCache cache = this.caches.lock();
		try {
			return cache.take(SizeClasses.indexOf(lengthBytes), this.waiters.any());
		}
		finally {
			cache.unlock();
		}
	}

	/**
	 * Takes several small blocks from what there is.
	 * @param into gets them, from its beginning on
	 * @return how many there were
	 */
	int take(int lengthBytes, @Nullable RegisteredBuffer[] into, int most) {
		int sizeClass = SizeClasses.indexOf(lengthBytes);
		int count = 0;
		ThreadCache cache = this.caches.lock();
		try {
			while (count < most) {
				RegisteredBuffer block = cache.take(sizeClass, this.waiters.any());
				if (block == null) {
					return count;
				}
				into[count++] = block;
			}
			return count;
		}
		catch (OutOfMemoryError ex) {
			if (count == 0) {
				throw ex;
			}
			return count;
		}
		finally {
			cache.unlock();
		}
	}

	private @Nullable RegisteredBuffer takePages(int pages) {
		Span span = this.extents.takeSpan(pages, Span.LARGE);
		if (span == null) {
			return null;
		}
		this.largeMovedNanos = System.nanoTime();
		RegisteredBuffer block;
		try {
			block = span.take(this.home);
		}
		catch (OutOfMemoryError ex) {
			this.extents.giveSpan(span);
			throw ex;
		}
		return counted(block);
	}

	private RegisteredBuffer counted(RegisteredBuffer block) {
		ThreadCache cache = this.caches.lock();
		cache.countAllocation(block.blockBytes());
		cache.unlock();
		return block;
	}

	/**
	 * Takes a block, growing if need be.
	 * @return {@code null} when the budget is spent
	 * @throws MemoryExhaustedException when the process has no memory or a device refuses
	 */
	@Nullable RegisteredBuffer takeOrGrow(int lengthBytes) {
		int pages = spanPages(lengthBytes);
		this.caches.flushOrphans();
		trim();
		RegisteredBuffer block = null;
		boolean again = true;
		while (block == null && again) {
			long seen = this.extents.added();
			block = take(lengthBytes);
			again = block == null && grow(pages, seen);
		}
		deregisterRetired();
		return block;
	}

	/** Grows; if that fails, what it would have taken of the budget is for others. */
	private boolean grow(int pages, long seen) {
		boolean complete = false;
		try {
			boolean grown = this.extents.grow(pages, seen);
			complete = true;
			return grown;
		}
		finally {
			if (!complete && this.waiters.any()) {
				this.waiters.signal();
			}
		}
	}

	/**
	 * Takes a block after collecting all that is free anywhere.
	 * @param grow whether extents may be exchanged for one that fits
	 * @return {@code null} when there is nothing left that could be used
	 * @throws MemoryExhaustedException when the process has no memory or a device refuses
	 */
	@Nullable RegisteredBuffer takeReclaimed(int lengthBytes, boolean grow) {
		this.caches.flush();
		trim();
		RegisteredBuffer block = take(lengthBytes);
		if (block == null && grow) {
			this.extents.makeRoom(spanPages(lengthBytes));
			block = takeOrGrow(lengthBytes);
		}
		if (block == null && lengthBytes <= SizeClasses.MAX_BYTES) {
			block = takeAnotherKind(lengthBytes, grow);
		}
		if (block == null && grow && this.extents.want(pagesFor(lengthBytes))) {
			this.collecting.request();
		}
		deregisterRetired();
		return block;
	}

	/** For how long no large block was taken or given back, and no memory added. */
	long stillNanos() {
		return Math.min(System.nanoTime() - this.largeMovedNanos, this.extents.stillNanos());
	}

	/** Whether the garbage collector is freeing memory that somebody lacks. */
	boolean isCollecting() {
		return this.collecting.isActive();
	}

	/** A block of another kind than it should be: just pages, or of a larger class. */
	private @Nullable RegisteredBuffer takeAnotherKind(int lengthBytes, boolean grow) {
		int pages = pagesFor(lengthBytes);
		long seen = this.extents.added();
		RegisteredBuffer block = takePages(pages);
		if (block == null && grow && grow(pages, seen)) {
			block = takePages(pages);
		}
		for (int larger = SizeClasses.indexOf(lengthBytes) + 1; block == null && larger < this.pools.length; larger++) {
			block = this.pools[larger].take(false);
			if (block != null) {
				counted(block);
			}
		}
		return block;
	}

	/** Takes a released block back and wakes who waits for it. */
	void give(RegisteredBuffer block) {
		Span span = block.span();
		ThreadCache cache = this.caches.lock();
		try {
			if (span.sizeClass() == Span.LARGE) {
				cache.countFree(span.blockBytes());
			}
			else {
				cache.give(block, span.sizeClass(), this.waiters.any());
			}
		}
		finally {
			cache.unlock();
		}
		if (span.sizeClass() == Span.LARGE) {
			span.give(block);
			this.extents.giveSpan(span);
			this.largeMovedNanos = System.nanoTime();
		}
		deregisterRetired();
		if (this.waiters.any()) {
			this.waiters.signal();
		}
	}

	/** Lets extents go that have been free for long. The caller holds no lock. */
	void trimExtents() {
		this.extents.trim();
		deregisterRetired();
	}

	private void trim() {
		for (SizeClassPool pool : this.pools) {
			pool.trim();
		}
	}

	/** Lets extents go that are not needed. The caller holds no lock. */
	private void deregisterRetired() {
		if (this.extents.pollScattered()) {
			this.caches.flush();
			trim();
		}
		if (this.extents.hasRetired()) {
			this.deregistering.request();
		}
	}

	/** Takes an unused object for a slice, if there is one. */
	@Nullable RegisteredBuffer takeSlice() {
		ThreadCache cache = this.caches.lock();
		RegisteredBuffer slice = cache.takeSlice();
		cache.unlock();
		return slice;
	}

	/** Takes the object of a released slice. */
	void giveSlice(RegisteredBuffer slice) {
		ThreadCache cache = this.caches.lock();
		cache.giveSlice(slice);
		cache.unlock();
	}

	/** Counts the allocation of a buffer that is no block. */
	void countAllocation() {
		ThreadCache cache = this.caches.lock();
		cache.countAllocation(0);
		cache.unlock();
	}

	/** Counts the release of a buffer that is no block, or that comes after the end. */
	void countFree(int blockBytes) {
		ThreadCache cache = this.caches.lock();
		cache.countFree(blockBytes);
		cache.unlock();
	}

	/** How much is allocated. Takes no lock. */
	long allocatedBytes() {
		return this.caches.allocatedBytes();
	}

	/** A counter of the caches, over all of them. */
	long sum(ToLongFunction<ThreadCache> counter) {
		return this.caches.sum(counter);
	}

	/** Forgets all blocks. */
	void close() {
		this.caches.close();
		for (SizeClassPool pool : this.pools) {
			pool.close();
		}
	}

	private static int pagesFor(int lengthBytes) {
		return (lengthBytes + MemoryOptions.PAGE_BYTES - 1) / MemoryOptions.PAGE_BYTES;
	}

	private static int spanPages(int lengthBytes) {
		return (lengthBytes > SizeClasses.MAX_BYTES) ? pagesFor(lengthBytes)
				: SizeClasses.spanPages(SizeClasses.indexOf(lengthBytes));
	}

}
