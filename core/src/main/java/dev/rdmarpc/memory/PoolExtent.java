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

import org.jspecify.annotations.Nullable;

/**
 * An extent of the pool, divided into pages. Guarded by the lock of {@link Extents}.
 */
final class PoolExtent extends Extent {

	/** Spans of more blocks are made anew: their buffer objects take too much heap. */
	private static final int REMEMBERED_BLOCKS = 16;

	private final ExtentMemory.Piece piece;

	private final PageRuns runs;

	/** What began at a page the last time, to be used again with its buffer objects. */
	private final @Nullable Span[] spans;

	/** The chains of the runs for which the extent is in the {@link ExtentIndex}. */
	private final long[] indexed;

	private int number;

	/** When the last run was given back, by the clock of the pool. */
	private long freeSinceNanos;

	PoolExtent(ExtentMemory.Piece piece) {
		super(piece.memory(), piece.origin());
		this.piece = piece;
		this.runs = new PageRuns(lengthBytes() / MemoryOptions.PAGE_BYTES);
		this.spans = new Span[this.runs.pages()];
		this.indexed = new long[this.runs.filledWords()];
	}

	@Override
	void forgetMemory() {
		super.forgetMemory();
		for (Span span : this.spans) {
			if (span != null) {
				span.forgetMemory();
			}
		}
	}

	/** What the memory is. */
	ExtentMemory.Piece piece() {
		return this.piece;
	}

	/** Tells extents apart: what has a smaller number is filled first. */
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
		return this.runs;
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
		this.runs.give(span.page(), span.pages());
		if (this.spans[span.page()] != span) {
			span.forgetMemory();
		}
	}

}
