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

/**
 * The free runs of pages of one extent. Taking finds a run that fits closely; giving back
 * joins neighbours. Not thread-safe.
 *
 * <p>
 * Implementation notes: {@code tags} holds the length of each run at its first and last
 * page, negative when the run is in use, so both neighbours of a run are found in one
 * step. Free runs are chained by their first pages, in one chain per range of lengths:
 * exact up to 16 pages, eight ranges per doubling above. A bit per chain says whether it
 * is empty. Only a bounded number of runs of a chain are looked at, so the cost does not
 * depend on how many there are.
 */
final class PageRuns {

	private static final int NONE = -1;

	private static final int EXACT = 16;

	private static final int EXACT_LOG = 4;

	private static final int STEPS_SHIFT = 3;

	private static final int MAX_LOOKS = 32;

	/** The chain of the longest run there may be. */
	static final int MAX_CHAIN = chainOf(MemoryOptions.MAX_EXTENT_BYTES / MemoryOptions.PAGE_BYTES);

	private final int pages;

	private final int[] tags;

	private final int[] next;

	private final int[] previous;

	private final int[] heads;

	private final long[] filled;

	private int freePages;

	PageRuns(int pages) {
		this.pages = pages;
		this.tags = new int[pages];
		this.next = new int[pages];
		this.previous = new int[pages];
		this.heads = new int[chainOf(pages) + 1];
		Arrays.fill(this.heads, NONE);
		this.filled = new long[(this.heads.length + Long.SIZE - 1) / Long.SIZE];
		add(0, pages);
		this.freePages = pages;
	}

	int pages() {
		return this.pages;
	}

	int freePages() {
		return this.freePages;
	}

	boolean isFree() {
		return this.freePages == this.pages;
	}

	/** How many words {@link #filled(int)} has. */
	int filledWords() {
		return this.filled.length;
	}

	/** Which chains have runs, 64 of them. */
	long filled(int word) {
		return this.filled[word];
	}

	/** The first page of a free run of at least so many pages, a short one, or -1. */
	int find(int count) {
		if (count > this.freePages) {
			return NONE;
		}
		int own = chainOf(count);
		int run = closest(own, count);
		for (int chain = filledFrom(own + 1); run == NONE && chain >= 0; chain = filledFrom(chain + 1)) {
			run = closest(chain, count);
		}
		return run;
	}

	/** The length of a run that was found. */
	int length(int run) {
		return this.tags[run];
	}

	/** Takes the first pages of a run that was found. */
	void take(int run, int count) {
		int length = this.tags[run];
		remove(run, length);
		if (length > count) {
			add(run + count, length - count);
		}
		tag(run, count, -count);
		this.freePages -= count;
	}

	/** Gives back what {@link #take} gave. */
	void give(int page, int count) {
		if (this.tags[page] != -count || this.tags[page + count - 1] != -count) {
			throw new IllegalStateException("pages " + page + " to " + (page + count - 1) + " are not a run in use");
		}
		this.freePages += count;
		int first = page;
		int end = page + count;
		if (first > 0 && this.tags[first - 1] > 0) {
			int length = this.tags[first - 1];
			first -= length;
			remove(first, length);
		}
		if (end < this.pages && this.tags[end] > 0) {
			int length = this.tags[end];
			remove(end, length);
			end += length;
		}
		add(first, end - first);
	}

	/** The shortest run of a chain that is long enough; of equal ones the first. */
	private int closest(int chain, int count) {
		int best = NONE;
		if (chain < this.heads.length) {
			int looks = MAX_LOOKS;
			for (int run = this.heads[chain]; run != NONE && looks > 0; run = this.next[run], looks--) {
				int length = this.tags[run];
				if (length >= count
						&& (best == NONE || length < this.tags[best] || (length == this.tags[best] && run < best))) {
					best = run;
				}
			}
		}
		return best;
	}

	private int filledFrom(int chain) {
		int word = chain / Long.SIZE;
		if (word >= this.filled.length) {
			return NONE;
		}
		long bits = this.filled[word] & -1L << chain;
		while (bits == 0) {
			if (++word == this.filled.length) {
				return NONE;
			}
			bits = this.filled[word];
		}
		return word * Long.SIZE + Long.numberOfTrailingZeros(bits);
	}

	private void add(int run, int length) {
		tag(run, length, length);
		int chain = chainOf(length);
		int head = this.heads[chain];
		this.next[run] = head;
		this.previous[run] = NONE;
		if (head != NONE) {
			this.previous[head] = run;
		}
		this.heads[chain] = run;
		this.filled[chain / Long.SIZE] |= 1L << chain;
	}

	private void remove(int run, int length) {
		int after = this.next[run];
		int before = this.previous[run];
		if (after != NONE) {
			this.previous[after] = before;
		}
		if (before != NONE) {
			this.next[before] = after;
			return;
		}
		int chain = chainOf(length);
		this.heads[chain] = after;
		if (after == NONE) {
			this.filled[chain / Long.SIZE] &= ~(1L << chain);
		}
	}

	private void tag(int run, int length, int tag) {
		this.tags[run] = tag;
		this.tags[run + length - 1] = tag;
	}

	/** The chain of the free runs of some length. */
	static int chainOf(int length) {
		if (length < EXACT) {
			return length;
		}
		int log = 31 - Integer.numberOfLeadingZeros(length);
		int step = (length >> (log - STEPS_SHIFT)) - (1 << STEPS_SHIFT);
		return EXACT + ((log - EXACT_LOG) << STEPS_SHIFT) + step;
	}

}
