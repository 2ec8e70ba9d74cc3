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

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.flatbuffers.AllocatedBytes;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

class CompletionBufferTests {

	private final QueuePair one = somebody();

	private final QueuePair other = somebody();

	private final CompletionBuffer buffer = new CompletionBuffer();

	private static QueuePair somebody() {
		return (QueuePair) Proxy.newProxyInstance(QueuePair.class.getClassLoader(), new Class<?>[] { QueuePair.class },
				(proxy, method, arguments) -> null);
	}

	private void append(long id, QueuePair queuePair) {
		this.buffer.append().set(id, WorkStatus.SUCCESS, WorkOpcode.SEND, id, 0, queuePair);
	}

	private List<Long> takeAll() {
		List<Long> ids = new ArrayList<>();
		WorkCompletion record = new WorkCompletion();
		while (!this.buffer.isEmpty()) {
			this.buffer.take(record);
			ids.add(record.id());
		}
		return ids;
	}

	@Test
	void whatRoomWasMadeForNeedsNoHeap() {
		append(1, this.one);
		this.buffer.take(new WorkCompletion());
		this.buffer.reserve(5000);
		long before = AllocatedBytes.byThisThread();
		for (int i = 0; i < 5000; i++) {
			append(i, this.one);
		}
		assertThat(AllocatedBytes.byThisThread() - before).as("bytes").isLessThan(5000 * Long.BYTES);
		assertThat(takeAll()).hasSize(5000).isSorted();
	}

	@Test
	void completionsComeOutInTheirOrderHoweverManyThereAre() {
		long next = 0;
		long expected = 0;
		for (int round = 1; round < 50; round++) {
			for (int i = 0; i < round; i++) {
				append(next++, this.one);
			}
			for (long id : takeAll().subList(0, round)) {
				assertThat(id).isEqualTo(expected++);
			}
		}
		assertThat(expected).isEqualTo(next);
	}

	@Test
	void aQueuePairThatClosesTakesItsOwnWithIt() {
		for (long id = 0; id < 100; id++) {
			append(id, (id % 3 == 0) ? this.one : this.other);
		}
		this.buffer.remove(this.other);
		assertThat(takeAll()).hasSize(34).allMatch((id) -> id % 3 == 0);
	}

	@Test
	void whatCameEarlyFollowsInItsOrderWhenItMay() {
		CompletionBuffer early = new CompletionBuffer();
		append(1000, this.other);
		for (long id = 0; id < 100; id++) {
			QueuePair queuePair = (id % 3 == 0) ? this.one : this.other;
			early.append().set(id, WorkStatus.SUCCESS, WorkOpcode.RECEIVE, id, 0, queuePair);
		}
		assertThat(early.moveTo(this.buffer, this.one)).isTrue();
		assertThat(early.moveTo(this.buffer, this.one)).isFalse();
		assertThat(takeAll()).hasSize(35).startsWith(1000L, 0L, 3L, 6L).endsWith(96L, 99L);
		assertThat(early.moveTo(this.buffer, this.other)).isTrue();
		assertThat(takeAll()).hasSize(66).startsWith(1L, 2L, 4L);
		assertThat(early.isEmpty()).isTrue();
	}

}
