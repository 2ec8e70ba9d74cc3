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

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class EagerLimitTests {

	private final EagerLimit limit = new EagerLimit(1000);

	@Test
	void whatIsNoLongerThanTheLimitIsSentInAnyCase() {
		assertThat(this.limit.holds(1000)).isTrue();
		assertThat(this.limit.holds(1001)).isFalse();
	}

	@Test
	void aLongerMessageIsSentWhileTheChannelIsQuiet() {
		assertThat(this.limit.stretches(4000, false)).isTrue();
	}

	@Test
	void aMuchLongerMessageIsRead() {
		assertThat(this.limit.stretches(4001, false)).isFalse();
	}

	@Test
	void aLongerMessageIsReadWhileThePeerReadsOthers() {
		assertThat(this.limit.stretches(1001, true)).isFalse();
		assertThat(this.limit.stretches(1001, false)).isTrue();
	}

	@Test
	void fewLongerMessagesAreSentUntilAllIsPosted() {
		assertThat(sent(10)).isEqualTo(4);
		this.limit.allPosted();
		assertThat(sent(10)).isEqualTo(4);
	}

	@Test
	void messagesThatAreReadDoNotCount() {
		for (int i = 0; i < 10; i++) {
			assertThat(this.limit.stretches(5000, false)).isFalse();
			assertThat(this.limit.stretches(2000, true)).isFalse();
		}
		assertThat(sent(10)).isEqualTo(4);
	}

	@Test
	void noneIsSentWithoutALimit() {
		EagerLimit none = new EagerLimit(0);
		assertThat(none.holds(1)).isFalse();
		assertThat(none.stretches(1, false)).isFalse();
	}

	@Test
	void noMoreAreSentByManyThreads() throws InterruptedException {
		AtomicInteger sent = new AtomicInteger();
		CountDownLatch begin = new CountDownLatch(1);
		Thread[] threads = new Thread[8];
		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> {
				try {
					begin.await();
					sent.addAndGet(sent(100));
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			});
			threads[i].start();
		}
		begin.countDown();
		for (Thread thread : threads) {
			thread.join();
		}
		assertThat(sent).hasValue(4);
	}

	private int sent(int messages) {
		int sent = 0;
		for (int i = 0; i < messages; i++) {
			sent += this.limit.stretches(2000, false) ? 1 : 0;
		}
		return sent;
	}

}
