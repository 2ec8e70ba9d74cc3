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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.codec.ArrivingBytes;
import dev.rdmarpc.codec.HeapBudget;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages to be Read that wait for memory. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InboundTransfersTests {

	private static final int MESSAGE = 4096;

	private static final int LOW = 0;

	private static final int HIGH = 2;

	private final List<Integer> ended = new ArrayList<>();

	private static final long PATIENCE = 100;

	private final List<Integer> refused = new ArrayList<>();

	private final List<Integer> told = new ArrayList<>();

	private final List<byte[]> transferred = new ArrayList<>();

	private final List<Integer> begun = new ArrayList<>();

	private final HeapBudget heap = new HeapBudget(64 << 20);

	private RegisteredMemory memory;

	private final InboundTransfers.Receiver receiver = new InboundTransfers.Receiver() {
		@Override
		public RegisteredBuffer claim(int bytes) {
			return InboundTransfersTests.this.memory.tryAllocate(bytes);
		}

		@Override
		public void onShortOfMemory() {
			// the test tries again when it wants to
		}

		@Override
		public void onTransferBegun(InboundTransfer transfer) {
			ByteBuffer arrived = transfer.arrived();
			InboundTransfersTests.this.begun.add(arrived.remaining());
			transfer.head()
				.arriving(ArrivingBytes.of(InboundTransfersTests.this.heap, arrived.position(),
						transfer.head().messageBytes()));
		}

		@Override
		public void onTransferred(InboundTransfer transfer) {
			InboundTransfersTests.this.ended.add(transfer.requestId());
			InboundTransfersTests.this.transferred.add(contentOf(transfer.complete()));
			transfer.release();
		}

		@Override
		public void onTransferProgress(InboundTransfer transfer) {
			InboundTransfersTests.this.told.add(transfer.readBytes());
		}

		@Override
		public void onTransferWithoutMemory(InboundTransfer transfer) {
			InboundTransfersTests.this.refused.add(transfer.requestId());
		}

		@Override
		public void onTransferAbandoned(InboundTransfer transfer) {
			// nobody waits for it
		}
	};

	@Test
	void eachWaitsForMemoryAsLongAsAnAllocationMay() throws Exception {
		try (LoopFixture fixture = new LoopFixture(MESSAGE, 1024, 1 << 20, Duration.ofNanos(PATIENCE))) {
			fixture.drive(() -> {
				this.memory = fixture.memory;
				InboundTransfers transfers = new InboundTransfers(this.receiver, fixture.loop.resources(),
						fixture.loop.metrics(), ChannelOptions.DEFAULTS, 8);
				List<RegisteredBuffer> all = takeAll();
				begin(transfers, all.get(0), 1, 1000);
				begin(transfers, all.get(0), 2, 1060);
				transfers.retry(1099);
				assertThat(this.refused).isEmpty();
				transfers.retry(1100);
				assertThat(this.refused).containsExactly(1);
				transfers.retry(1159);
				assertThat(this.refused).containsExactly(1);
				begin(transfers, all.get(0), 3, 1159);
				transfers.retry(1160);
				assertThat(this.refused).containsExactly(1, 2);
				all.remove(1).release();
				transfers.retry(1161);
				assertThat(this.refused).containsExactly(1, 2);
				assertThat(transfers.canPost()).as("the third has memory").isTrue();
				transfers.close();
				transfers.dropPosted();
				all.forEach(RegisteredBuffer::release);
			});
		}
	}

	@Test
	void readsOfALongMessageLeaveTogetherAndAShortOneDoesNotWaitForThat() throws Exception {
		int depth = 8;
		int chunk = 256 * 1024;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(depth);
			earnTrust(transfers, pair, buffer, 4 * chunk);
			begin(transfers, buffer, 1, 20 * chunk, 0);
			assertThat(transfers.post(pair)).isTrue();
			assertThat(pair.reads).isEqualTo(depth);
			for (int i = 1; i < depth / 2; i++) {
				transfers.completed(true, chunk, i);
				assertThat(transfers.canPost()).as("after %d", i).isFalse();
			}
			transfers.completed(true, chunk, depth / 2);
			assertThat(transfers.post(pair)).isTrue();
			assertThat(pair.reads).isEqualTo(depth + depth / 2);
			transfers.completed(true, chunk, depth);
			assertThat(transfers.post(pair)).isFalse();
			begin(transfers, buffer, 2, MESSAGE, depth);
			assertThat(transfers.post(pair)).isTrue();
			assertThat(pair.reads).isEqualTo(depth + depth / 2 + 1);
		});
	}

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
				assertThat(transfers.count()).as("messages that wait").isEqualTo(2);
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

	private List<RegisteredBuffer> takeAll() {
		List<RegisteredBuffer> all = new ArrayList<>();
		RegisteredBuffer next = this.memory.tryAllocate(MESSAGE);
		while (next != null) {
			all.add(next);
			next = this.memory.tryAllocate(MESSAGE);
		}
		return all;
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
			transfers.passedBy(HIGH, later);
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

	@Test
	void thePeerIsToldNowAndThenHowMuchOfALongMessageIsThere() throws Exception {
		int chunk = 256 * 1024;
		long second = 1_000_000_000;
		long start = Long.MAX_VALUE - second;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(4);
			earnTrust(transfers, pair, buffer, 2 * chunk);
			begin(transfers, buffer, 1, 12 * chunk, start);
			for (int i = 1; i < 12; i++) {
				transfers.post(pair);
				transfers.completed(true, chunk, start + i * second * 4 / 10);
			}
			assertThat(this.told).containsExactly(3 * chunk, 6 * chunk, 9 * chunk);
			transfers.post(pair);
			transfers.completed(true, chunk, start + 100 * second);
			assertThat(this.told).as("its end is told anyway").hasSize(3);
		});
	}

	@Test
	void peerHoldsNoMoreThanAFewTimesWhatItHasDelivered() throws Exception {
		int message = 4 << 20;
		reading(8, (fixture, transfers, pair, buffer) -> {
			pair.content = (offset) -> (byte) ((offset * 31) >>> 3);
			transfers.readDepth(4);
			long before = fixture.memory.metrics().allocatedBytes();
			for (int id = 1; id <= 4; id++) {
				begin(transfers, buffer, id, message, 0);
			}
			transfers.post(pair);
			assertThat(fixture.memory.metrics().allocatedBytes() - before).as("nothing was delivered")
				.isLessThanOrEqualTo(InboundTransfers.FIRST_BYTES);
			long delivered = 0;
			while (this.transferred.isEmpty()) {
				delivered += pair.readBytes.remove();
				pair.reads--;
				transfers.completed(true, 0, 1);
				transfers.post(pair);
				assertThat(fixture.memory.metrics().allocatedBytes() - before).as("%d were delivered", delivered)
					.isLessThanOrEqualTo(InboundTransfers.FIRST_BYTES + 9 * delivered);
			}
			assertThat(delivered).isEqualTo(message);
			byte[] expected = new byte[message];
			for (int i = 0; i < message; i++) {
				expected[i] = pair.content.at(i);
			}
			assertThat(this.transferred).as("the first message").containsExactly(expected);
		});
	}

	@Test
	void whatIsHeldWithoutAnAnswerIsKnown() throws Exception {
		reading(8, (fixture, transfers, pair, buffer) -> {
			begin(transfers, buffer, 1, 1 << 20, 1000);
			assertThat(transfers.stalledBytes(2000)).as("no Read is under way").isZero();
			transfers.post(pair);
			assertThat(transfers.stalledBytes(1000)).isZero();
			assertThat(transfers.stalledBytes(1001)).isEqualTo(InboundTransfers.FIRST_BYTES);
			transfers.completed(true, 0, 1500);
			transfers.post(pair);
			assertThat(transfers.stalledBytes(1500)).isZero();
			assertThat(transfers.stalledBytes(1501)).isEqualTo(8 * InboundTransfers.FIRST_BYTES);
		});
	}

	@Test
	void arrayIsFilledWhileAMessageArrivesForWhichThereIsMemory() throws Exception {
		int chunk = 256 * 1024;
		int message = 4 * chunk;
		reading(8, (fixture, transfers, pair, buffer) -> {
			transfers.readDepth(4);
			earnTrust(transfers, pair, buffer, message);
			assertThat(this.begun).as("memory for a part of the message only, or all of it there").isEmpty();
			begin(transfers, buffer, 1, message, 0);
			transfers.post(pair);
			assertThat(this.begun).isEmpty();
			transfers.completed(true, chunk, 0);
			transfers.completed(true, chunk, 0);
			assertThat(this.begun).containsExactly(chunk);
			assertThat(this.heap.takenBytes()).isEqualTo(message);
			transfers.completed(true, chunk, 0);
			transfers.completed(true, chunk, 0);
			assertThat(this.transferred).hasSize(2);
			assertThat(this.heap.takenBytes()).as("nobody took it").isZero();
			begin(transfers, buffer, 2, message, 0);
			begin(transfers, buffer, 3, message, 0);
			transfers.post(pair);
			transfers.completed(true, chunk, 0);
			assertThat(this.heap.takenBytes()).isEqualTo(message);
			transfers.cancel(2);
			for (int i = 1; i < 4; i++) {
				transfers.completed(true, chunk, 0);
			}
			assertThat(this.heap.takenBytes()).as("given up").isZero();
			transfers.post(pair);
			transfers.completed(true, chunk, 0);
			assertThat(this.begun).hasSize(3);
			assertThat(this.heap.takenBytes()).isEqualTo(message);
		});
		assertThat(this.heap.takenBytes()).as("closed").isZero();
	}

	@Test
	void messageGivenUpWhileItIsReadTakesNoPlaceOfTheNext() throws Exception {
		reading(1, (fixture, transfers, pair, buffer) -> {
			begin(transfers, buffer, 1, 1000);
			transfers.post(pair);
			transfers.cancel(1);
			begin(transfers, buffer, 2, 1000);
			assertThat(transfers.count()).as("a Read is under way").isEqualTo(2);
			transfers.completed(true, MESSAGE, 1000);
			assertThat(transfers.count()).isEqualTo(1);
		});
	}

	/**
	 * Runs the body of a test as driver of a loop.
	 * @param mostMessages how many the peer may have read at a time
	 */
	private void reading(int mostMessages, Body body) throws Exception {
		reading(mostMessages, ChannelOptions.DEFAULTS, body);
	}

	/** The same with little memory for what is being read. */
	private void readingInto(long maxBytes, Body body) throws Exception {
		reading(8, ChannelOptions.DEFAULTS.withUnfinished(maxBytes), body);
	}

	private void reading(int mostMessages, ChannelOptions options, Body body) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				this.memory = fixture.memory;
				InboundTransfers transfers = new InboundTransfers(this.receiver, fixture.loop.resources(),
						fixture.loop.metrics(), options, mostMessages);
				RegisteredBuffer buffer = fixture.memory.tryAllocate(MESSAGE);
				body.run(fixture, transfers, new FakeQueuePair(null, fixture.completions), buffer);
				transfers.close();
				transfers.dropPosted();
				buffer.release();
			});
		}
	}

	/** Has a message delivered, after which longer ones are read at once. */
	private void earnTrust(InboundTransfers transfers, FakeQueuePair pair, RegisteredBuffer buffer, int bytes) {
		begin(transfers, buffer, 100, bytes, 0);
		while (transfers.count() > 0) {
			transfers.post(pair);
			while (pair.reads > 0) {
				pair.reads--;
				transfers.completed(true, 0, 0);
			}
		}
		pair.readBytes.clear();
		this.ended.clear();
	}

	private static void complete(InboundTransfers transfers, FakeQueuePair pair) {
		if (pair.reads > 0) {
			pair.reads--;
			transfers.completed(true, pair.readBytes.remove(), 0);
		}
	}

	/** Lets Reads complete, and returns which messages have ended in which order. */
	private List<Integer> completeAll(InboundTransfers transfers, FakeQueuePair pair, int mostReads) {
		for (int i = 0; i < mostReads && transfers.count() > 0; i++) {
			complete(transfers, pair);
			transfers.post(pair);
		}
		assertThat(transfers.count()).as("messages that are left").isZero();
		return this.ended;
	}

	private static byte[] contentOf(IncomingMessage message) {
		byte[] content = new byte[message.messageBytes()];
		message.message().get(content);
		return content;
	}

	private static void begin(InboundTransfers transfers, RegisteredBuffer buffer, int requestId, long nowNanos) {
		begin(transfers, buffer, requestId, MESSAGE, nowNanos);
	}

	private static void begin(InboundTransfers transfers, RegisteredBuffer buffer, int requestId, int bytes,
			long nowNanos) {
		begin(transfers, buffer, requestId, bytes, RequestTemplate.NORMAL_PRIORITY, nowNanos);
	}

	private static void begin(InboundTransfers transfers, RegisteredBuffer buffer, int requestId, int bytes,
			int priority, long nowNanos) {
		assertThat(transfers.begin(message(buffer, requestId, bytes, priority), frame(requestId, bytes, priority), true,
				nowNanos))
			.isTrue();
	}

	private static void beginDue(InboundTransfers transfers, RegisteredBuffer buffer, int requestId, int bytes,
			long due) {
		IncomingMessage message = message(buffer, requestId, bytes, LOW);
		message.due(due);
		assertThat(transfers.begin(message, frame(requestId, bytes, LOW), true, 0)).isTrue();
	}

	private static IncomingMessage message(RegisteredBuffer buffer, int requestId, int bytes, int priority) {
		IncomingMessage message = new IncomingMessage();
		message.wrap(buffer, frame(requestId, bytes, priority));
		return message;
	}

	private static ByteBuffer frame(int requestId, int bytes, int priority) {
		ByteBuffer windows = ByteBuffer.allocate(WindowListFlyweight.length(1)).order(ByteOrder.LITTLE_ENDIAN);
		WindowListFlyweight.putCount(windows, 0, 1);
		WindowListFlyweight.putWindow(windows, 0, 0, FakeQueuePair.WINDOW, 7, bytes);
		ByteBuffer frame = ByteBuffer.wrap(Frames.request(0, requestId, 5, 1, bytes, windows.array()))
			.order(ByteOrder.LITTLE_ENDIAN);
		return frame.put(FrameFlyweight.PRIORITY_OFFSET, (byte) priority);
	}

	/** Of a test. */
	private interface Body {

		void run(LoopFixture fixture, InboundTransfers transfers, FakeQueuePair pair, RegisteredBuffer buffer)
				throws Throwable;

	}

}
