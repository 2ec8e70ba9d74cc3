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

package dev.rdmarpc.codec;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * The segments of a message, in order.
 *
 * <p>
 * Not thread-safe; a list that does not change any more may be a run of other lists,
 * whoever they belong to.
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * An entry is a segment or a run, which is another list. A run takes the same time
 * however many segments it has; a list with runs is flattened when its segments are asked
 * for one by one, which leaves the run as it is. Nesting is bounded, so that recursion
 * is. Every other segment of a gathered message is part of the same scratch memory, so a
 * segment without a source of its own is part of that.
 */
final class MessageSegmentList {

	private static final int INITIAL_ENTRIES = 4;

	private static final int MAX_NESTING = 16;

	private static final int SHORT_RUN = 3;

	private static final long OWNED = Long.MIN_VALUE;

	/**
	 * For each entry a ByteBuffer, the RegisteredBuffer it lies in, or a
	 * MessageSegmentList; null for a part of the scratch memory, and beyond the entries.
	 */
	private @Nullable Object[] sources = new Object[INITIAL_ENTRIES];

	/** For each entry its offset and length; negative if its reference is owned. */
	private long[] extents = new long[INITIAL_ENTRIES];

	private @Nullable Object scratch;

	private int count;

	private int runs;

	private int nesting;

	private static long extent(int offset, int lengthBytes) {
		return ((long) offset << Integer.SIZE) | lengthBytes;
	}

	/** Number of segments. */
	int size() {
		if (this.runs > 0) {
			flatten();
		}
		return this.count;
	}

	/** Number of segments, for a list that others may read. */
	int sharedSize() {
		int size = this.count - this.runs;
		for (int i = 0, left = this.runs; left > 0; i++) {
			if (this.sources[i] instanceof MessageSegmentList run) {
				size += run.sharedSize();
				left--;
			}
		}
		return size;
	}

	/** The {@link ByteBuffer} or {@link RegisteredBuffer} of a segment. */
	Object source(int index) {
		return entry(Objects.checkIndex(index, size()));
	}

	private Object entry(int index) {
		Object source = this.sources[index];
		return Objects.requireNonNull((source != null) ? source : this.scratch);
	}

	/** The offset of a segment within its memory. */
	int offset(int index) {
		return (int) (this.extents[Objects.checkIndex(index, size())] >>> Integer.SIZE) & Integer.MAX_VALUE;
	}

	/** The length of a segment. */
	int length(int index) {
		return (int) this.extents[Objects.checkIndex(index, size())];
	}

	/** Appends a segment whose memory is kept by somebody else. */
	void add(Object source, int offset, int lengthBytes) {
		push(source, extent(offset, lengthBytes));
	}

	/** Appends part of what is probably the scratch memory, kept by somebody else. */
	void addScratch(Object of, int offset, int lengthBytes) {
		push(isScratch(of) ? null : of, extent(offset, lengthBytes));
	}

	private boolean isScratch(Object source) {
		if (this.scratch == null) {
			this.scratch = source;
		}
		return this.scratch == source;
	}

	private void push(@Nullable Object source, long extent) {
		int index = this.count;
		if (index == this.sources.length) {
			ensureCapacity(index + 1);
		}
		this.sources[index] = source;
		this.extents[index] = extent;
		this.count = index + 1;
	}

	/** Appends a segment, continuing the last one if it ends where this begins. */
	void join(ByteBuffer source, int offset, int lengthBytes) {
		int last = this.count - 1;
		if (last >= 0 && entry(last) == source
				&& (int) (this.extents[last] >>> Integer.SIZE) + (int) this.extents[last] == offset) {
			this.extents[last] += lengthBytes;
		}
		else {
			addScratch(source, offset, lengthBytes);
		}
	}

	/** Appends part of a buffer, which is retained. */
	void addRetained(RegisteredBuffer buffer, int offset, int lengthBytes) {
		ensureCapacity(this.count + 1);
		push(buffer.retain(), extent(offset, lengthBytes) | OWNED);
	}

	/**
	 * Appends part of what is probably the scratch memory, and a buffer, which is
	 * retained. Everything is looked up before the buffer is retained, which waits for
	 * all that was written.
	 */
	void addGathered(RegisteredBuffer of, int offset, int lengthBytes, RegisteredBuffer buffer, int bufferBytes) {
		int index = this.count;
		ensureCapacity(index + 2);
		@Nullable Object[] before = this.sources;
		long[] places = this.extents;
		boolean scratched = isScratch(of);
		long gathered = extent(buffer.regionOffset(), bufferBytes) | OWNED;
		RegisteredBuffer retained = buffer.retain();
		if (!scratched) {
			before[index] = of;
		}
		before[index + 1] = retained;
		places[index] = extent(offset, lengthBytes);
		places[index + 1] = gathered;
		this.count = index + 2;
	}

	/**
	 * Appends all of another list, which must not change as long as this one has it, and
	 * is kept by somebody else.
	 */
	void addAll(MessageSegmentList other, int lengthBytes) {
		if (other.count > SHORT_RUN && other.nesting < MAX_NESTING) {
			add(other, 0, lengthBytes);
			this.runs++;
			this.nesting = Math.max(this.nesting, other.nesting + 1);
			return;
		}
		int size = other.sharedSize();
		ensureCapacity(this.count + size);
		other.expand(this.sources, this.extents, this.count + size);
		this.count += size;
	}

	/** Writes the segments, none of them owned, so that they end before an index. */
	private int expand(@Nullable Object[] toSources, long[] toExtents, int end) {
		int at = end;
		for (int i = this.count - 1; i >= 0; i--) {
			if (this.sources[i] instanceof MessageSegmentList run) {
				at = run.expand(toSources, toExtents, at);
			}
			else {
				at--;
				toSources[at] = entry(i);
				toExtents[at] = this.extents[i] & ~OWNED;
			}
		}
		return at;
	}

	private void flatten() {
		int size = sharedSize();
		ensureCapacity(size);
		int at = size;
		for (int i = this.count - 1; i >= 0; i--) {
			if (this.sources[i] instanceof MessageSegmentList run) {
				at = run.expand(this.sources, this.extents, at);
			}
			else {
				at--;
				this.sources[at] = this.sources[i];
				this.extents[at] = this.extents[i];
			}
		}
		this.count = size;
		this.runs = 0;
		this.nesting = 0;
	}

	/**
	 * Replaces segments by one with the same content, which is kept by somebody else.
	 * @param kept takes ownership of their references
	 */
	void replace(int first, int segments, Object source, int offset, KeptReferences kept) {
		int bytes = 0;
		for (int i = first; i < first + segments; i++) {
			bytes += length(i);
			if (this.extents[i] < 0) {
				this.extents[i] &= ~OWNED;
				kept.add((RegisteredBuffer) source(i));
			}
		}
		this.sources[first] = source;
		this.extents[first] = extent(offset, bytes);
		int tail = this.count - first - segments;
		System.arraycopy(this.sources, first + segments, this.sources, first + 1, tail);
		System.arraycopy(this.extents, first + segments, this.extents, first + 1, tail);
		int left = this.count - segments + 1;
		Arrays.fill(this.sources, left, this.count, null);
		this.count = left;
	}

	private void ensureCapacity(int needed) {
		if (needed > this.sources.length) {
			int capacity = Math.max(needed, this.sources.length * 2);
			long[] longer = Arrays.copyOf(this.extents, capacity);
			this.sources = Arrays.copyOf(this.sources, capacity);
			this.extents = longer;
		}
	}

	/**
	 * Copies bytes to the target's position, which advances, until it is full or there
	 * are no more.
	 * @param fromOffset the first of them
	 */
	void copyTo(int fromOffset, ByteBuffer target) {
		int skip = fromOffset;
		for (int i = 0; i < this.count && target.hasRemaining(); i++) {
			int length = (int) this.extents[i];
			if (skip >= length) {
				skip -= length;
				continue;
			}
			Object source = entry(i);
			if (source instanceof MessageSegmentList run) {
				run.copyTo(skip, target);
			}
			else {
				int bytes = Math.min(length - skip, target.remaining());
				int position = target.position();
				int offset = (int) (this.extents[i] >>> Integer.SIZE) & Integer.MAX_VALUE;
				target.put(position, memory(source), offset + skip, bytes);
				target.position(position + bytes);
			}
			skip = 0;
		}
	}

	/**
	 * Adds the segments to a work request.
	 * @param attachment whose regions to name
	 * @throws IllegalStateException if one of them is not in registered memory
	 */
	void addTo(WorkRequest request, MemoryAttachment attachment) {
		MemoryRegion ofScratch = null;
		for (int i = 0; i < this.count; i++) {
			Object source = this.sources[i];
			if (source instanceof MessageSegmentList run) {
				run.addTo(request, attachment);
				continue;
			}
			MemoryRegion region = (source != null) ? region(source, attachment) : ofScratch;
			if (region == null) {
				region = region(entry(i), attachment);
				ofScratch = region;
			}
			int offset = (int) (this.extents[i] >>> Integer.SIZE) & Integer.MAX_VALUE;
			request.addSegment(region, offset, (int) this.extents[i]);
		}
	}

	private static MemoryRegion region(Object source, MemoryAttachment attachment) {
		if (source instanceof RegisteredBuffer buffer) {
			return buffer.region(attachment);
		}
		throw new IllegalStateException("segment in other memory (expected: registered memory)");
	}

	/** The memory of a segment. */
	static ByteBuffer memory(Object source) {
		return (source instanceof RegisteredBuffer buffer) ? buffer.memory() : (ByteBuffer) source;
	}

	/**
	 * Empties the list and gives back the references it owns.
	 * @throws IllegalStateException if somebody else gave one of them back already; the
	 * others are given back all the same
	 */
	void clear() {
		int entries = this.count;
		this.count = 0;
		this.runs = 0;
		this.nesting = 0;
		this.scratch = null;
		IllegalStateException failure = null;
		int i = 0;
		while (i < entries) {
			try {
				for (; i < entries; i++) {
					Object source = this.sources[i];
					if (source != null) {
						this.sources[i] = null;
						if (this.extents[i] < 0) {
							((RegisteredBuffer) source).release();
						}
					}
				}
			}
			catch (IllegalStateException ex) {
				failure = ex;
				i++;
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

}
