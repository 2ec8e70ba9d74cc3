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

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.MemoryOrigin;
import dev.rdmarpc.verbs.MemorySource;
import dev.rdmarpc.verbs.MemorySource.ProvidedMemory;

/**
 * The direct memory that extents are made of, within the budget: of a provider's source
 * while that has some, or allocated. What an extent has given back is used again for the
 * next one, until the garbage collector frees it. Thread-safe.
 *
 * <p>
 * Implementation notes. Java frees direct memory when the garbage collector has found its
 * buffer unreachable, and at no other time. So memory that was given back is referenced
 * weakly, and counts until its reference is enqueued, which the collector does together
 * with the cleaner that frees it. Whatever has not been collected by then can be used
 * again, without being allocated and zeroed. Only memory in pieces that are all too small
 * has to be freed first: the collector is asked for it, now and then, by
 * {@link #collect()}.
 *
 * <p>
 * The lock is innermost and never held while memory is allocated: what is being allocated
 * is counted before.
 */
final class ExtentMemory {

	private static final int GENEROUS = 2;

	private static final long COLLECT_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** How many times as long as a collection took there is none after it. */
	private static final int COLLECT_PAUSE = 10;

	private final long maxBytes;

	private final @Nullable MemorySource source;

	private final ReentrantLock lock = new ReentrantLock();

	private final ReferenceQueue<ByteBuffer> freed = new ReferenceQueue<>();

	/** What may be used again, by size. */
	private final TreeMap<Integer, LinkedHashSet<Piece>> idle = new TreeMap<>();

	/** Of all pieces: in use, idle, being allocated. */
	private long bytes;

	private long idleBytes;

	/** What must become free of {@link #idle} for an extent, 0 if nothing must. */
	private long wantedBytes;

	private volatile long collectAfterNanos = System.nanoTime();

	/** Creates a budget of which nothing is spent, without a source. */
	ExtentMemory(long maxBytes) {
		this(maxBytes, null);
	}

	/**
	 * Creates a budget of which nothing is spent.
	 * @param source borrowed, {@code null} if there is none
	 */
	ExtentMemory(long maxBytes, @Nullable MemorySource source) {
		this.maxBytes = maxBytes;
		this.source = source;
	}

	/**
	 * Takes memory that begins at a page: used before if there is any of about the right
	 * size, then new, then any that was used before and is large enough.
	 * @param leastBytes how much it must be
	 * @param bytes how much it should be, not less; it can be more
	 * @return {@code null} when the budget is spent
	 * @throws MemoryExhaustedException when the process has no more
	 */
	@Nullable Piece take(int leastBytes, int bytes) {
		int fresh;
		this.lock.lock();
		try {
			expunge();
			Piece piece = takeIdle(bytes, (long) GENEROUS * bytes);
			long left = this.maxBytes - this.bytes;
			if (piece == null && left < bytes) {
				piece = takeIdle(leastBytes, Long.MAX_VALUE);
			}
			if (piece != null) {
				return piece;
			}
			if (left < leastBytes) {
				return null;
			}
			fresh = (int) Math.min(left, bytes);
			this.bytes += fresh;
		}
		finally {
			this.lock.unlock();
		}
		return allocate(fresh, leastBytes);
	}

	private Piece allocate(int bytes, int leastBytes) {
		Piece piece = null;
		OutOfMemoryError refused = null;
		try {
			piece = allocate(bytes);
		}
		catch (OutOfMemoryError ex) {
			refused = ex;
		}
		finally {
			if (piece == null) {
				piece = replace(bytes, leastBytes);
			}
		}
		if (piece == null) {
			throw new MemoryExhaustedException(
					"no direct memory for another extent of " + bytes
							+ " bytes (expected: -XX:MaxDirectMemorySize large enough for the pool's maxBytes)",
					refused);
		}
		return piece;
	}

	private Piece allocate(int bytes) {
		ProvidedMemory provided = (this.source != null) ? this.source.tryAllocate(bytes) : null;
		return (provided != null) ? new Piece(provided.memory(), bytes, provided.origin(), this.freed)
				: new Piece(ByteBuffer.allocateDirect(bytes + MemoryOptions.PAGE_BYTES - 1), bytes, null, this.freed);
	}

	/** Any idle memory instead of what could not be allocated. */
	private @Nullable Piece replace(int bytes, int leastBytes) {
		this.lock.lock();
		try {
			this.bytes -= bytes;
			return takeIdle(leastBytes, Long.MAX_VALUE);
		}
		finally {
			this.lock.unlock();
		}
	}

	private @Nullable Piece takeIdle(long leastBytes, long mostBytes) {
		Map.Entry<Integer, LinkedHashSet<Piece>> entry = this.idle.ceilingEntry((int) leastBytes);
		while (entry != null && entry.getKey() <= mostBytes) {
			for (Piece piece : entry.getValue()) {
				if (piece.revive()) {
					remove(piece);
					return piece;
				}
			}
			entry = this.idle.higherEntry(entry.getKey());
		}
		return null;
	}

	private void remove(Piece piece) {
		LinkedHashSet<Piece> same = this.idle.get(piece.bytes);
		if (same != null && same.remove(piece)) {
			this.idleBytes -= piece.bytes;
			if (same.isEmpty()) {
				this.idle.remove(piece.bytes);
			}
		}
	}

	/** Takes memory back. */
	void give(Piece piece) {
		boolean complete = false;
		this.lock.lock();
		try {
			this.idle.computeIfAbsent(piece.bytes, (bytes) -> new LinkedHashSet<>()).add(piece);
			this.idleBytes += piece.bytes;
			complete = true;
		}
		finally {
			piece.memory = null;
			if (!complete) {
				this.bytes -= piece.bytes;
			}
			this.lock.unlock();
		}
	}

	/** Stops counting what has been freed. */
	private void expunge() {
		for (Object piece = this.freed.poll(); piece != null; piece = this.freed.poll()) {
			count((Piece) piece);
		}
	}

	private void count(Piece piece) {
		remove(piece);
		this.bytes -= piece.bytes;
	}

	/** How much of the budget is neither in use nor idle. */
	long leftBytes() {
		this.lock.lock();
		try {
			expunge();
			return this.maxBytes - this.bytes;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** How much was given back and has not been freed yet. */
	long idleBytes() {
		this.lock.lock();
		try {
			expunge();
			return this.idleBytes;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Says that an extent lacks memory, all idle pieces being too small.
	 * @return whether there is enough, or will be after {@link #collect()}
	 */
	boolean want(long bytes) {
		this.lock.lock();
		try {
			expunge();
			long left = this.maxBytes - this.bytes;
			boolean helpful = left + this.idleBytes >= bytes;
			if (helpful && left < bytes) {
				this.wantedBytes = Math.max(this.wantedBytes, bytes);
			}
			return helpful;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Has idle memory freed if an extent lacks it; takes as long as a collection does, or
	 * as it takes until there may be another one.
	 */
	void collect() {
		awaitFreed(this.collectAfterNanos);
		if (lacks()) {
			long begin = System.nanoTime();
			System.gc();
			awaitFreed(System.nanoTime() + COLLECT_WAIT_NANOS);
			long end = System.nanoTime();
			this.collectAfterNanos = end + COLLECT_PAUSE * (end - begin);
		}
		this.lock.lock();
		try {
			this.wantedBytes = 0;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Waits until what is lacking has been freed, or a time has come. */
	private void awaitFreed(long untilNanos) {
		for (long left = untilNanos - System.nanoTime(); left > 0 && lacks(); left = untilNanos - System.nanoTime()) {
			try {
				Reference<?> piece = this.freed.remove(TimeUnit.NANOSECONDS.toMillis(left) + 1);
				if (piece != null) {
					this.lock.lock();
					try {
						count((Piece) piece);
					}
					finally {
						this.lock.unlock();
					}
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return;
			}
		}
	}

	private boolean lacks() {
		this.lock.lock();
		try {
			expunge();
			return this.maxBytes - this.bytes < this.wantedBytes;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * A piece of memory. Referenced strongly while an extent uses it.
	 */
	static final class Piece extends WeakReference<ByteBuffer> {

		private final int bytes;

		private final @Nullable MemoryOrigin origin;

		private volatile @Nullable ByteBuffer memory;

		Piece(ByteBuffer whole, int bytes, @Nullable MemoryOrigin origin, ReferenceQueue<ByteBuffer> freed) {
			super(whole, freed);
			this.bytes = bytes;
			this.origin = origin;
			this.memory = aligned(whole);
		}

		/** From the first page on. In use. */
		ByteBuffer memory() {
			return Objects.requireNonNull(this.memory);
		}

		/** Where a provider has it from, {@code null} if none has. */
		@Nullable MemoryOrigin origin() {
			return this.origin;
		}

		private boolean revive() {
			ByteBuffer whole = get();
			this.memory = (whole != null) ? aligned(whole) : null;
			return whole != null;
		}

		/** A slice keeps the whole buffer reachable. */
		private ByteBuffer aligned(ByteBuffer whole) {
			return whole.alignedSlice(MemoryOptions.PAGE_BYTES).slice(0, this.bytes);
		}

	}

}
