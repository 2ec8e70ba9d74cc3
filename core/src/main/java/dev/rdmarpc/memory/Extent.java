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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.MemoryRegion;

/**
 * A contiguous piece of direct memory and its region on each attached device: part of the
 * pool, divided into pages, or the user's own.
 *
 * <p>
 * Regions change only under the extent's own lock, which is held while a device works;
 * they are read without it. All else is guarded by the lock of {@link Extents}.
 */
final class Extent {

	/** Spans of more blocks are made anew: their buffer objects take too much heap. */
	private static final int REMEMBERED_BLOCKS = 16;

	private final int lengthBytes;

	/** None when it was given back for good. */
	private @Nullable ByteBuffer memory;

	private final ExtentMemory.@Nullable Piece piece;

	private final @Nullable PageRuns runs;

	/** What began at a page the last time, to be used again with its buffer objects. */
	private final @Nullable Span[] spans;

	/** The chains of the runs for which the extent is in the {@link ExtentIndex}. */
	private final long[] indexed;

	private int number;

	/** When the last run was given back, by the clock of the pool. */
	private long freeSinceNanos;

	private final ReentrantLock registration = new ReentrantLock();

	private boolean withdrawn;

	/** Whose each region is. */
	private @Nullable MemoryAttachment[] registrants = new MemoryAttachment[0];

	private volatile @Nullable MemoryRegion[] regions = new MemoryRegion[0];

	private Extent(ByteBuffer memory, ExtentMemory.@Nullable Piece piece, int pages) {
		this.memory = memory.order(ByteOrder.LITTLE_ENDIAN);
		this.lengthBytes = memory.capacity();
		this.piece = piece;
		this.runs = (pages > 0) ? new PageRuns(pages) : null;
		this.spans = new Span[pages];
		this.indexed = new long[(this.runs != null) ? this.runs.filledWords() : 0];
	}

	/** Takes the user's own memory. */
	static Extent of(ByteBuffer memory) {
		return new Extent(memory, null, 0);
	}

	/** Takes memory of the pool. */
	static Extent of(ExtentMemory.Piece piece) {
		ByteBuffer memory = piece.memory();
		return new Extent(memory, piece, memory.capacity() / MemoryOptions.PAGE_BYTES);
	}

	ByteBuffer memory() {
		return Objects.requireNonNull(this.memory);
	}

	/**
	 * Lets the memory go, so that nobody who still holds an object of a released buffer
	 * keeps it from being freed.
	 */
	void forgetMemory() {
		this.memory = null;
		for (Span span : this.spans) {
			if (span != null) {
				span.forgetMemory();
			}
		}
	}

	/** What the memory is, if it is the pool's. */
	ExtentMemory.Piece piece() {
		return Objects.requireNonNull(this.piece);
	}

	int lengthBytes() {
		return this.lengthBytes;
	}

	/** Tells extents of the pool apart: what has a smaller number is filled first. */
	int number() {
		return this.number;
	}

	void number(int number) {
		this.number = number;
	}

	long[] indexed() {
		return this.indexed;
	}

	/** When it became free, if it is. */
	long freeSinceNanos() {
		return this.freeSinceNanos;
	}

	void freeSince(long nanos) {
		this.freeSinceNanos = nanos;
	}

	PageRuns runs() {
		return Objects.requireNonNull(this.runs);
	}

	/** Makes the span of pages that were taken from {@link #runs()}. */
	Span span(int page, int pages, int sizeClass) {
		Span span = this.spans[page];
		if (span == null || span.pages() != pages || span.sizeClass() != sizeClass) {
			span = new Span(this, page, pages, sizeClass);
			this.spans[page] = (span.blocks() <= REMEMBERED_BLOCKS) ? span : null;
		}
		return span;
	}

	/** Takes the pages of a span back. */
	void give(Span span) {
		runs().give(span.page(), span.pages());
		if (this.spans[span.page()] != span) {
			span.forgetMemory();
		}
	}

	@Nullable MemoryRegion region(int index) {
		@Nullable MemoryRegion[] regions = this.regions;
		return (index < regions.length) ? regions[index] : null;
	}

	/**
	 * Registers with a device, unless it is already, or the attachment is closed, or the
	 * extent is on its way out.
	 */
	void register(MemoryAttachment attachment) {
		this.registration.lock();
		try {
			if (!this.withdrawn && !attachment.isClosed() && region(attachment.index()) == null) {
				MemoryRegion region = attachment.hook().register(memory().duplicate().clear());
				@Nullable MemoryRegion[] regions = this.regions;
				@Nullable MemoryRegion[] changed = Arrays.copyOf(regions, Math.max(regions.length, attachment.index() + 1));
				changed[attachment.index()] = region;
				this.registrants = Arrays.copyOf(this.registrants, changed.length);
				this.registrants[attachment.index()] = attachment;
				this.regions = changed;
			}
		}
		finally {
			this.registration.unlock();
		}
	}

	/** Deregisters from a device. Idempotent. */
	void deregister(MemoryAttachment attachment) {
		this.registration.lock();
		try {
			MemoryRegion region = region(attachment.index());
			if (region != null && this.registrants[attachment.index()] == attachment) {
				@Nullable MemoryRegion[] changed = this.regions.clone();
				changed[attachment.index()] = null;
				this.regions = changed;
				attachment.hook().deregister(region);
			}
		}
		finally {
			this.registration.unlock();
		}
	}

	/** Lets devices be registered with, or no more from now on. */
	void withdrawn(boolean withdrawn) {
		this.registration.lock();
		try {
			this.withdrawn = withdrawn;
		}
		finally {
			this.registration.unlock();
		}
	}

}
