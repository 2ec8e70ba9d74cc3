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

/**
 * The sizes of small blocks: multiples of 16 bytes from 64 to 128, then eight steps per
 * doubling up to 64 KiB. Above 128 bytes a block is at most 12.5 % larger than what was
 * asked for, the unused end of its span included.
 *
 * <p>
 * Blocks of 512 bytes and more begin at multiples of 64 bytes within their extent,
 * smaller ones at multiples of 16.
 */
final class SizeClasses {

	static final int MIN_BYTES = 64;

	static final int MAX_BYTES = 64 << 10;

	private static final int LINEAR_BYTES = 128;

	private static final int LINEAR_SHIFT = 4;

	private static final int LINEAR_COUNT = ((LINEAR_BYTES - MIN_BYTES) >> LINEAR_SHIFT) + 1;

	/** Binary logarithm of the steps per doubling. */
	private static final int STEPS_SHIFT = 3;

	private static final int LINEAR_LOG = 31 - Integer.numberOfLeadingZeros(LINEAR_BYTES);

	static final int COUNT = indexOf(MAX_BYTES) + 1;

	/** The unused end of a span is at most this part of it: 1/64. */
	private static final int TAIL_SHIFT = 6;

	private static final int SPAN_BLOCKS = 16;

	private static final int SPAN_BYTES = 16 << 10;

	private static final int[] BYTES = new int[COUNT];

	private static final int[] SPAN_PAGES = new int[COUNT];

	static {
		for (int sizeClass = 0; sizeClass < COUNT; sizeClass++) {
			BYTES[sizeClass] = computeBytes(sizeClass);
			SPAN_PAGES[sizeClass] = computeSpanPages(BYTES[sizeClass]);
		}
	}

	private SizeClasses() {
	}

	/** The smallest class for so many bytes, from 0 to {@link #MAX_BYTES}. */
	static int indexOf(int lengthBytes) {
		if (lengthBytes <= LINEAR_BYTES) {
			return Math.max(0, (lengthBytes - MIN_BYTES + (1 << LINEAR_SHIFT) - 1) >> LINEAR_SHIFT);
		}
		int last = lengthBytes - 1;
		int log = 31 - Integer.numberOfLeadingZeros(last);
		int step = (last >> (log - STEPS_SHIFT)) - (1 << STEPS_SHIFT);
		return LINEAR_COUNT + ((log - LINEAR_LOG) << STEPS_SHIFT) + step;
	}

	/** The size of a class's blocks. */
	static int bytes(int sizeClass) {
		return BYTES[sizeClass];
	}

	/** How many pages are cut into blocks of a class at a time. */
	static int spanPages(int sizeClass) {
		return SPAN_PAGES[sizeClass];
	}

	private static int computeBytes(int sizeClass) {
		if (sizeClass < LINEAR_COUNT) {
			return MIN_BYTES + (sizeClass << LINEAR_SHIFT);
		}
		int log = LINEAR_LOG + ((sizeClass - LINEAR_COUNT) >> STEPS_SHIFT);
		int step = (sizeClass - LINEAR_COUNT) & ((1 << STEPS_SHIFT) - 1);
		return (1 << log) + ((step + 1) << (log - STEPS_SHIFT));
	}

	private static int computeSpanPages(int blockBytes) {
		int least = Math.max(blockBytes, Math.min(SPAN_BLOCKS * blockBytes, SPAN_BYTES));
		int pages = (least + MemoryOptions.PAGE_BYTES - 1) / MemoryOptions.PAGE_BYTES;
		while (!fits(pages * MemoryOptions.PAGE_BYTES, blockBytes)) {
			pages++;
		}
		return pages;
	}

	private static boolean fits(int spanBytes, int blockBytes) {
		return spanBytes % blockBytes <= spanBytes >> TAIL_SHIFT;
	}

}
