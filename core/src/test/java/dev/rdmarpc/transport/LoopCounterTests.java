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
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** What is counted by the loop's thread and by others. */
@Timeout(60)
class LoopCounterTests {

	private static final int COUNTS = 100_000;

	private final LoopCounter counter = new LoopCounter();

	@Test
	void countsWithoutAnOwner() {
		this.counter.add(3);
		this.counter.add(4);
		assertThat(this.counter.sum()).isEqualTo(7);
	}

	@Test
	void keepsWhatEarlierOwnersHaveCounted() throws Exception {
		for (int i = 1; i <= 3; i++) {
			Thread owner = new Thread(() -> this.counter.add(10));
			this.counter.ownedBy(owner);
			owner.start();
			owner.join();
			this.counter.add(1);
			assertThat(this.counter.sum()).isEqualTo(11L * i);
		}
	}

	@Test
	void losesNothingThatTheOwnerAndOthersCountAtOnce() throws Exception {
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			threads.add(new Thread(() -> {
				for (int n = 0; n < COUNTS; n++) {
					this.counter.add(1);
				}
			}));
		}
		this.counter.ownedBy(threads.get(1));
		threads.forEach(Thread::start);
		long before = 0;
		while (threads.stream().anyMatch(Thread::isAlive)) {
			long sum = this.counter.sum();
			assertThat(sum).as("grows only").isGreaterThanOrEqualTo(before);
			before = sum;
		}
		assertThat(this.counter.sum()).isEqualTo(3L * COUNTS);
	}

}
