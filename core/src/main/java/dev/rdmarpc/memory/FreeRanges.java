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

import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** The free ranges of an extent, by offset; neighbours are joined. Not thread-safe. */
final class FreeRanges {

	private final TreeMap<Integer, Integer> lengths = new TreeMap<>();

	private final int totalBytes;

	FreeRanges(int totalBytes) {
		this.totalBytes = totalBytes;
		this.lengths.put(0, totalBytes);
	}

	/** The lowest offset with so many bytes, or -1. */
	int find(int lengthBytes) {
		for (Map.Entry<Integer, Integer> range : this.lengths.entrySet()) {
			if (range.getValue() >= lengthBytes) {
				return range.getKey();
			}
		}
		return -1;
	}

	void take(int offset, int lengthBytes) {
		int range = Objects.requireNonNull(this.lengths.remove(offset));
		if (range > lengthBytes) {
			this.lengths.put(offset + lengthBytes, range - lengthBytes);
		}
	}

	void release(int offset, int lengthBytes) {
		int from = offset;
		int to = offset + lengthBytes;
		Map.Entry<Integer, Integer> before = this.lengths.lowerEntry(offset);
		if (before != null && before.getKey() + before.getValue() == from) {
			from = before.getKey();
		}
		Integer after = this.lengths.remove(to);
		this.lengths.put(from, to + ((after != null) ? after : 0) - from);
	}

	boolean isFree() {
		Integer first = this.lengths.get(0);
		return first != null && first == this.totalBytes;
	}

}
