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
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.MemoryRegion;

/**
 * A contiguous piece of direct memory and its region on each attached device: part of the
 * pool, divided into pages, or the user's own.
 *
 * <p>
 * Regions change only under the lock of the {@link Registrar}; they are read without it.
 * The pages are guarded by the lock of {@link Extents}.
 */
final class Extent {

	/** Spans of more blocks are made anew: their buffer objects take too much heap. */
	private static final int REMEMBERED_BLOCKS = 16;

	private final ByteBuffer memory;

	private final long order;

	private final @Nullable PageRuns runs;

	/** What began at a page the last time, to be used again with its buffer objects. */
	private final @Nullable Span[] spans;

	/** When the last run was given back, by the clock of the pool. */
	private long freeSinceNanos;

	private volatile @Nullable MemoryRegion[] regions = new MemoryRegion[0];

	private Extent(ByteBuffer memory, long order, int pages) {
		this.memory = memory.order(ByteOrder.LITTLE_ENDIAN);
		this.order = order;
		this.runs = (pages > 0) ? new PageRuns(pages) : null;
		this.spans = new Span[pages];
	}

	/** Takes the user's own memory. */
	static Extent of(ByteBuffer memory) {
		return new Extent(memory, 0, 0);
	}

	/**
	 * Allocates page-aligned direct memory.
	 * @throws MemoryExhaustedException when the process has no more
	 */
	static Extent allocate(int lengthBytes, long order) {
		ByteBuffer memory;
		try {
			memory = ByteBuffer.allocateDirect(lengthBytes + MemoryOptions.PAGE_BYTES - 1);
		}
		catch (OutOfMemoryError ex) {
			throw new MemoryExhaustedException("no direct memory for another extent of " + lengthBytes
					+ " bytes (expected: -XX:MaxDirectMemorySize large enough for the pool's maxBytes)", ex);
		}
		return new Extent(memory.alignedSlice(MemoryOptions.PAGE_BYTES).slice(0, lengthBytes), order,
				lengthBytes / MemoryOptions.PAGE_BYTES);
	}

	ByteBuffer memory() {
		return this.memory;
	}

	int lengthBytes() {
		return this.memory.capacity();
	}

	/** Smaller for older extents. */
	long order() {
		return this.order;
	}

	/** When it became free, if it is. Guarded by the lock of the pages. */
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

	@Nullable MemoryRegion region(int index) {
		@Nullable MemoryRegion[] regions = this.regions;
		return (index < regions.length) ? regions[index] : null;
	}

	/** Registers with each hook, or with none. */
	void registerAll(List<MemoryAttachment> attachments) {
		int done = 0;
		try {
			for (MemoryAttachment attachment : attachments) {
				register(attachment);
				done++;
			}
		}
		finally {
			if (done < attachments.size()) {
				attachments.subList(0, done).forEach(this::deregister);
			}
		}
	}

	void register(MemoryAttachment attachment) {
		MemoryRegion region = attachment.hook().register(this.memory.duplicate().clear());
		@Nullable MemoryRegion[] regions = this.regions;
		@Nullable MemoryRegion[] changed = Arrays.copyOf(regions, Math.max(regions.length, attachment.index() + 1));
		changed[attachment.index()] = region;
		this.regions = changed;
	}

	void deregister(MemoryAttachment attachment) {
		MemoryRegion region = region(attachment.index());
		if (region != null) {
			@Nullable MemoryRegion[] changed = this.regions.clone();
			changed[attachment.index()] = null;
			this.regions = changed;
			attachment.hook().deregister(region);
		}
	}

}
