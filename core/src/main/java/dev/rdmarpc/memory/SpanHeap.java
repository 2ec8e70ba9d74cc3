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

import java.util.Arrays;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Spans of which the first, by extent and page, is at hand: a binary heap. Filling the
 * first ones first lets the others become empty. Not thread-safe.
 */
final class SpanHeap {

	private @Nullable Span[] spans = new Span[16];

	private int size;

	int size() {
		return this.size;
	}

	@Nullable Span first() {
		return this.spans[0];
	}

	/** The span at an index below {@link #size()}, in no particular order. */
	Span get(int index) {
		return Objects.requireNonNull(this.spans[index]);
	}

	/** Makes room for so many spans, so that adding them needs no memory. */
	void reserve(int count) {
		if (count > this.spans.length) {
			this.spans = Arrays.copyOf(this.spans, Math.max(count, this.spans.length * 2));
		}
	}

	/** Adds a span for which there is room. */
	void add(Span span) {
		siftUp(this.size++, span);
	}

	void remove(Span span) {
		int index = span.heapIndex;
		span.heapIndex = -1;
		Span last = get(--this.size);
		this.spans[this.size] = null;
		if (last != span) {
			siftDown(index, last);
			if (last.heapIndex == index) {
				siftUp(index, last);
			}
		}
	}

	void clear() {
		Arrays.fill(this.spans, null);
		this.size = 0;
	}

	private void siftUp(int from, Span span) {
		int index = from;
		while (index > 0) {
			int parent = (index - 1) >>> 1;
			Span above = get(parent);
			if (!span.isBefore(above)) {
				break;
			}
			set(index, above);
			index = parent;
		}
		set(index, span);
	}

	private void siftDown(int from, Span span) {
		int index = from;
		for (int child = 2 * index + 1; child < this.size; child = 2 * index + 1) {
			if (child + 1 < this.size && get(child + 1).isBefore(get(child))) {
				child++;
			}
			Span below = get(child);
			if (!below.isBefore(span)) {
				break;
			}
			set(index, below);
			index = child;
		}
		set(index, span);
	}

	private void set(int index, Span span) {
		this.spans[index] = span;
		span.heapIndex = index;
	}

}
