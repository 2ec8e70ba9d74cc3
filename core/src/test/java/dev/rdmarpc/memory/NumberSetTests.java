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

import java.util.SplittableRandom;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class NumberSetTests {

	@Test
	void nothingIsInAnEmptySet() {
		NumberSet set = new NumberSet();
		assertThat(set.isEmpty()).isTrue();
		assertThat(set.next(0)).isEqualTo(-1);
		assertThat(set.last(Integer.MAX_VALUE)).isEqualTo(-1);
		set.remove(1_000_000);
		assertThat(set.last(-1)).isEqualTo(-1);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 63, 64, 65, 4096, 5000, 300_000 })
	void nextAndLastAreThoseOfAnOrderedSet(int bound) {
		SplittableRandom random = new SplittableRandom(bound);
		NumberSet set = new NumberSet();
		TreeSet<Integer> expected = new TreeSet<>();
		for (int step = 0; step < 20_000; step++) {
			int number = random.nextInt(bound);
			if (random.nextInt(100) < ((step / 5000 % 2 == 0) ? 60 : 30)) {
				set.add(number);
				expected.add(number);
			}
			else {
				set.remove(number);
				expected.remove(number);
			}
			int from = random.nextInt(bound + 100);
			Integer next = expected.ceiling(from);
			Integer last = expected.floor(from);
			assertThat(set.next(from)).as("from %d of %d, step %d", from, bound, step)
				.isEqualTo((next != null) ? next : -1);
			assertThat(set.last(from)).as("up to %d of %d, step %d", from, bound, step)
				.isEqualTo((last != null) ? last : -1);
			assertThat(set.isEmpty()).isEqualTo(expected.isEmpty());
		}
	}

}
