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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

class ReceiveSlotsTests {

	private static final long SEED = 20261121;

	private final SegmentList segments = new SegmentList(2);

	private int add(ReceiveSlots slots, long id) {
		this.segments.clear();
		this.segments.add(id * 100, (int) id, 7);
		return slots.add(new WorkRequest(0).receive(id), this.segments, id % 5 == 0);
	}

	@Test
	void receivesEndInAnyOrderAndTheRestKeepsItsOwn() {
		Random random = new Random(SEED);
		ReceiveSlots slots = new ReceiveSlots(8, 2);
		List<Integer> expected = new ArrayList<>();
		long nextId = 1;
		for (int i = 0; i < 10_000; i++) {
			if (!slots.isFull() && (expected.isEmpty() || random.nextBoolean())) {
				expected.add(add(slots, nextId++));
			}
			else {
				slots.remove(expected.remove(random.nextInt(expected.size())));
			}
			assertThat(inOrder(slots)).as("seed %s, step %s", SEED, i).isEqualTo(expected);
			assertThat(slots.count()).isEqualTo(expected.size());
			assertThat(slots.isFull()).isEqualTo(expected.size() == 8);
		}
	}

	private static List<Integer> inOrder(ReceiveSlots slots) {
		List<Integer> found = new ArrayList<>();
		for (int slot = slots.first(); slot != ReceiveSlots.NONE; slot = slots.next(slot)) {
			found.add(slot);
		}
		return found;
	}

	@Test
	void aSlotKeepsWhatWasPosted() {
		ReceiveSlots slots = new ReceiveSlots(3, 2);
		int first = add(slots, 4);
		int second = add(slots, 5);
		SegmentList copy = new SegmentList(2);
		slots.copySegments(first, copy);
		assertThat(copy.count()).isOne();
		assertThat(copy.address(0)).isEqualTo(400);
		assertThat(copy.lengthBytes(0)).isEqualTo(4);
		assertThat(copy.key(0)).isEqualTo(7);
		assertThat(slots.id(second)).isEqualTo(5);
	}

	@Test
	void whatAnAdapterLeavesOpenIsTakenFromTheMemory() {
		ReceiveSlots slots = new ReceiveSlots(3, 2);
		int good = add(slots, 4);
		int useless = add(slots, 5);
		for (WorkStatus told : new WorkStatus[] { WorkStatus.SUCCESS, WorkStatus.FLUSHED }) {
			assertThat(slots.outcome(good, told, (key) -> false)).isEqualTo(told);
			assertThat(slots.outcome(useless, told, (key) -> false)).isEqualTo(told);
		}
		assertThat(slots.outcome(good, WorkStatus.CONNECTION_LOST, (key) -> key == 7))
			.isEqualTo(WorkStatus.CONNECTION_LOST);
		assertThat(slots.outcome(good, WorkStatus.CONNECTION_LOST, (key) -> key != 7))
			.isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
		assertThat(slots.outcome(good, WorkStatus.LOCAL_LENGTH_ERROR, (key) -> false))
			.isEqualTo(WorkStatus.LOCAL_LENGTH_ERROR);
		assertThat(slots.outcome(useless, WorkStatus.CONNECTION_LOST, (key) -> true))
			.isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
		assertThat(slots.outcome(good, WorkStatus.LOCAL_OPERATION_ERROR, (key) -> key == 7))
			.isEqualTo(WorkStatus.LOCAL_LENGTH_ERROR);
		assertThat(slots.outcome(good, WorkStatus.LOCAL_OPERATION_ERROR, (key) -> key != 7))
			.isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
	}

	@Test
	void whatTheAdapterHasIsCounted() {
		ReceiveSlots slots = new ReceiveSlots(4, 1);
		ArrayDeque<Integer> taken = new ArrayDeque<>(List.of(add(slots, 1), add(slots, 2), add(slots, 3)));
		slots.handOver(taken.getFirst(), true);
		slots.handOver(taken.getFirst(), true);
		slots.handOver(taken.getLast(), true);
		assertThat(slots.handedOverCount()).isEqualTo(2);
		slots.remove(taken.getLast());
		assertThat(slots.handedOverCount()).isOne();
		slots.handOver(taken.getFirst(), false);
		assertThat(slots.handedOverCount()).isZero();
		slots.clear();
		assertThat(slots.count()).isZero();
		assertThat(slots.isFull()).isFalse();
	}

}
