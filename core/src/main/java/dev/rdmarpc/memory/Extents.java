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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * The extents of a pool: gives out runs of pages, grows within the budget, and gives
 * extents back. Thread-safe.
 *
 * <p>
 * Implementation notes. The lock guards the pages and is the innermost one. Extents are
 * added and deregistered under the lock of the {@link Registrar}, which takes as long as
 * the devices need; meanwhile others go on taking and giving pages. An extent that is to
 * go leaves the list at once, so that nobody takes from it, and is deregistered by
 * {@link #settle()}, which whoever made it go calls once it holds no lock; until then it
 * counts as registered, so the budget holds at every moment.
 *
 * <p>
 * Runs are taken from the oldest extent that has one, so that the youngest become free. A
 * free extent goes when what stays free without it is at least an extent and a quarter of
 * what is in use, half of that in whole extents: the pool grows when nothing is free and
 * shrinks when much is, so it does not do both in turns. And it goes only when it has
 * been free for the retention, because a large buffer can need an extent of its own, and
 * making one costs more than filling it.
 */
final class Extents {

	private static final int SLACK_SHIFT = 2;

	private static final int WHOLE_SHIFT = 3;

	private static final int CACHE_SHIFT = 6;

	private static final int SCATTERED_SHIFT = 2;

	private final MemoryOptions options;

	private final Registrar registrar;

	private final LongSupplier clock;

	private final long retentionNanos;

	private final ReentrantLock lock = new ReentrantLock();

	private final List<Extent> extents = new ArrayList<>();

	private final ArrayDeque<Extent> retired = new ArrayDeque<>();

	/** Pages of {@link #extents} that nobody has taken. */
	private long freePages;

	/** Bytes of the extents of which nobody has taken anything. */
	private long freeExtentBytes;

	/** Of {@link #freeExtentBytes}, what is to go unless it is used again soon. */
	private long retainedBytes;

	/** What was in use when the keepers of free blocks were last asked for them. */
	private long scatteredBytes = Long.MAX_VALUE;

	/** Of {@link #retired}. */
	private long retiredBytes;

	private final AtomicLong registeredBytes = new AtomicLong();

	private final AtomicLong added = new AtomicLong();

	private final AtomicLong removed = new AtomicLong();

	private volatile int cacheLimit = Integer.MAX_VALUE;

	private volatile boolean scattered;

	private volatile boolean unsettled;

	private volatile boolean closed;

	/**
	 * Creates a pool without extents.
	 * @param clock the time in nanoseconds
	 */
	Extents(MemoryOptions options, Registrar registrar, LongSupplier clock) {
		this.options = options;
		this.registrar = registrar;
		this.clock = clock;
		this.retentionNanos = options.retention().toNanos();
	}

	/** Registers the initial extents. */
	void open() {
		long missing = this.options.initialBytes();
		while (missing > 0) {
			int bytes = (int) Math.min(this.options.extentBytes(), missing);
			add(bytes);
			missing -= bytes;
		}
	}

	/** Takes pages in a row, or none. Does not grow. */
	@Nullable Span takeSpan(int pages, int sizeClass) {
		this.lock.lock();
		try {
			return (this.freePages >= pages) ? takeClosest(pages, sizeClass) : null;
		}
		finally {
			this.lock.unlock();
		}
	}

	private @Nullable Span takeClosest(int pages, int sizeClass) {
		Extent closest = null;
		int run = -1;
		int length = Integer.MAX_VALUE;
		for (int index = 0; index < this.extents.size() && length > pages; index++) {
			Extent extent = this.extents.get(index);
			int found = extent.runs().find(pages);
			if (found >= 0 && extent.runs().length(found) < length) {
				closest = extent;
				run = found;
				length = extent.runs().length(found);
			}
		}
		if (closest == null) {
			return null;
		}
		if (closest.runs().isFree()) {
			this.freeExtentBytes -= closest.lengthBytes();
			this.retainedBytes = Math.max(0, this.retainedBytes - closest.lengthBytes());
		}
		this.freePages -= pages;
		closest.runs().take(run, pages);
		if (this.cacheLimit != Integer.MAX_VALUE) {
			limitCaches();
		}
		return closest.span(run, pages, sizeClass);
	}

	/** Takes pages back. May leave something to {@link #settle()}. */
	void giveSpan(Span span) {
		this.lock.lock();
		try {
			PageRuns runs = span.extent().runs();
			runs.give(span.page(), span.pages());
			if (this.closed) {
				return;
			}
			this.freePages += span.pages();
			if (runs.isFree()) {
				this.freeExtentBytes += span.extent().lengthBytes();
				span.extent().freeSince(this.clock.getAsLong());
			}
			retireSurplus();
			limitCaches();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Lets go of what has been free for long. May leave something to settle. */
	void trim() {
		this.lock.lock();
		try {
			retireSurplus();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void retireSurplus() {
		if (this.freeExtentBytes == 0) {
			return;
		}
		long now = this.clock.getAsLong();
		this.retainedBytes = 0;
		for (int index = this.extents.size() - 1; index >= 0; index--) {
			Extent extent = this.extents.get(index);
			long bytes = this.retainedBytes + extent.lengthBytes();
			if (extent.runs().isFree() && this.freeExtentBytes - bytes >= slack(WHOLE_SHIFT) && isSurplus(bytes)) {
				if (now - extent.freeSinceNanos() >= this.retentionNanos) {
					retire(index);
					this.unsettled = true;
				}
				else {
					this.retainedBytes = bytes;
				}
			}
		}
	}

	/** Whether so many free bytes could go. */
	private boolean isSurplus(long bytes) {
		long staying = this.registeredBytes.get() - this.retiredBytes;
		return pageBytes(this.freePages) - bytes >= slack(SLACK_SHIFT)
				&& staying - bytes >= this.options.initialBytes();
	}

	private long slack(int shift) {
		return Math.max(this.options.extentBytes(), bytesInUse() >> shift);
	}

	private long bytesInUse() {
		return this.registeredBytes.get() - this.retiredBytes - pageBytes(this.freePages);
	}

	/** Sees to it that free blocks that somebody keeps do not keep extents. */
	private void limitCaches() {
		if (!isSurplus(this.retainedBytes + this.options.extentBytes())) {
			if (this.cacheLimit != Integer.MAX_VALUE) {
				this.cacheLimit = Integer.MAX_VALUE;
				this.scatteredBytes = Long.MAX_VALUE;
			}
			return;
		}
		long inUse = bytesInUse();
		this.cacheLimit = (int) Math.min(inUse >> CACHE_SHIFT, Integer.MAX_VALUE - 1);
		if (inUse < this.scatteredBytes - (this.scatteredBytes >> SCATTERED_SHIFT)) {
			this.scatteredBytes = inUse;
			this.scattered = true;
		}
	}

	private void retire(int index) {
		Extent extent = this.extents.remove(index);
		this.freeExtentBytes -= extent.lengthBytes();
		this.freePages -= extent.runs().pages();
		this.retired.add(extent);
		this.retiredBytes += extent.lengthBytes();
	}

	/** How many free bytes a cache may keep for now. */
	int cacheLimit() {
		return this.cacheLimit;
	}

	/** Whether all who keep free blocks should give them back now. Said once. */
	boolean pollScattered() {
		if (!this.scattered) {
			return false;
		}
		this.scattered = false;
		return true;
	}

	/** Whether there is something to {@link #settle()}. */
	boolean isUnsettled() {
		return this.unsettled;
	}

	/** Deregisters the extents that are to go. The caller holds no lock. */
	void settle() {
		this.registrar.lock().lock();
		try {
			for (Extent extent = pollRetired(); extent != null; extent = pollRetired()) {
				this.registrar.remove(extent);
				this.lock.lock();
				try {
					this.removed.incrementAndGet();
					this.registeredBytes.addAndGet(-extent.lengthBytes());
					this.retiredBytes -= extent.lengthBytes();
				}
				finally {
					this.lock.unlock();
				}
			}
		}
		finally {
			this.registrar.lock().unlock();
		}
	}

	private @Nullable Extent pollRetired() {
		this.lock.lock();
		try {
			this.unsettled = false;
			return this.retired.poll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Adds an extent that has so many pages in a row, unless somebody has added one
	 * meanwhile. The caller holds no lock.
	 * @param seen what {@link #added()} was before the caller looked for pages in vain
	 * @return whether to look again
	 * @throws MemoryExhaustedException when the process has no memory or a device refuses
	 */
	boolean grow(int pages, long seen) {
		this.registrar.lock().lock();
		try {
			if (this.added.get() != seen) {
				return true;
			}
			settle();
			long left = this.options.maxBytes() - this.registeredBytes.get();
			if (this.closed || pageBytes(pages) > left) {
				return false;
			}
			add((int) Math.min(left, Math.max(pageBytes(pages), this.options.extentBytes())));
			return true;
		}
		finally {
			this.registrar.lock().unlock();
		}
	}

	/**
	 * Gives free extents back, however few are left, when that lets {@link #grow} succeed
	 * for so many pages. The caller holds no lock.
	 */
	void makeRoom(int pages) {
		this.registrar.lock().lock();
		try {
			settle();
			this.lock.lock();
			try {
				long missing = pageBytes(pages) - (this.options.maxBytes() - this.registeredBytes.get());
				long free = this.extents.stream()
					.filter((extent) -> extent.runs().isFree())
					.mapToLong(Extent::lengthBytes)
					.sum();
				for (int index = this.extents.size() - 1; index >= 0 && missing > 0 && free >= missing; index--) {
					Extent extent = this.extents.get(index);
					if (extent.runs().isFree()) {
						retire(index);
						free -= extent.lengthBytes();
						missing -= extent.lengthBytes();
					}
				}
			}
			finally {
				this.lock.unlock();
			}
			settle();
		}
		finally {
			this.registrar.lock().unlock();
		}
	}

	private void add(int lengthBytes) {
		Extent extent = Extent.allocate(lengthBytes, this.added.get());
		try {
			this.registrar.add(extent);
		}
		catch (RuntimeException ex) {
			throw new MemoryExhaustedException(
					"a device refused to register another extent of " + lengthBytes + " bytes", ex);
		}
		this.lock.lock();
		try {
			this.extents.add(extent);
			extent.freeSince(this.clock.getAsLong());
			this.freeExtentBytes += lengthBytes;
			this.freePages += extent.runs().pages();
			this.added.incrementAndGet();
			this.registeredBytes.addAndGet(lengthBytes);
		}
		finally {
			this.lock.unlock();
		}
	}

	private static long pageBytes(long pages) {
		return pages * MemoryOptions.PAGE_BYTES;
	}

	/** How many bytes are registered. */
	long registeredBytes() {
		return this.registeredBytes.get();
	}

	/** How many extents there are. */
	int count() {
		return (int) (this.added.get() - this.removed.get());
	}

	/** How many extents have been added so far. */
	long added() {
		return this.added.get();
	}

	/** How many extents have been given back so far. */
	long removed() {
		return this.removed.get();
	}

	/** Forgets all extents; their memory stays readable for who still has a buffer. */
	void close() {
		this.lock.lock();
		try {
			this.closed = true;
			this.extents.clear();
			this.retired.clear();
			this.freePages = 0;
			this.freeExtentBytes = 0;
			this.retainedBytes = 0;
			this.retiredBytes = 0;
			this.removed.set(this.added.get());
			this.registeredBytes.set(0);
		}
		finally {
			this.lock.unlock();
		}
	}

}
