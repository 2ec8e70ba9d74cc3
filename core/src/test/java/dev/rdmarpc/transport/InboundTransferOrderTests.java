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

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/** Which message is Read first, and which has memory first. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InboundTransferOrderTests extends InboundTransferFixture {

	@Test
	void urgentMessageIsReadBetweenTheSlicesOfALessUrgentOne() throws Exception {
		int chunk = 256 * 1024;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(2);
			earnTrust(transfers, pair, buffer, chunk);
			begin(transfers, buffer, 1, 8 * chunk, LOW, 0);
			transfers.post(pair);
			begin(transfers, buffer, 2, 8 * chunk, HIGH, 0);
			assertThat(completeAll(transfers, pair, 16)).as("ids in the order in which they were read")
				.containsExactly(2, 1);
		});
	}

	@Test
	void equalMessagesAreReadInTheOrderInWhichTheyCame() throws Exception {
		int chunk = 256 * 1024;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(2);
			earnTrust(transfers, pair, buffer, chunk);
			for (int id = 1; id <= 4; id++) {
				begin(transfers, buffer, id, 2 * chunk, LOW, 0);
			}
			transfers.post(pair);
			assertThat(completeAll(transfers, pair, 8)).containsExactly(1, 2, 3, 4);
		});
	}

	@Test
	void messagesOfOneClassAreReadInTheOrderOfTheirDeadlines() throws Exception {
		int chunk = 256 * 1024;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(2);
			earnTrust(transfers, pair, buffer, chunk);
			begin(transfers, buffer, 1, 2 * chunk, LOW, 0);
			transfers.post(pair);
			beginDue(transfers, buffer, 2, 2 * chunk, Long.MAX_VALUE);
			beginDue(transfers, buffer, 3, 2 * chunk, 3000);
			beginDue(transfers, buffer, 4, 2 * chunk, 1000);
			beginDue(transfers, buffer, 5, 2 * chunk, 2000);
			assertThat(completeAll(transfers, pair, 10)).as("the first one was asked for")
				.startsWith(1)
				.containsExactly(1, 4, 5, 3, 2);
		});
	}

	@Test
	void messageWithAnEarlierDeadlineIsReadBetweenTheSlicesOfAnEqualOne() throws Exception {
		int chunk = 256 * 1024;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(2);
			earnTrust(transfers, pair, buffer, chunk);
			beginDue(transfers, buffer, 1, 8 * chunk, 2000);
			transfers.post(pair);
			beginDue(transfers, buffer, 2, 7 * chunk, 3000);
			beginDue(transfers, buffer, 3, 7 * chunk, 1000);
			assertThat(completeAll(transfers, pair, 22)).containsExactly(3, 1, 2);
		});
	}

	@Test
	void shortMessageIsReadByTurnsWithALongOneOfAnEarlierDeadline() throws Exception {
		int chunk = 256 * 1024;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(2);
			earnTrust(transfers, pair, buffer, 2 * chunk);
			beginDue(transfers, buffer, 1, 16 * chunk, 1000);
			transfers.post(pair);
			beginDue(transfers, buffer, 2, 2 * chunk, 2000);
			assertThat(completeAll(transfers, pair, 18)).containsExactly(2, 1);
		});
	}

	@Test
	void messageWithoutDeadlineIsReadThoughOthersKeepComing() throws Exception {
		int chunk = 256 * 1024;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(2);
			earnTrust(transfers, pair, buffer, chunk);
			beginDue(transfers, buffer, 1, 4 * chunk, Long.MAX_VALUE);
			int due = 2;
			for (; due < 400 && !this.ended.contains(1); due++) {
				beginDue(transfers, buffer, due, chunk, 1000);
				transfers.post(pair);
				complete(transfers, pair);
			}
			assertThat(this.ended).contains(1);
			assertThat(due).as("others begun meanwhile").isGreaterThan(2 * DeadlineQueue.MOST_PASSES);
			completeAll(transfers, pair, 1000);
		});
	}

	/** They come whenever nothing is ready, so that the long one stays without memory. */
	@ParameterizedTest
	@CsvSource({ "1,0", "4,0", "16,0", "1,2", "4,2", "16,2" })
	void longMessageIsReadThoughShortOnesKeepComing(int readDepth, int priority) throws Exception {
		int chunk = 256 * 1024;
		int most = 2000;
		reading(100_000, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(readDepth);
			earnTrust(transfers, pair, buffer, chunk);
			for (int id = 1000; id < 1000 + readDepth; id++) {
				begin(transfers, buffer, id, chunk / 4, priority, 0);
			}
			transfers.post(pair);
			begin(transfers, buffer, 2000, chunk / 4, priority, 0);
			begin(transfers, buffer, 1, 8 * chunk, LOW, 0);
			int begun = 0;
			while (begun < most && isUnread(transfers, 1)) {
				begin(transfers, buffer, 3000 + begun++, chunk / 4, priority, 0);
				complete(transfers, pair);
				transfers.post(pair);
			}
			assertThat(begun).as("short ones begun before it").isBetween(2, most / 10);
			completeAll(transfers, pair, 3000);
		});
	}

	/** The one that waits is held up by another long one, and not by the short ones. */
	@ParameterizedTest
	@ValueSource(ints = { RequestTemplate.NORMAL_PRIORITY, HIGH })
	void shortMessagesPassALongOneThatAnotherLongOneHoldsUp(int priority) throws Exception {
		int chunk = 256 * 1024;
		int shortOnes = 60;
		reading(100_000, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(4);
			earnTrust(transfers, pair, buffer, 4 * chunk);
			begin(transfers, buffer, 1, 16 * chunk, 0);
			transfers.post(pair);
			begin(transfers, buffer, 2, 16 * chunk, 0);
			for (int id = 1000; id < 1000 + shortOnes; id++) {
				begin(transfers, buffer, id, MESSAGE, priority, 0);
				int reads = 0;
				while (!this.ended.contains(id) && !this.ended.contains(1)) {
					transfers.post(pair);
					complete(transfers, pair);
					reads++;
				}
				assertThat(reads).as("Reads before the short message %d", id).isLessThan(10);
			}
			completeAll(transfers, pair, 1000);
			assertThat(this.ended).contains(1, 2);
		});
	}

	private static boolean isUnread(InboundTransfers transfers, int id) {
		return transfers.all()
			.stream()
			.anyMatch((transfer) -> transfer.requestId() == id && transfer.postedBytes() == 0);
	}

	@Test
	void onlyAFewMessagesHoldMemoryBecauseOthersHaveEarlierDeadlines() throws Exception {
		int chunk = 256 * 1024;
		reading(16, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(2);
			earnTrust(transfers, pair, buffer, 2 * chunk);
			long before = transfers.heldBytes();
			for (int id = 1; id <= 12; id++) {
				beginDue(transfers, buffer, id, 2 * chunk, 1000 - id);
			}
			assertThat(transfers.heldBytes() - before).isLessThanOrEqualTo(8L * chunk);
			assertThat(completeAll(transfers, pair, 100)).hasSize(12);
		});
	}

	@Test
	void messagesOfEarlierDeadlinesDoNotKeepMemoryFromEachOther() throws Exception {
		int message = (2 << 20) + 1000;
		readingInto(3 << 20, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(16);
			beginDue(transfers, buffer, 1, message, 3000);
			transfers.post(pair);
			complete(transfers, pair);
			for (int id = 2; id <= 6; id++) {
				transfers.post(pair);
				beginDue(transfers, buffer, id, message, 3000 - 100 * id);
			}
			assertThat(completeAll(transfers, pair, 1000)).containsExactlyInAnyOrder(1, 2, 3, 4, 5, 6);
		});
	}

	@Test
	void messagesOfDifferentUrgencyDoNotKeepMemoryFromEachOther() throws Exception {
		int message = (2 << 20) + 1000;
		readingInto(3 << 20, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(16);
			begin(transfers, buffer, 1, message, LOW, 0);
			transfers.post(pair);
			complete(transfers, pair);
			for (int priority = LOW + 1; priority <= HIGH; priority++) {
				transfers.post(pair);
				begin(transfers, buffer, 1 + priority, message, priority, 0);
			}
			assertThat(completeAll(transfers, pair, 1000)).containsExactlyInAnyOrder(1, 2, 3);
		});
	}

	@Test
	void urgentMessageWaitsForOneThatHoldsMemoryAndNeedsMore() throws Exception {
		int kibibyte = 1024;
		readingInto(3 << 20, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(16);
			begin(transfers, buffer, 1, 2700 * kibibyte, LOW, 0);
			transfers.post(pair);
			complete(transfers, pair);
			transfers.post(pair);
			begin(transfers, buffer, 2, 500 * kibibyte, HIGH, 0);
			complete(transfers, pair);
			complete(transfers, pair);
			assertThat(transfers.isWaiting()).as("the first one waits for memory").isTrue();
			begin(transfers, buffer, 3, 2800 * kibibyte, HIGH, 0);
			transfers.post(pair);
			assertThat(completeAll(transfers, pair, 1000)).containsExactly(2, 1, 3);
		});
	}

	@Test
	void oneIsGivenUpWhenAllThatHoldMemoryWaitForMore() throws Exception {
		int message = 200 * 1024;
		try (LoopFixture fixture = new LoopFixture(MESSAGE, 1024, 1 << 20, Duration.ofNanos(PATIENCE))) {
			fixture.drive(() -> {
				this.memory = fixture.memory;
				InboundTransfers transfers = new InboundTransfers(this.receiver, fixture.loop.resources(),
						fixture.loop.metrics(), ChannelOptions.DEFAULTS, 8);
				FakeQueuePair pair = new FakeQueuePair(null, fixture.completions);
				RegisteredBuffer buffer = fixture.memory.tryAllocate(MESSAGE);
				transfers.readDepth(4);
				begin(transfers, buffer, 1, message, LOW, 0);
				begin(transfers, buffer, 2, message, HIGH, 0);
				List<RegisteredBuffer> rest = takeAll();
				for (int i = 0; i < 8; i++) {
					transfers.post(pair);
					complete(transfers, pair);
				}
				assertThat(transfers.isQuiet()).isTrue();
				assertThat(transfers.all().size()).as("messages that wait").isEqualTo(2);
				assertThat(transfers.heldBytes()).isEqualTo(2L * InboundTransfers.FIRST_BYTES);
				transfers.retry(PATIENCE - 1);
				assertThat(this.refused).isEmpty();
				rest.addAll(takeAll());
				transfers.retry(Duration.ofMinutes(1).toNanos());
				assertThat(this.refused).as("those given up").isNotEmpty();
				rest.forEach(RegisteredBuffer::release);
				completeAll(transfers, pair, 100);
				assertThat(transfers.heldBytes()).isZero();
				buffer.release();
			});
		}
	}

	@Test
	void lessUrgentMessageIsReadThoughUrgentOnesKeepComing() throws Exception {
		int chunk = 256 * 1024;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(2);
			earnTrust(transfers, pair, buffer, chunk);
			begin(transfers, buffer, 1, 4 * chunk, LOW, 0);
			int urgent = 2;
			for (; urgent < 400 && !this.ended.contains(1); urgent++) {
				begin(transfers, buffer, urgent, chunk, HIGH, 0);
				transfers.post(pair);
				complete(transfers, pair);
			}
			assertThat(this.ended).as("the less urgent one has ended").contains(1);
			assertThat(urgent).as("urgent ones begun meanwhile").isGreaterThan(50);
			assertThat(fixture.loop.metrics().classes().overtakings(LOW)).isGreaterThan(50);
			assertThat(fixture.loop.metrics().classes().overtakings(HIGH)).isZero();
			completeAll(transfers, pair, 1000);
		});
	}

	/** What comes in several frames takes longer than a step of the device anyway. */
	@Test
	void messagesInOneFrameAreToldFromOthers() throws Exception {
		int chunk = 256 * 1024;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(1);
			earnTrust(transfers, pair, buffer, 4 * chunk);
			begin(transfers, buffer, 1, 4 * chunk, LOW, 0);
			transfers.passedBy(HIGH, false, 0);
			transfers.post(pair);
			assertThat(transfers.isSharing()).as("in several frames").isFalse();
			transfers.passedBy(HIGH, true, 0);
			complete(transfers, pair);
			transfers.post(pair);
			assertThat(transfers.isSharing()).as("in one frame").isTrue();
			completeAll(transfers, pair, 1000);
			assertThat(transfers.isSharing()).as("beside nothing").isFalse();
			begin(transfers, buffer, 2, 4 * chunk, LOW, ReadWindow.LATELY_NANOS);
			transfers.post(pair);
			assertThat(transfers.isSharing()).as("long ago").isFalse();
			completeAll(transfers, pair, 1000);
			begin(transfers, buffer, 3, 4 * chunk, HIGH, 2 * ReadWindow.LATELY_NANOS);
			transfers.passedBy(LOW, true, 2 * ReadWindow.LATELY_NANOS);
			transfers.post(pair);
			assertThat(transfers.isSharing()).as("less urgent").isFalse();
			completeAll(transfers, pair, 1000);
		});
	}

	@Test
	void slicesAndWindowAreSmallWhileOtherMessagesArrive() throws Exception {
		int chunk = 256 * 1024;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(16);
			earnTrust(transfers, pair, buffer, 4 * chunk);
			long later = ReadWindow.LATELY_NANOS;
			begin(transfers, buffer, 1, 32 * chunk, LOW, later);
			transfers.post(pair);
			assertThat(pair.readBytes).as("alone").hasSize(16).containsOnly(chunk);
			transfers.passedBy(HIGH, false, later);
			int inFlight = 16 * chunk;
			while (this.ended.size() < 1 && inFlight > 0) {
				inFlight -= pair.readBytes.remove();
				pair.reads--;
				transfers.completed(true, 0, later);
				int before = pair.readBytes.size();
				if (transfers.post(pair)) {
					int posted = pair.readBytes.stream().skip(before).mapToInt(Integer::intValue).sum();
					inFlight += posted;
					assertThat(inFlight).as("on its way").isLessThanOrEqualTo(1 << 20);
				}
			}
			assertThat(this.ended).containsExactly(1);
			assertThat(fixture.loop.metrics().classes().slices(LOW)).isGreaterThan(32);
		});
	}

}
