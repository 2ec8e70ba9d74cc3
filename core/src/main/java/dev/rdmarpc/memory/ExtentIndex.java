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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Finds the extent for a run of pages. Not thread-safe.
 *
 * <p>
 * Implementation notes: there is a set of extents for each chain of {@link PageRuns},
 * those where the chain is not empty, and one of the chains that are not empty anywhere.
 * Each extent has a number, the least that is free; taking from the extent with the least
 * number lets the others become empty. Only a bounded number of extents of a chain is
 * looked at, so the cost depends on the number of digits of the number of extents.
 */
final class ExtentIndex {

	private static final int MAX_LOOKS = 32;

	private final List<@Nullable PoolExtent> extents = new ArrayList<>();

	private final NumberSet vacant = new NumberSet();

	private final NumberSet[] chains = new NumberSet[PageRuns.MAX_CHAIN + 1];

	private final NumberSet filled = new NumberSet();

	/** The extents of which nobody has taken anything. */
	private final NumberSet free = new NumberSet();

	private long freeBytes;

	ExtentIndex() {
		Arrays.setAll(this.chains, (chain) -> new NumberSet());
		this.filled.reserve(PageRuns.MAX_CHAIN);
	}

	/**
	 * Adds an extent and gives it its number. Only this needs heap: pages are taken and
	 * given back also where there is none left.
	 */
	void add(PoolExtent extent) {
		int vacated = this.vacant.next(0);
		int number = (vacated >= 0) ? vacated : this.extents.size();
		reserve(number);
		if (vacated >= 0) {
			this.vacant.remove(number);
			this.extents.set(number, extent);
		}
		else {
			this.extents.add(extent);
		}
		extent.number(number);
		update(extent);
		free(extent);
	}

	private void reserve(int number) {
		this.vacant.reserve(number);
		this.free.reserve(number);
		for (NumberSet chain : this.chains) {
			chain.reserve(number);
		}
	}

	/** Removes a free extent. */
	void remove(PoolExtent extent) {
		used(extent);
		for (int word = 0; word < extent.indexed().length; word++) {
			clear(extent, word, extent.indexed()[word]);
			extent.indexed()[word] = 0;
		}
		this.extents.set(extent.number(), null);
		this.vacant.add(extent.number());
	}

	/** Notes that nothing of an extent is in use any more. */
	void free(PoolExtent extent) {
		this.free.add(extent.number());
		this.freeBytes += extent.lengthBytes();
	}

	/** Notes that something of an extent that was free is in use. */
	void used(PoolExtent extent) {
		this.free.remove(extent.number());
		this.freeBytes -= extent.lengthBytes();
	}

	/** Of the extents of which nobody has taken anything. */
	long freeBytes() {
		return this.freeBytes;
	}

	/** The free extent with the greatest number below another one. */
	@Nullable PoolExtent freeBelow(int number) {
		int found = this.free.last(number - 1);
		return (found >= 0) ? get(found) : null;
	}

	/** Notes what has been taken from an extent or given back to it. */
	void update(PoolExtent extent) {
		long[] indexed = extent.indexed();
		for (int word = 0; word < indexed.length; word++) {
			long now = extent.runs().filled(word);
			long before = indexed[word];
			if (now != before) {
				indexed[word] = now;
				clear(extent, word, before & ~now);
				set(extent, word, now & ~before);
			}
		}
	}

	private void set(PoolExtent extent, int word, long bits) {
		for (long rest = bits; rest != 0; rest &= rest - 1) {
			int chain = word * Long.SIZE + Long.numberOfTrailingZeros(rest);
			this.chains[chain].add(extent.number());
			this.filled.add(chain);
		}
	}

	private void clear(PoolExtent extent, int word, long bits) {
		for (long rest = bits; rest != 0; rest &= rest - 1) {
			int chain = word * Long.SIZE + Long.numberOfTrailingZeros(rest);
			this.chains[chain].remove(extent.number());
			if (this.chains[chain].isEmpty()) {
				this.filled.remove(chain);
			}
		}
	}

	/**
	 * The extent with a run of at least so many pages that is a short one; of equally
	 * short ones the extent with the least number.
	 */
	@Nullable PoolExtent find(int pages) {
		int own = PageRuns.chainOf(pages);
		PoolExtent closest = null;
		int length = Integer.MAX_VALUE;
		NumberSet candidates = this.chains[own];
		int looks = MAX_LOOKS;
		for (int number = candidates.next(0); number >= 0 && length > pages && looks > 0; looks--) {
			PoolExtent extent = get(number);
			int run = extent.runs().find(pages);
			if (run >= 0 && extent.runs().length(run) < length) {
				closest = extent;
				length = extent.runs().length(run);
			}
			number = candidates.next(number + 1);
		}
		int larger = this.filled.next(own + 1);
		if (larger >= 0 && (closest == null || PageRuns.chainOf(length) > larger)) {
			closest = get(this.chains[larger].next(0));
		}
		return closest;
	}

	private PoolExtent get(int number) {
		PoolExtent extent = this.extents.get(number);
		if (extent == null) {
			throw new IllegalStateException("no extent has the number " + number);
		}
		return extent;
	}

}
