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
import java.util.List;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.flatbuffers.AllocatedBytes;

import static org.assertj.core.api.Assertions.assertThat;

class ExtentIndexTests {

	private static final int PAGES = 16;

	private final ExtentIndex index = new ExtentIndex();

	private static PoolExtent extent(int pages) {
		int bytes = pages * MemoryOptions.PAGE_BYTES;
		ExtentMemory.Piece piece = new ExtentMemory(bytes).take(bytes, bytes);
		assertThat(piece).isNotNull();
		return new PoolExtent(piece);
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3 })
	void findsTheShortestRunThatIsLongEnough(long seed) {
		SplittableRandom random = new SplittableRandom(seed);
		List<PoolExtent> extents = new ArrayList<>();
		List<Span> spans = new ArrayList<>();
		for (int step = 0; step < 20_000; step++) {
			String where = "seed " + seed + ", step " + step;
			int kind = random.nextInt(100);
			if (kind == 0 && extents.size() < 50) {
				PoolExtent extent = extent(PAGES);
				this.index.add(extent);
				extents.add(extent);
			}
			else if (kind == 1) {
				removeAFreeOne(extents, random);
			}
			else if (kind < 52) {
				take(1 + random.nextInt(PAGES), extents, spans, where);
			}
			else if (!spans.isEmpty()) {
				give(spans.remove(random.nextInt(spans.size())));
			}
		}
	}

	@Test
	void onlyAddingAnExtentNeedsHeap() {
		List<Span> spans = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			PoolExtent extent = extent(PAGES);
			this.index.add(extent);
			spans.add(extent.span(0, 1 + i % (PAGES - 1), Span.LARGE));
		}
		takeAndGive(spans.get(0));
		long first = AllocatedBytes.byThisThread();
		long second = AllocatedBytes.byThisThread();
		for (Span span : spans) {
			takeAndGive(span);
		}
		long third = AllocatedBytes.byThisThread();
		assertThat(third - second).isLessThan(second - first + 512);
	}

	private void takeAndGive(Span span) {
		this.index.used(span.extent());
		span.extent().runs().take(0, span.pages());
		this.index.update(span.extent());
		give(span);
	}

	private void take(int pages, List<PoolExtent> extents, List<Span> spans, String where) {
		PoolExtent found = this.index.find(pages);
		int shortest = extents.stream().mapToInt((extent) -> length(extent, pages)).min().orElse(Integer.MAX_VALUE);
		if (found == null) {
			assertThat(shortest).as(where).isEqualTo(Integer.MAX_VALUE);
			return;
		}
		assertThat(length(found, pages)).as(where).isEqualTo(shortest);
		assertThat(extents.stream()
			.filter((extent) -> length(extent, pages) == shortest)
			.mapToInt(PoolExtent::number)
			.min()).as(where).hasValue(found.number());
		if (found.runs().isFree()) {
			this.index.used(found);
		}
		int page = found.runs().find(pages);
		found.runs().take(page, pages);
		spans.add(new Span(found, page, pages, Span.LARGE));
		this.index.update(found);
	}

	private static int length(PoolExtent extent, int pages) {
		int run = extent.runs().find(pages);
		return (run >= 0) ? extent.runs().length(run) : Integer.MAX_VALUE;
	}

	private void give(Span span) {
		span.extent().give(span);
		this.index.update(span.extent());
		if (span.extent().runs().isFree()) {
			this.index.free(span.extent());
		}
	}

	private void removeAFreeOne(List<PoolExtent> extents, SplittableRandom random) {
		long free = extents.stream().filter((extent) -> extent.runs().isFree()).count();
		assertThat(this.index.freeBytes()).isEqualTo(free * PAGES * MemoryOptions.PAGE_BYTES);
		PoolExtent extent = this.index.freeBelow(random.nextInt(extents.size() + 1));
		if (extent != null) {
			assertThat(extents.remove(extent)).isTrue();
			this.index.remove(extent);
		}
	}

	@Test
	void numberOfARemovedExtentIsUsedAgain() {
		PoolExtent first = extent(1);
		PoolExtent second = extent(1);
		this.index.add(first);
		this.index.add(second);
		this.index.remove(first);
		assertThat(this.index.find(1)).isSameAs(second);
		this.index.add(first);
		assertThat(first.number()).isZero();
		assertThat(this.index.find(1)).isSameAs(first);
	}

	@Test
	void aLongRunIsFoundWhereOthersOfItsRangeAreTooShort() {
		for (int pages = 128; pages < 144; pages += 5) {
			this.index.add(extent(pages));
		}
		this.index.add(extent(200));
		assertThat(length(find(134), 134)).isEqualTo(138);
		assertThat(length(find(144), 144)).isEqualTo(200);
		assertThat(this.index.find(201)).isNull();
	}

	private PoolExtent find(int pages) {
		PoolExtent extent = this.index.find(pages);
		assertThat(extent).isNotNull();
		return extent;
	}

	/**
	 * Where each extent had to be asked, 64 times as many would take 64 times as long.
	 */
	@Test
	void manyExtentsAreSearchedInAboutTheTimeOfFew() {
		long few = Long.MAX_VALUE;
		long many = Long.MAX_VALUE;
		ExtentIndex larger = new ExtentIndex();
		for (int number = 0; number < 4096; number++) {
			if (number < 64) {
				this.index.add(extent(PAGES));
			}
			larger.add(extent(PAGES));
		}
		for (int turn = 0; turn < 50; turn++) {
			few = Math.min(few, nanosToFind(this.index));
			many = Math.min(many, nanosToFind(larger));
		}
		assertThat(many).as("nanoseconds with 4096, %d with 64", few).isLessThan(16 * few);
	}

	private static long nanosToFind(ExtentIndex index) {
		long begin = System.nanoTime();
		for (int turn = 0; turn < 2000; turn++) {
			assertThat(index.find(1 + turn % (PAGES - 1)) != null).isTrue();
		}
		return System.nanoTime() - begin;
	}

}
