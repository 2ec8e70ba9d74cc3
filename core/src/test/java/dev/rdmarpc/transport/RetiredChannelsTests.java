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

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What is left of channels that have ended, and when it goes. */
class RetiredChannelsTests {

	private static final long SECOND = 1_000_000_000;

	private final RetiredChannels channels = new RetiredChannels();

	private final LoopFailures failures = new LoopFailures();

	private final List<String> disposed = new ArrayList<>();

	@Test
	void allOfThemTogetherForgetSomeAtATimeTheOldestFirst() {
		int most = RetiredChannels.MOST_AT_ONCE;
		Remains first = add("first", 2 * most + 20);
		Remains second = add("second", 10);
		Remains third = add("third", 0);
		dispose(1);
		assertThat(List.of(first.left, second.left)).containsExactly(most + 20, 9);
		dispose(2);
		dispose(3);
		assertThat(List.of(first.left, second.left)).containsExactly(0, 0);
		assertThat(third.asked).as("at once, and once").isOne();
		this.channels.polled(true);
		dispose(4);
		assertThat(this.disposed).containsExactly("first", "second", "third");
		assertThat(this.channels.isEmpty()).isTrue();
	}

	@Test
	void theQueuePairHasASecondToFlushOnceAllIsForgotten() {
		Remains slow = add("slow", 2 * RetiredChannels.MOST_AT_ONCE);
		slow.quiet = false;
		dispose(0);
		dispose(2 * SECOND);
		assertThat(slow.left).isZero();
		assertThat(this.disposed).as("something may be left still").isEmpty();
		dispose(2 * SECOND + 1);
		dispose(3 * SECOND + 1);
		assertThat(this.disposed).isEmpty();
		dispose(3 * SECOND + 2);
		assertThat(this.disposed).containsExactly("slow");
	}

	@Test
	void whatTheQueueMayHoldIsPolledFirst() {
		add("one", 0);
		dispose(0);
		this.channels.polled(false);
		dispose(1);
		assertThat(this.disposed).isEmpty();
		this.channels.polled(true);
		dispose(2);
		assertThat(this.disposed).containsExactly("one");
	}

	@Test
	void atTheEndOfTheLoopAllAreDisposedOf() {
		add("one", 1000);
		add("two", 1000).quiet = false;
		this.channels.dispose(0, true, this.failures);
		assertThat(this.disposed).containsExactly("one", "two");
	}

	@Test
	void oneThatFailsKeepsNoOtherAndIsTriedAgain() {
		Remains failing = add("failing", 1);
		failing.fails = true;
		add("other", 0);
		dispose(0);
		this.channels.polled(true);
		dispose(1);
		assertThat(this.disposed).containsExactly("other");
		failing.fails = false;
		dispose(2);
		this.channels.polled(true);
		dispose(3);
		assertThat(this.disposed).containsExactly("other", "failing");
	}

	private void dispose(long nowNanos) {
		this.channels.dispose(nowNanos, false, this.failures);
	}

	private Remains add(String name, int messages) {
		Remains remains = new Remains(messages);
		this.channels.add(new RetiredChannels.Retired(name, remains::giveBack, () -> remains.quiet,
				() -> this.disposed.add(name)), 0);
		return remains;
	}

	/** What a channel has left. */
	private static final class Remains {

		private int left;

		private int asked;

		private boolean quiet = true;

		private boolean fails;

		Remains(int left) {
			this.left = left;
		}

		int giveBack(int most) {
			if (this.fails) {
				throw new IllegalStateException("of the test");
			}
			this.asked++;
			int count = Math.min(most, this.left);
			this.left -= count;
			return count;
		}

	}

}
