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

package dev.rdmarpc.verbs.support;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Numbers of queue pairs are unique, and come round only after all others. */
class QueuePairNumbersTests {

	@Test
	void refusesMoreThanMayBeOpenUntilOneIsReleased() {
		QueuePairNumbers numbers = new QueuePairNumbers(2);
		int first = numbers.claim();
		int second = numbers.claim();
		assertThat(first).isNotEqualTo(second);
		assertThatExceptionOfType(VerbsException.class).isThrownBy(numbers::claim)
			.satisfies((ex) -> assertThat(ex.error()).isEqualTo(VerbsError.LIMIT_EXCEEDED))
			.withMessageContaining("2 queue pairs");
		numbers.release(first);
		assertThat(numbers.claim()).isNotIn(first, second);
	}

	@Test
	void comesRoundPastZeroAndPastThoseStillOpen() {
		QueuePairNumbers numbers = new QueuePairNumbers(4, 7);
		int open = numbers.claim();
		List<Integer> seen = new ArrayList<>();
		for (int i = 0; i < 12; i++) {
			int number = numbers.claim();
			seen.add(number);
			numbers.release(number);
		}
		assertThat(seen.subList(0, 6)).doesNotHaveDuplicates().doesNotContain(0, open);
		assertThat(seen.subList(6, 12)).isEqualTo(seen.subList(0, 6));
	}

}
