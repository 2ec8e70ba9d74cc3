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

package dev.rdmarpc.grpc;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** Places that are added and removed in any order. */
class CallListTests {

	@Test
	void keepsTheOrderWhateverIsRemoved() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		CallList list = new CallList();
		List<CallList.Place> expected = new ArrayList<>();
		for (int i = 0; i < 10_000; i++) {
			if (expected.isEmpty() || random.nextInt(5) < 3 - expected.size() / 20) {
				CallList.Place place = new CallList.Place(null);
				list.add(place);
				expected.add(place);
			}
			else {
				CallList.Place gone = expected.remove(random.nextInt(expected.size()));
				Assertions.assertThat(list.remove(gone)).as("seed %d", seed).isTrue();
				Assertions.assertThat(list.remove(gone)).as("seed %d", seed).isFalse();
			}
			Assertions.assertThat(list.places()).as("seed %d", seed).isEqualTo(expected);
			Assertions.assertThat(list.size()).isEqualTo(expected.size());
			Assertions.assertThat(list.isEmpty()).isEqualTo(expected.isEmpty());
		}
	}

	@Test
	void aCallOfAnotherListIsNotRemoved() {
		CallList one = new CallList();
		CallList other = new CallList();
		CallList.Place place = new CallList.Place(null);
		one.add(place);
		Assertions.assertThat(other.remove(place)).isFalse();
		Assertions.assertThat(one.remove(place)).isTrue();
		one.add(place);
		Assertions.assertThat(one.places()).containsExactly(place);
	}

}
