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

import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * All blocks of one size class that no thread keeps: its spans that have free blocks.
 * Blocks come and go in batches. Keeps a few unused spans and gives others back to the
 * extents. Thread-safe.
 */
final class SizeClassPool {

	private static final int KEPT_SPANS = 8;

	/** The part of the budget that unused spans of a class may take: 1/512. */
	private static final int KEPT_SHIFT = 9;

	private final RegisteredBuffer.Home home;

	private final Extents extents;

	private final int sizeClass;

	private final int spanPages;

	private final ReentrantLock lock = new ReentrantLock();

	/** The spans that have a free block, and no others; there is room for all. */
	private final SpanHeap partial = new SpanHeap();

	private final int maxUnused;

	private int spans;

	private int unused;

	private boolean closed;

	SizeClassPool(RegisteredBuffer.Home home, Extents extents, int sizeClass, long maxBytes) {
		this.home = home;
		this.extents = extents;
		this.sizeClass = sizeClass;
		this.spanPages = SizeClasses.spanPages(sizeClass);
		long spanBytes = (long) this.spanPages * MemoryOptions.PAGE_BYTES;
		long affordable = (maxBytes >> KEPT_SHIFT) / spanBytes;
		this.maxUnused = (int) Math.max(1, Math.min(KEPT_SPANS, affordable));
	}

	/**
	 * Takes up to so many blocks, fewer rather than a second new span.
	 * @return how many were put into the array, from index 0
	 */
	int take(@Nullable RegisteredBuffer[] into, int count) {
		this.lock.lock();
		try {
			int taken = 0;
			while (taken < count) {
				RegisteredBuffer block = (taken == 0) ? takeLocked(true) : takeAnother();
				if (block == null) {
					break;
				}
				into[taken++] = block;
			}
			return taken;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Takes one block, or none.
	 * @param fresh whether to make a new span when there is no free block
	 */
	@Nullable RegisteredBuffer take(boolean fresh) {
		this.lock.lock();
		try {
			return takeLocked(fresh);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Takes one more block, or none, also for want of heap: those before are not lost.
	 */
	@SuppressWarnings("UnusedException")
	private @Nullable RegisteredBuffer takeAnother() {
		try {
			return takeLocked(false);
		}
		catch (OutOfMemoryError ex) {
			return null;
		}
	}

	private @Nullable RegisteredBuffer takeLocked(boolean fresh) {
		if (this.closed) {
			return null;
		}
		Span span = this.partial.first();
		if (span == null) {
			span = fresh ? takeSpan() : null;
			if (span == null) {
				return null;
			}
		}
		boolean unusedBefore = span.isUnused();
		RegisteredBuffer block = span.take(this.home);
		if (unusedBefore) {
			this.unused--;
		}
		if (span.available() == 0) {
			this.partial.remove(span);
		}
		return block;
	}

	/**
	 * Takes a new span, for which there is room among the others whenever it comes back.
	 */
	private @Nullable Span takeSpan() {
		this.partial.reserve(this.spans + 1);
		Span span = this.extents.takeSpan(this.spanPages, this.sizeClass);
		if (span != null) {
			this.spans++;
			this.unused++;
			this.partial.add(span);
		}
		return span;
	}

	private void giveSpan(Span span) {
		this.partial.remove(span);
		this.spans--;
		this.extents.giveSpan(span);
	}

	/** Takes blocks back and clears their places in the array. */
	void give(@Nullable RegisteredBuffer[] blocks, int from, int count) {
		this.lock.lock();
		try {
			for (int index = from; index < from + count; index++) {
				RegisteredBuffer block = blocks[index];
				blocks[index] = null;
				if (block != null) {
					giveLocked(block);
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Takes one block back. */
	void give(RegisteredBuffer block) {
		this.lock.lock();
		try {
			giveLocked(block);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void giveLocked(RegisteredBuffer block) {
		if (this.closed) {
			return;
		}
		Span span = block.span();
		boolean full = span.available() == 0;
		span.give(block);
		if (full) {
			this.partial.add(span);
		}
		if (span.isUnused()) {
			if (this.unused >= this.maxUnused || this.extents.cacheLimit() != Integer.MAX_VALUE) {
				giveSpan(span);
			}
			else {
				this.unused++;
			}
		}
	}

	/** Gives all unused spans back to the extents. */
	void trim() {
		this.lock.lock();
		try {
			for (int index = 0; this.unused > 0 && index < this.partial.size();) {
				Span span = this.partial.get(index);
				if (span.isUnused()) {
					this.unused--;
					giveSpan(span);
					index = 0;
				}
				else {
					index++;
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Forgets all blocks, and those that come back. */
	void close() {
		this.lock.lock();
		try {
			this.closed = true;
			this.partial.clear();
			this.unused = 0;
		}
		finally {
			this.lock.unlock();
		}
	}

}
