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

package dev.rdmarpc.transport;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class PendingCallsTests {

	private static final long NO_DEADLINE = Long.MAX_VALUE;

	private final PendingCalls calls = new PendingCalls(100);

	@Test
	void callIsFoundByItsIdOnce() {
		StubCall call = add(this.calls, NO_DEADLINE);
		assertThat(this.calls.contains(call.requestId())).isTrue();
		assertThat(this.calls.remove(call.requestId())).isSameAs(call);
		assertThat(this.calls.remove(call.requestId())).isNull();
		assertThat(this.calls.contains(call.requestId())).isFalse();
		assertThat(this.calls.count()).isZero();
	}

	@Test
	void nextCallInASlotHasAnotherId() {
		StubCall first = add(this.calls, NO_DEADLINE);
		this.calls.remove(first.requestId());
		StubCall second = add(this.calls, NO_DEADLINE);
		assertThat(second.requestId() & 0xFFFF).isEqualTo(first.requestId() & 0xFFFF);
		assertThat(second.requestId()).isNotEqualTo(first.requestId());
		assertThat(this.calls.remove(first.requestId())).isNull();
		assertThat(this.calls.remove(second.requestId())).isSameAs(second);
	}

	@Test
	void generationsComeRoundAfterAllOfThem() {
		Set<Integer> ids = new HashSet<>();
		for (int i = 0; i < 1 << 16; i++) {
			StubCall call = add(this.calls, NO_DEADLINE);
			ids.add(call.requestId());
			assertThat(this.calls.remove(call.requestId())).isSameAs(call);
		}
		assertThat(ids).hasSize(1 << 16);
		StubCall again = add(this.calls, NO_DEADLINE);
		assertThat(again.requestId()).isZero();
		assertThat(this.calls.contains(0)).isTrue();
	}

	@Test
	void idsThatWereNeverGivenOutAreUnknown() {
		add(this.calls, NO_DEADLINE);
		for (int id : new int[] { 1, 0x1_0000, 0xFFFF, -1, Integer.MIN_VALUE, Integer.MAX_VALUE }) {
			assertThat(this.calls.contains(id)).as("%x", id).isFalse();
			assertThat(this.calls.remove(id)).as("%x", id).isNull();
		}
		assertThat(this.calls.count()).isEqualTo(1);
	}

	@Test
	void callThatWasReplacedInItsSlotIsNotRemovedByObject() {
		StubCall first = add(this.calls, NO_DEADLINE);
		assertThat(this.calls.remove(first)).isTrue();
		StubCall second = add(this.calls, NO_DEADLINE);
		assertThat(this.calls.remove(first)).isFalse();
		assertThat(this.calls.contains(second.requestId())).isTrue();
	}

	@Test
	void deadlinesThatHavePassedAreTakenEvenAcrossTheOverflowOfTheClock() {
		long now = Long.MAX_VALUE - 10;
		StubCall past = add(this.calls, now - 1);
		StubCall later = add(this.calls, now + 100);
		add(this.calls, NO_DEADLINE);
		assertThat(this.calls.removeExpired(now)).isSameAs(past);
		assertThat(this.calls.removeExpired(now)).isNull();
		assertThat(this.calls.removeExpired(now + 99)).isNull();
		assertThat(this.calls.anyDeadlineBefore(now + 100)).isFalse();
		assertThat(this.calls.anyDeadlineBefore(now + 101)).isTrue();
		assertThat(this.calls.removeExpired(now + 100)).isSameAs(later);
		assertThat(this.calls.anyDeadlineBefore(now + 1000)).isFalse();
		assertThat(this.calls.count()).isEqualTo(1);
	}

	@Test
	void fullAtItsLimitOnly() {
		PendingCalls few = new PendingCalls(2);
		StubCall first = add(few, NO_DEADLINE);
		assertThat(few.isFull()).isFalse();
		add(few, NO_DEADLINE);
		assertThat(few.isFull()).isTrue();
		few.remove(first);
		assertThat(few.isFull()).isFalse();
	}

	@Test
	void asManyAsRequestIdsTellApart() {
		PendingCalls all = new PendingCalls(ChannelOptions.MAX_CALLS);
		Set<Integer> slots = new HashSet<>();
		for (int i = 0; i < ChannelOptions.MAX_CALLS; i++) {
			slots.add(add(all, NO_DEADLINE).requestId() & 0xFFFF);
		}
		assertThat(slots).hasSize(ChannelOptions.MAX_CALLS);
		assertThat(all.isFull()).isTrue();
		int removed = 0;
		while (all.removeAny() != null) {
			removed++;
		}
		assertThat(removed).isEqualTo(ChannelOptions.MAX_CALLS);
		assertThat(all.count()).isZero();
	}

	@Test
	void takingAllOfThemLooksAtEachOnce() {
		assertThat(linear((calls) -> {
			while (calls.removeAny() != null) {
				assertThat(calls.count()).isNotNegative();
			}
		})).as("any").isTrue();
		assertThat(linear((calls) -> {
			while (calls.removeExpired(1) != null) {
				assertThat(calls.count()).isNotNegative();
			}
		})).as("expired").isTrue();
	}

	/** Whether the processor's time is far from growing with the square of the calls. */
	private static boolean linear(Consumer<PendingCalls> takeAll) {
		long few = Long.MAX_VALUE;
		long many = Long.MAX_VALUE;
		for (int i = 0; i < 8; i++) {
			few = Math.min(few, cpuNanos(1 << 12, takeAll));
			many = Math.min(many, cpuNanos(1 << 16, takeAll));
		}
		return many < 5 * 16 * Math.max(few, 10_000);
	}

	private static long cpuNanos(int count, Consumer<PendingCalls> takeAll) {
		PendingCalls calls = new PendingCalls(ChannelOptions.MAX_CALLS);
		for (int i = 0; i < count; i++) {
			add(calls, 1);
		}
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		long before = threads.getCurrentThreadCpuTime();
		takeAll.accept(calls);
		long after = threads.getCurrentThreadCpuTime();
		assertThat(calls.count()).isZero();
		return after - before;
	}

	@Test
	void deadlineThatComesBeforeTheOthersIsNoticed() {
		StubCall late = add(this.calls, 100);
		assertThat(this.calls.removeExpired(10)).isNull();
		StubCall early = add(this.calls, 20);
		StubCall earlier = add(this.calls, 15);
		assertThat(this.calls.removeExpired(14)).isNull();
		assertThat(this.calls.removeExpired(20)).isSameAs(early);
		StubCall between = add(this.calls, 18);
		assertThat(this.calls.removeExpired(20)).isSameAs(earlier);
		assertThat(this.calls.removeExpired(20)).as("the walk has passed its slot").isNull();
		assertThat(this.calls.removeExpired(20)).isSameAs(between);
		assertThat(this.calls.removeExpired(99)).isNull();
		assertThat(this.calls.removeExpired(99)).isNull();
		assertThat(this.calls.removeExpired(100)).isSameAs(late);
	}

	@ParameterizedTest
	@ValueSource(longs = { 11, 12, 13, 14 })
	void behavesLikeAMap(long seed) {
		Random random = new Random(seed);
		Map<Integer, StubCall> model = new HashMap<>();
		List<Integer> everGiven = new ArrayList<>(List.of(0));
		for (int step = 0; step < 20_000; step++) {
			switch (random.nextInt(4)) {
				case 0, 1 -> {
					if (!this.calls.isFull()) {
						StubCall call = add(this.calls, random.nextBoolean() ? NO_DEADLINE : step + random.nextInt(50));
						assertThat(model.put(call.requestId(), call)).as("seed %d: id in use", seed).isNull();
						everGiven.add(call.requestId());
					}
				}
				case 2 -> {
					int id = everGiven.get(random.nextInt(everGiven.size()));
					assertThat(this.calls.contains(id)).as("seed %d, step %d", seed, step)
						.isEqualTo(model.containsKey(id));
					assertThat(this.calls.remove(id)).as("seed %d, step %d", seed, step).isSameAs(model.remove(id));
				}
				default -> {
					PendingCall expired = this.calls.removeExpired(step);
					if (expired != null) {
						assertThat(model.remove(expired.requestId())).as("seed %d, step %d", seed, step)
							.isSameAs(expired);
						assertThat(((StubCall) expired).deadline).isLessThanOrEqualTo(step);
					}
				}
			}
			assertThat(this.calls.count()).as("seed %d, step %d", seed, step).isEqualTo(model.size());
			assertThat(this.calls.anyDeadlineBefore(Long.MAX_VALUE)).as("seed %d, step %d", seed, step)
				.isEqualTo(model.values().stream().anyMatch((call) -> call.deadline != NO_DEADLINE));
		}
	}

	private static StubCall add(PendingCalls calls, long deadline) {
		StubCall call = new StubCall();
		call.deadline = deadline;
		call.onStarted(calls.add(call, deadline, RequestTemplate.NORMAL_PRIORITY, deadline));
		return call;
	}

}
