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
import java.util.Comparator;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class SpanHeapTests {

	@Test
	void extentsWithSmallerNumbersComeFirst() {
		Span later = new Span(extent(8, 2), 0, 4, 0);
		Span first = new Span(extent(8, 1), 4, 4, 0);
		SpanHeap heap = new SpanHeap();
		heap.reserve(2);
		heap.add(later);
		heap.add(first);
		assertThat(heap.first()).isSameAs(first);
	}

	private static PoolExtent extent(int pages, int number) {
		int bytes = pages * MemoryOptions.PAGE_BYTES;
		ExtentMemory.Piece piece = new ExtentMemory(bytes).take(bytes, bytes);
		assertThat(piece).isNotNull();
		PoolExtent extent = new PoolExtent(piece);
		extent.number(number);
		return extent;
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3 })
	void theFirstIsAlwaysAtHand(long seed) {
		Random random = new Random(seed);
		PoolExtent extent = extent(1024, 1);
		List<Span> outside = new ArrayList<>();
		for (int page = 0; page < 1024; page++) {
			outside.add(new Span(extent, page, 1, 0));
		}
		List<Span> inside = new ArrayList<>();
		SpanHeap heap = new SpanHeap();
		for (int step = 0; step < 20_000; step++) {
			boolean add = inside.isEmpty() || (!outside.isEmpty() && random.nextInt(100) < 51);
			List<Span> from = add ? outside : inside;
			Span span = from.remove(random.nextInt(from.size()));
			if (add) {
				heap.reserve(inside.size() + 1);
				heap.add(span);
				inside.add(span);
			}
			else {
				heap.remove(span);
				outside.add(span);
			}
			assertThat(heap.size()).isEqualTo(inside.size());
			assertThat(heap.first()).as("seed " + seed + ", step " + step)
				.isSameAs(inside.stream().min(Comparator.comparingInt(Span::page)).orElse(null));
		}
	}

}
