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

package dev.rdmarpc.verbs.disni;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class QueuePairTableTests {

	private static final long SEED = 20261121;

	@Test
	void itDoesWhatAMapDoes() {
		Random random = new Random(SEED);
		Map<Integer, String> expected = new HashMap<>();
		QueuePairTable<String> table = new QueuePairTable<>();
		for (int i = 0; i < 20_000; i++) {
			int number = random.nextInt(300) * 0x100;
			if (random.nextInt(3) > 0) {
				String queuePair = "queue pair " + i;
				expected.put(number, queuePair);
				table.put(number, queuePair);
			}
			else {
				String known = expected.remove(number);
				table.remove(number, (known != null) ? known : "nobody");
			}
			assertThat(table.get(number)).as("seed %s, step %s", SEED, i).isEqualTo(expected.get(number));
		}
		List<Integer> numbers = new ArrayList<>(expected.keySet());
		assertThat(numbers).isNotEmpty()
			.allSatisfy((number) -> assertThat(table.get(number)).isEqualTo(expected.get(number)));
	}

	@Test
	void aNumberThatIsAnothersByNowStays() {
		QueuePairTable<String> table = new QueuePairTable<>();
		table.put(17, "first");
		table.put(17, "second");
		table.remove(17, "first");
		assertThat(table.get(17)).isEqualTo("second");
		assertThat(table.get(0)).isNull();
	}

}
