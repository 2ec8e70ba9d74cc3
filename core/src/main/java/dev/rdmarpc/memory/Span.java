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

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A run of pages that is cut into blocks of one size, or is one large block. Keeps the
 * buffer objects of its free blocks, so that a block gets the same object each time;
 * those of blocks in use it does not know, so that one that is lost can be collected and
 * found missing.
 *
 * <p>
 * Owned by its {@link SizeClassPool}, under whose lock all of it is used; a large one by
 * whoever holds the block. The position in the extent never changes.
 */
final class Span {

	/** The class of a span that is one block of whole pages. */
	static final int LARGE = -1;

	private final PoolExtent extent;

	private final int page;

	private final int pages;

	private final int sizeClass;

	private final int blockBytes;

	private final int blocks;

	private final @Nullable RegisteredBuffer[] free;

	private int freeCount;

	/** Blocks that have been in use at least once: the first ones. */
	private int begun;

	/** Where the span is in its {@link SpanHeap}, or -1. */
	int heapIndex = -1;

	Span(PoolExtent extent, int page, int pages, int sizeClass) {
		this.extent = extent;
		this.page = page;
		this.pages = pages;
		this.sizeClass = sizeClass;
		int bytes = pages * MemoryOptions.PAGE_BYTES;
		this.blockBytes = (sizeClass == LARGE) ? bytes : SizeClasses.bytes(sizeClass);
		this.blocks = bytes / this.blockBytes;
		this.free = new RegisteredBuffer[this.blocks];
	}

	PoolExtent extent() {
		return this.extent;
	}

	int page() {
		return this.page;
	}

	int pages() {
		return this.pages;
	}

	int sizeClass() {
		return this.sizeClass;
	}

	int blockBytes() {
		return this.blockBytes;
	}

	int blocks() {
		return this.blocks;
	}

	int available() {
		return this.freeCount + this.blocks - this.begun;
	}

	boolean isUnused() {
		return available() == this.blocks;
	}

	/** Comes before another one: in an extent that is filled first, or in the same. */
	boolean isBefore(Span other) {
		int order = this.extent.number() - other.extent.number();
		return (order != 0) ? order < 0 : this.page < other.page;
	}

	/** Takes a block. There must be one. */
	RegisteredBuffer take(RegisteredBuffer.Home home) {
		if (this.freeCount > 0) {
			int top = --this.freeCount;
			RegisteredBuffer buffer = Objects.requireNonNull(this.free[top]);
			this.free[top] = null;
			return buffer;
		}
		int offset = this.page * MemoryOptions.PAGE_BYTES + this.begun * this.blockBytes;
		RegisteredBuffer buffer = new RegisteredBuffer(home, this, offset);
		this.begun++;
		return buffer;
	}

	/** Takes a block back. */
	void give(RegisteredBuffer buffer) {
		this.free[this.freeCount++] = buffer;
	}

	/** Lets the memory go, all blocks being free. */
	void forgetMemory() {
		for (int index = 0; index < this.freeCount; index++) {
			Objects.requireNonNull(this.free[index]).forgetMemory();
		}
	}

}
