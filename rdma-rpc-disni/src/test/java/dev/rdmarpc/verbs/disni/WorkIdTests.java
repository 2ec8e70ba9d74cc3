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

import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class WorkIdTests {

	@Test
	void whatIsPutInComesOut() {
		Random random = new Random(20261121);
		for (int i = 0; i < 1000; i++) {
			int owner = random.nextInt() & WorkId.MASK;
			int slot = random.nextInt() & WorkId.MASK;
			for (long id : new long[] { WorkId.send(owner, slot), WorkId.receive(owner, slot),
					WorkId.shared(owner, slot) }) {
				assertThat(WorkId.owner(id)).isEqualTo(owner);
				assertThat(WorkId.slot(id)).isEqualTo(slot);
			}
		}
	}

	@Test
	void theKindsAreToldApart() {
		int most = WorkId.MASK;
		assertThat(WorkId.isShared(WorkId.shared(0, 0))).isTrue();
		assertThat(WorkId.isShared(WorkId.receive(most, most))).isFalse();
		assertThat(WorkId.isShared(WorkId.send(most, most))).isFalse();
		assertThat(WorkId.isReceive(WorkId.receive(0, 0))).isTrue();
		assertThat(WorkId.isReceive(WorkId.send(most, most))).isFalse();
	}

}
