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

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** In what order things are taken that wait with deadlines. */
class DeadlineQueueTests {

	private static final long NONE = DeadlineQueue.NONE;

	private final DeadlineQueue<Waiting> queue = new DeadlineQueue<>();

	@Test
	void earlierDeadlineGoesFirstAndNoneLast() {
		add("none", NONE);
		add("late", 300);
		add("early", 100);
		add("between", 200);
		add("none too", NONE);
		assertThat(takeAll()).containsExactly("early", "between", "late", "none", "none too");
	}

	@Test
	void equalDeadlinesKeepTheOrderOfAddingWhereverTheyAre() {
		add("a", 300);
		add("b1", 200);
		add("b2", 200);
		assertThat(take()).isEqualTo("b1");
		add("b3", 200);
		assertThat(take()).isEqualTo("b2");
		assertThat(take()).isEqualTo("b3");
		add("a2", 300);
		add("c", NONE);
		assertThat(takeAll()).containsExactly("a", "a2", "c");
	}

	@Test
	void deadlinesMayPassTheEndOfTheClock() {
		long late = Long.MAX_VALUE - 10;
		add("after", late + 100);
		add("before", late);
		add("none", NONE);
		assertThat(takeAll()).containsExactly("before", "after", "none");
	}

	@Test
	void theOldestIsPassedABoundedNumberOfTimes() {
		add("oldest", NONE);
		add("next", NONE);
		List<String> taken = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			add("early", 100);
			taken.add(take());
		}
		assertThat(taken.indexOf("oldest")).isEqualTo(DeadlineQueue.MOST_PASSES);
		assertThat(taken.indexOf("next")).isEqualTo(2 * DeadlineQueue.MOST_PASSES + 1);
		assertThat(takeAll()).hasSize(2);
	}

	@Test
	void whatIsLateStarvesNoMoreThanWhatHasNoDeadline() {
		add("far", 1_000_000);
		List<String> taken = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			add("nearer", 1000 - i);
			add("nearer", 1000 - i);
			taken.add(take());
		}
		assertThat(taken.indexOf("far")).isEqualTo(DeadlineQueue.MOST_PASSES);
	}

	@Test
	void whatIsAddedBehindHasItsTurnAfterThoseThatWait() {
		add("late", 300);
		Waiting rest = new Waiting("rest", 100);
		this.queue.addBehind(rest.place, rest.deadline);
		add("none", NONE);
		add("early", 200);
		assertThat(takeAll()).containsExactly("early", "late", "rest", "none");
		this.queue.addBehind(rest.place, rest.deadline);
		add("late", 300);
		assertThat(takeAll()).containsExactly("rest", "late");
	}

	@Test
	void lastIsWhatWasAddedLast() {
		assertThat(this.queue.last()).isNull();
		add("late", 300);
		add("early", 100);
		assertThat(this.queue.last()).hasToString("early");
		add("later", 400);
		assertThat(this.queue.last()).hasToString("later");
		List<String> seen = new ArrayList<>();
		this.queue.fromLast((waiting) -> seen.add(waiting.name));
		assertThat(seen).containsExactlyInAnyOrder("later", "late", "early");
		assertThat(seen.indexOf("later")).isLessThan(seen.indexOf("late"));
	}

	@Test
	void doesWhatAListThatIsSearchedWouldDo() {
		long seed = Long.getLong("rdmarpc.test.seed", System.nanoTime());
		Random random = new Random(seed);
		List<Waiting> model = new ArrayList<>();
		int passes = 0;
		for (int step = 0; step < 50_000; step++) {
			String where = "seed " + seed + ", step " + step;
			switch (random.nextInt((step % 1000 < 500) ? 5 : 8)) {
				case 0, 1, 2 -> {
					long deadline = (random.nextInt(4) == 0) ? NONE : Long.MAX_VALUE - 500 + random.nextInt(1000);
					deadline = random.nextBoolean() ? deadline : Long.MAX_VALUE - 500 + step;
					Waiting added = new Waiting("step " + step, deadline);
					model.add(added);
					this.queue.add(added.place, deadline);
				}
				case 3 -> {
					if (!model.isEmpty()) {
						Waiting removed = model.get(random.nextInt(model.size()));
						passes = (removed == model.get(0)) ? 0 : passes;
						model.remove(removed);
						this.queue.remove(removed.place);
					}
				}
				case 4 -> {
					int divisor = 2 + random.nextInt(40);
					int before = model.size();
					boolean first = !model.isEmpty() && model.get(0).hash() % divisor == 0;
					int[] removed = new int[1];
					model.removeIf((waiting) -> waiting.hash() % divisor == 0);
					this.queue.removeAll((waiting) -> waiting.hash() % divisor == 0, (waiting) -> removed[0]++);
					assertThat(removed[0]).as(where).isEqualTo(before - model.size());
					passes = first ? 0 : passes;
				}
				default -> {
					Waiting expected = first(model, passes);
					assertThat(this.queue.first()).as(where).isSameAs(expected);
					if (expected != null) {
						passes = (expected == model.get(0)) ? 0 : passes + 1;
						model.remove(expected);
						this.queue.take(expected.place);
					}
				}
			}
			assertThat(this.queue.size()).as(where).isEqualTo(model.size());
			assertThat(this.queue.isEmpty()).as(where).isEqualTo(model.isEmpty());
			assertThat(this.queue.last()).as(where).isSameAs(model.isEmpty() ? null : model.get(model.size() - 1));
		}
	}

	private static Waiting first(List<Waiting> model, int passes) {
		if (model.isEmpty() || passes >= DeadlineQueue.MOST_PASSES) {
			return model.isEmpty() ? null : model.get(0);
		}
		Waiting first = model.get(0);
		for (Waiting other : model) {
			boolean earlier = (other.deadline != NONE)
					&& (first.deadline == NONE || other.deadline - first.deadline < 0);
			first = earlier ? other : first;
		}
		return first;
	}

	private void add(String name, long deadline) {
		Waiting added = new Waiting(name, deadline);
		this.queue.add(added.place, deadline);
	}

	private String take() {
		Waiting first = this.queue.first();
		this.queue.take(first.place);
		return first.name;
	}

	private List<String> takeAll() {
		List<String> taken = new ArrayList<>();
		while (!this.queue.isEmpty()) {
			taken.add(take());
		}
		assertThat(this.queue.first()).isNull();
		return taken;
	}

	/** What waits. */
	private static final class Waiting {

		private final String name;

		private final long deadline;

		private final DeadlineQueue.Place<Waiting> place = new DeadlineQueue.Place<>(this);

		Waiting(String name, long deadline) {
			this.name = name;
			this.deadline = deadline;
		}

		int hash() {
			return this.name.hashCode() & 0xFFFF;
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

}
