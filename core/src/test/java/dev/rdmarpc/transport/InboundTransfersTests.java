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

import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages to be Read that wait for memory, and what their peers are told. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InboundTransfersTests extends InboundTransferFixture {

	@Test
	void eachWaitsForMemoryAsLongAsAnAllocationMay() throws Exception {
		// more than what an allocation waits anyway while others have moved of late
		long patience = Duration.ofSeconds(3).toNanos();
		try (LoopFixture fixture = new LoopFixture(MESSAGE, 1024, 1 << 20, Duration.ofNanos(patience))) {
			fixture.drive(() -> {
				this.memory = fixture.memory;
				InboundTransfers transfers = new InboundTransfers(this.receiver, fixture.loop.resources(),
						fixture.loop.metrics(), ChannelOptions.DEFAULTS, 8);
				List<RegisteredBuffer> all = takeAll();
				begin(transfers, all.get(0), 1, 1000);
				begin(transfers, all.get(0), 2, 1060);
				transfers.retry(patience + 999);
				assertThat(this.refused).isEmpty();
				transfers.retry(patience + 1000);
				assertThat(this.refused).containsExactly(1);
				transfers.retry(patience + 1059);
				assertThat(this.refused).containsExactly(1);
				begin(transfers, all.get(0), 3, patience + 1059);
				transfers.retry(patience + 1060);
				assertThat(this.refused).containsExactly(1, 2);
				all.remove(1).release();
				transfers.retry(patience + 1061);
				assertThat(this.refused).containsExactly(1, 2);
				assertThat(transfers.canPost()).as("the third has memory").isTrue();
				transfers.close(Integer.MAX_VALUE);
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
	void closingGivesMemoryBackSomeAtATimeAndThenForgetsTheRestAtOnce() throws Exception {
		reading(100, (fixture, transfers, pair, buffer) -> {
			long before = fixture.memory.metrics().allocatedBytes();
			begin(transfers, buffer, 1, 1 << 20, 0);
			transfers.post(pair);
			for (int i = 2; i < 5; i++) {
				begin(transfers, buffer, i, 4096 >> (2 * i), 0);
			}
			for (int i = 5; i < 100; i++) {
				begin(transfers, buffer, i, 1 << 20, 0);
			}
			assertThat(transfers.close(0)).isZero();
			assertThat(transfers.all().size()).as("they count until none holds memory").isEqualTo(99);
			assertThat(transfers.close(2)).as("of those that no Read is under way for").isEqualTo(2);
			assertThat(transfers.close(2)).isEqualTo(1);
			assertThat(transfers.close(2)).isZero();
			assertThat(transfers.heldBytes()).as("it is being read into").isEqualTo(InboundTransfers.FIRST_BYTES);
			transfers.completed(false, 0, 1);
			assertThat(transfers.heldBytes()).isZero();
			assertThat(transfers.close(2)).isZero();
			assertThat(transfers.all().size()).isZero();
			assertThat(fixture.memory.metrics().allocatedBytes()).isEqualTo(before);
		});
		assertThat(this.ended).isEmpty();
	}

	@Test
	void messageGivenUpWhileItIsReadTakesNoPlaceOfTheNext() throws Exception {
		reading(1, (fixture, transfers, pair, buffer) -> {
			begin(transfers, buffer, 1, 1000);
			transfers.post(pair);
			transfers.cancel(1);
			begin(transfers, buffer, 2, 1000);
			assertThat(transfers.all().size()).as("a Read is under way").isEqualTo(2);
			transfers.completed(true, MESSAGE, 1000);
			assertThat(transfers.all().size()).isEqualTo(1);
		});
	}

}
