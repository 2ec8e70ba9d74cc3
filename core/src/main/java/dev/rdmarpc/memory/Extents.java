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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.MemorySource;

/**
 * The extents of a pool: gives out runs of pages, grows within the budget, and gives
 * extents back. Thread-safe.
 *
 * <p>
 * Implementation notes. The lock guards the pages and is held for a number of steps that
 * does not depend on how many extents there are, but for the logarithm of that. Memory is
 * allocated, zeroed, registered and deregistered under no lock of the pool, so all others
 * go on meanwhile; whoever grows by an extent of the usual size only excludes others who
 * would do the same for the same shortage. What is being allocated is counted by
 * {@link ExtentMemory} before it is there, so the budget holds at every moment.
 *
 * <p>
 * An extent that is to go leaves the index at once, so that nobody takes from it, and is
 * deregistered by {@link #deregisterRetired()}, later and by another thread than the one
 * that made it go; until then it counts as registered, and whoever grows before takes it
 * back. A device may wait for steps under way, and who allocates can be in one, so nobody
 * who allocates deregisters anything: whoever finds the budget spent has it deregistered,
 * and waits for that only so long that nothing stops.
 *
 * <p>
 * Runs are taken from the extents with the least numbers, so that the others become free.
 * A free extent goes when what stays free without it is at least an extent and a quarter
 * of what is in use, half of that in whole extents: the pool grows when nothing is free
 * and shrinks when much is, so it does not do both in turns. And it goes only when it has
 * been free for the retention, because a large buffer can need an extent of its own, and
 * making one costs more than filling it.
 */
final class Extents {

	private static final int SLACK_SHIFT = 2;

	private static final int WHOLE_SHIFT = 3;

	private static final int CACHE_SHIFT = 6;

	private static final int SCATTERED_SHIFT = 2;

	/** How many free extents are looked at with the lock held. */
	private static final int MAX_LOOKS = 32;

	private static final long DEREGISTER_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	private final MemoryOptions options;

	private final Registrar registrar;

	private final LongSupplier clock;

	private final long retentionNanos;

	private final ExtentMemory memory;

	private final Runnable deregistrar;

	/** Held by who grows by an extent of the usual size. */
	private final ReentrantLock growing = new ReentrantLock();

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition deregistered = this.lock.newCondition();

	private ExtentIndex index = new ExtentIndex();

	private final ArrayDeque<PoolExtent> retired = new ArrayDeque<>();

	/** How many extents have left {@link #retired} and are not yet deregistered. */
	private int deregistering;

	/** Pages in the {@link #index} that nobody has taken. */
	private long freePages;

	/** What was in use when the keepers of free blocks were last asked for them. */
	private long scatteredBytes = Long.MAX_VALUE;

	/** Of extents that are not in the index any more but still registered. */
	private long retiredBytes;

	private final AtomicLong registeredBytes = new AtomicLong();

	private final AtomicLong added = new AtomicLong();

	/** How many threads are at it, which takes long where much is allocated. */
	private final AtomicInteger adding = new AtomicInteger();

	private volatile long addedNanos;

	private final AtomicLong removed = new AtomicLong();

	private volatile int cacheLimit = Integer.MAX_VALUE;

	private volatile boolean scattered;

	private volatile boolean anyRetired;

	private volatile boolean closed;

	/**
	 * Creates a pool without extents.
	 * @param clock the time in nanoseconds
	 * @param deregistrar has {@link #deregisterRetired()} called, soon or at once
	 */
	Extents(MemoryOptions options, Registrar registrar, LongSupplier clock, Runnable deregistrar) {
		this(options, null, registrar, clock, deregistrar);
	}

	/**
	 * Creates a pool without extents, whose memory a source provides as far as it has
	 * some.
	 * @param source borrowed
	 */
	Extents(MemoryOptions options, @Nullable MemorySource source, Registrar registrar, LongSupplier clock,
			Runnable deregistrar) {
		this.options = options;
		this.registrar = registrar;
		this.clock = clock;
		this.addedNanos = clock.getAsLong();
		this.deregistrar = deregistrar;
		this.retentionNanos = options.retention().toNanos();
		this.memory = new ExtentMemory(options.maxBytes(), source);
	}

	/** Registers the initial extents. */
	void open() {
		long missing = this.options.initialBytes();
		while (missing > 0) {
			int bytes = (int) Math.min(this.options.extentBytes(), missing);
			add(bytes, bytes);
			missing -= bytes;
		}
	}

	/** Takes pages in a row, or none. Does not grow. */
	@Nullable Span takeSpan(int pages, int sizeClass) {
		this.lock.lock();
		try {
			PoolExtent extent = (this.freePages >= pages) ? this.index.find(pages) : null;
			if (extent == null) {
				return null;
			}
			int page = extent.runs().find(pages);
			// before anything is taken, because there may be no heap for it
			Span span = extent.span(page, pages, sizeClass);
			if (extent.runs().isFree()) {
				this.index.used(extent);
			}
			this.freePages -= pages;
			extent.runs().take(page, pages);
			this.index.update(extent);
			if (this.cacheLimit != Integer.MAX_VALUE) {
				limitCaches();
			}
			return span;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Takes pages back. May leave something to {@link #deregisterRetired()}. */
	void giveSpan(Span span) {
		this.lock.lock();
		try {
			PoolExtent extent = span.extent();
			extent.give(span);
			if (this.closed) {
				return;
			}
			this.index.update(extent);
			this.freePages += span.pages();
			if (extent.runs().isFree()) {
				this.index.free(extent);
				extent.freeSince(this.clock.getAsLong());
			}
			retireSurplus();
			limitCaches();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Lets go of what has been free for long. May leave something to deregister. */
	void trim() {
		boolean more = true;
		while (more) {
			this.lock.lock();
			try {
				more = retireSurplus();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/** Returns whether there may be more to retire. */
	private boolean retireSurplus() {
		long surplus = surplusBytes();
		if (surplus <= 0 || this.closed) {
			return false;
		}
		long now = this.clock.getAsLong();
		boolean any = false;
		PoolExtent extent = lastFree();
		for (int looks = 0; extent != null && looks < MAX_LOOKS; looks++) {
			PoolExtent candidate = extent;
			extent = this.index.freeBelow(candidate.number());
			if (candidate.lengthBytes() <= surplus) {
				surplus -= candidate.lengthBytes();
				if (now - candidate.freeSinceNanos() >= this.retentionNanos) {
					retire(candidate);
					any = true;
				}
			}
		}
		return any && extent != null;
	}

	private @Nullable PoolExtent lastFree() {
		return this.index.freeBelow(Integer.MAX_VALUE);
	}

	/** How many bytes of free extents could go. */
	private long surplusBytes() {
		long staying = this.registeredBytes.get() - this.retiredBytes;
		return Math.min(this.index.freeBytes() - slack(WHOLE_SHIFT),
				Math.min(pageBytes(this.freePages) - slack(SLACK_SHIFT), staying - this.options.initialBytes()));
	}

	/** Whether so many free bytes could go if they were whole extents. */
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
		if (!isSurplus(Math.max(0, surplusBytes()) + this.options.extentBytes())) {
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

	private void retire(PoolExtent extent) {
		this.index.remove(extent);
		this.freePages -= extent.runs().pages();
		this.retired.add(extent);
		this.retiredBytes += extent.lengthBytes();
		this.anyRetired = true;
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

	/** Whether there is something to {@link #deregisterRetired()}. */
	boolean hasRetired() {
		return this.anyRetired;
	}

	/**
	 * Deregisters the extents that are to go; their memory can be used again. Takes as
	 * long as the devices need. The caller holds no lock.
	 */
	void deregisterRetired() {
		for (PoolExtent extent = pollRetired(); extent != null; extent = pollRetired()) {
			try {
				this.registrar.remove(extent);
			}
			finally {
				deregistered(extent);
			}
		}
	}

	private @Nullable PoolExtent pollRetired() {
		this.lock.lock();
		try {
			this.anyRetired = false;
			PoolExtent extent = this.retired.poll();
			if (extent != null) {
				this.deregistering++;
			}
			return extent;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void deregistered(PoolExtent extent) {
		extent.forgetMemory();
		this.lock.lock();
		try {
			this.deregistering--;
			if (!this.closed) {
				this.removed.incrementAndGet();
				this.registeredBytes.addAndGet(-extent.lengthBytes());
				this.retiredBytes -= extent.lengthBytes();
				this.memory.give(extent.piece());
			}
			this.deregistered.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Has others deregister and waits for them, but not for long: a device may let them
	 * wait for what the caller is about to do.
	 */
	private void awaitDeregistered() {
		if (this.anyRetired) {
			this.deregistrar.run();
		}
		long left = DEREGISTER_NANOS;
		this.lock.lock();
		try {
			while ((this.deregistering > 0 || !this.retired.isEmpty()) && left > 0) {
				left = this.deregistered.awaitNanos(left);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
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
		int leastBytes = Math.toIntExact(pageBytes(pages));
		if (leastBytes > this.options.extentBytes()) {
			return this.added.get() != seen || add(leastBytes, leastBytes);
		}
		this.growing.lock();
		try {
			return this.added.get() != seen || add(leastBytes, this.options.extentBytes());
		}
		finally {
			this.growing.unlock();
		}
	}

	/**
	 * Gives free extents back, however few are left, when that lets {@link #grow} succeed
	 * for so many pages. The caller holds no lock.
	 */
	void makeRoom(int pages) {
		awaitDeregistered();
		this.lock.lock();
		try {
			long missing = pageBytes(pages) - this.memory.leftBytes() - this.memory.idleBytes();
			if (this.index.freeBytes() >= missing) {
				for (PoolExtent extent = lastFree(); extent != null && missing > 0; extent = lastFree()) {
					missing -= extent.lengthBytes();
					retire(extent);
				}
			}
		}
		finally {
			this.lock.unlock();
		}
		awaitDeregistered();
	}

	/**
	 * Says that so many pages in a row are missing.
	 * @return whether {@link #grow} could succeed after {@link #collect()}
	 */
	boolean want(int pages) {
		return this.memory.want(pageBytes(pages));
	}

	/** Has memory freed that was given back in pieces that are too small to be used. */
	void collect() {
		this.memory.collect();
	}

	private boolean add(int leastBytes, int bytes) {
		if (this.closed) {
			return false;
		}
		if (takeBack(leastBytes)) {
			return true;
		}
		if (this.memory.leftBytes() < leastBytes) {
			return addWithin(leastBytes, bytes);
		}
		this.adding.incrementAndGet();
		try {
			return addWithin(leastBytes, bytes);
		}
		finally {
			this.addedNanos = this.clock.getAsLong();
			this.adding.decrementAndGet();
		}
	}

	/** For how long nothing was added for which there was room; any thread. */
	long stillNanos() {
		return (this.adding.get() > 0) ? 0 : this.clock.getAsLong() - this.addedNanos;
	}

	private boolean addWithin(int leastBytes, int bytes) {
		ExtentMemory.Piece piece = this.memory.take(leastBytes, bytes);
		if (piece == null) {
			awaitDeregistered();
			piece = this.memory.take(leastBytes, bytes);
		}
		if (piece == null) {
			return false;
		}
		PoolExtent extent = register(piece);
		boolean complete = false;
		try {
			boolean wanted = enter(extent);
			complete = true;
			return wanted;
		}
		finally {
			if (!complete) {
				this.registrar.remove(extent);
				this.memory.give(piece);
			}
		}
	}

	/** Takes an extent into the index, or throws if there is no heap for that. */
	private boolean enter(PoolExtent extent) {
		this.lock.lock();
		try {
			if (this.closed) {
				return false;
			}
			extent.freeSince(this.clock.getAsLong());
			this.index.add(extent);
			this.freePages += extent.runs().pages();
			this.added.incrementAndGet();
			this.registeredBytes.addAndGet(extent.lengthBytes());
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Makes an extent that was to go, and is not yet being deregistered, stay. */
	private boolean takeBack(int leastBytes) {
		this.lock.lock();
		try {
			for (PoolExtent extent : this.retired) {
				if (extent.lengthBytes() >= leastBytes) {
					// before it leaves the others, because there may be no heap for it
					this.index.add(extent);
					this.retired.remove(extent);
					this.retiredBytes -= extent.lengthBytes();
					this.freePages += extent.runs().pages();
					return true;
				}
			}
			return false;
		}
		finally {
			this.lock.unlock();
		}
	}

	private PoolExtent register(ExtentMemory.Piece piece) {
		boolean complete = false;
		try {
			PoolExtent extent = new PoolExtent(piece);
			this.registrar.add(extent);
			complete = true;
			return extent;
		}
		catch (RuntimeException ex) {
			throw new MemoryExhaustedException(
					"a device refused to register another extent of " + piece.memory().capacity() + " bytes", ex);
		}
		finally {
			if (!complete) {
				this.memory.give(piece);
			}
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
			this.index = new ExtentIndex();
			this.retired.clear();
			this.freePages = 0;
			this.retiredBytes = 0;
			this.removed.set(this.added.get());
			this.registeredBytes.set(0);
		}
		finally {
			this.lock.unlock();
		}
	}

}
