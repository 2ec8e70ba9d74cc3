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
 * A set of small numbers of which the next and the last to any number are at hand. Not
 * thread-safe.
 *
 * <p>
 * Implementation notes: a tree of words of 64 bits. A bit of the lowest level says
 * whether a number is in the set, one of any other level whether a word of the level
 * below has bits. The highest level is one word, so each operation takes as many steps as
 * the largest number has digits of 6 bits.
 */
final class NumberSet {

	private static final int SHIFT = 6;

	private long[][] levels = { new long[1] };

	boolean isEmpty() {
		return this.levels[this.levels.length - 1][0] == 0;
	}

	void add(int number) {
		reserve(number);
		int index = number;
		for (long[] words : this.levels) {
			words[index >>> SHIFT] |= 1L << index;
			index >>>= SHIFT;
		}
	}

	/** Makes room for a number, so that adding it needs no heap. */
	void reserve(int number) {
		while (number >>> (SHIFT * this.levels.length) != 0) {
			long[][] higher = Arrays.copyOf(this.levels, this.levels.length + 1);
			higher[this.levels.length] = new long[] { isEmpty() ? 0 : 1 };
			this.levels = higher;
		}
		int index = number;
		for (int level = 0; level < this.levels.length; level++) {
			int word = index >>> SHIFT;
			if (word >= this.levels[level].length) {
				this.levels[level] = Arrays.copyOf(this.levels[level], Integer.highestOneBit(word) * 2);
			}
			index = word;
		}
	}

	void remove(int number) {
		int index = number;
		for (long[] words : this.levels) {
			int word = index >>> SHIFT;
			if (word >= words.length) {
				return;
			}
			words[word] &= ~(1L << index);
			if (words[word] != 0) {
				return;
			}
			index = word;
		}
	}

	/** The least number in the set that is not less than another one, or -1. */
	int next(int from) {
		int index = from;
		for (int level = 0; level < this.levels.length; level++) {
			int word = index >>> SHIFT;
			long bits = (word < this.levels[level].length) ? this.levels[level][word] & -1L << index : 0;
			if (bits != 0) {
				index = (word << SHIFT) + Long.numberOfTrailingZeros(bits);
				while (level-- > 0) {
					index = (index << SHIFT) + Long.numberOfTrailingZeros(this.levels[level][index]);
				}
				return index;
			}
			index = word + 1;
		}
		return -1;
	}

	/** The greatest number in the set that is not more than another one, or -1. */
	int last(int upTo) {
		int index = (int) Math.min(upTo, (1L << (SHIFT * this.levels.length)) - 1);
		for (int level = 0; index >= 0 && level < this.levels.length; level++) {
			int word = index >>> SHIFT;
			long bits = (word < this.levels[level].length) ? this.levels[level][word] & -1L >>> ~index : 0;
			if (bits != 0) {
				index = (word << SHIFT) + highest(bits);
				while (level-- > 0) {
					index = (index << SHIFT) + highest(this.levels[level][index]);
				}
				return index;
			}
			index = word - 1;
		}
		return -1;
	}

	private static int highest(long bits) {
		return Long.SIZE - 1 - Long.numberOfLeadingZeros(bits);
	}

}
