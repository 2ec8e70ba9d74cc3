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
import java.util.BitSet;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class PageRunsTests {

	/** Takes so many pages in a row; returns the first of them, or -1. */
	private static int take(PageRuns runs, int count) {
		int run = runs.find(count);
		if (run >= 0) {
			runs.take(run, count);
		}
		return run;
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 15, 16, 17, 64, 1024, 5000 })
	void everythingCanBeTakenAtOnceAndComesBack(int pages) {
		PageRuns runs = new PageRuns(pages);
		assertThat(take(runs, pages)).isZero();
		assertThat(take(runs, 1)).isEqualTo(-1);
		assertThat(runs.freePages()).isZero();
		runs.give(0, pages);
		assertThat(runs.isFree()).isTrue();
		assertThat(take(runs, pages + 1)).isEqualTo(-1);
	}

	@Test
	void neighboursAreJoined() {
		PageRuns runs = new PageRuns(30);
		int first = take(runs, 10);
		int second = take(runs, 10);
		int third = take(runs, 10);
		runs.give(first, 10);
		runs.give(third, 10);
		assertThat(take(runs, 11)).isEqualTo(-1);
		runs.give(second, 10);
		assertThat(take(runs, 30)).isZero();
	}

	@Test
	void theClosestFitIsTaken() {
		PageRuns runs = new PageRuns(100);
		int large = take(runs, 40);
		take(runs, 1);
		int small = take(runs, 20);
		take(runs, 39);
		runs.give(large, 40);
		runs.give(small, 20);
		assertThat(take(runs, 18)).isEqualTo(small);
		assertThat(take(runs, 18)).isEqualTo(large);
	}

	@Test
	void whatIsNotTakenCannotBeGiven() {
		PageRuns runs = new PageRuns(30);
		int run = take(runs, 10);
		assertThatIllegalStateException().isThrownBy(() -> runs.give(run, 9));
		assertThatIllegalStateException().isThrownBy(() -> runs.give(run + 1, 9));
		runs.give(run, 10);
		assertThatIllegalStateException().isThrownBy(() -> runs.give(run, 10));
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4 })
	void behavesLikeASetOfPages(long seed) {
		Random random = new Random(seed);
		int pages = 500 + random.nextInt(1000);
		PageRuns runs = new PageRuns(pages);
		BitSet model = new BitSet();
		List<int[]> taken = new ArrayList<>();
		for (int step = 0; step < 20_000; step++) {
			String where = "seed " + seed + ", step " + step;
			if (random.nextInt(100) < 52) {
				int count = 1 + random.nextInt(1 << random.nextInt(8));
				int page = take(runs, count);
				if (page >= 0) {
					assertThat(page + count).as(where).isLessThanOrEqualTo(pages);
					assertThat(model.get(page, page + count).isEmpty()).as(where).isTrue();
					model.set(page, page + count);
					taken.add(new int[] { page, count });
				}
				else {
					assertThat(longestFree(model, pages)).as(where).isLessThan(count);
				}
			}
			else if (!taken.isEmpty()) {
				int[] run = taken.remove(random.nextInt(taken.size()));
				model.clear(run[0], run[0] + run[1]);
				runs.give(run[0], run[1]);
			}
			assertThat(runs.freePages()).as(where).isEqualTo(pages - model.cardinality());
		}
		taken.forEach((run) -> runs.give(run[0], run[1]));
		assertThat(runs.isFree()).isTrue();
		assertThat(take(runs, pages)).as("seed " + seed).isZero();
	}

	private static int longestFree(BitSet model, int pages) {
		int longest = 0;
		for (int from = model.nextClearBit(0); from < pages; from = model.nextClearBit(from)) {
			int to = model.nextSetBit(from);
			int end = (to < 0) ? pages : to;
			longest = Math.max(longest, end - from);
			from = end;
		}
		return longest;
	}

}
