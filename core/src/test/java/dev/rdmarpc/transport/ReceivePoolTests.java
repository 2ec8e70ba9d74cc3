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

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReceivePoolTests {

	private static final int FRAME = 4096;

	private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS.withFrames(FRAME, 16);

	@Test
	void promisesUpToItsCapacity() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 10, 1 << 20)) {
			fixture.drive(() -> {
				assertThat(fixture.receives.promise(6)).isTrue();
				assertThat(fixture.receives.promise(5)).isFalse();
				assertThat(fixture.receives.promise(4)).isTrue();
				assertThat(fixture.receives.promised()).isEqualTo(10);
				assertThat(fixture.receives.posted()).isEqualTo(10);
				assertThat(fixture.receiveQueue.posted()).isEqualTo(10);
			});
		}
	}

	@Test
	void promiseThatMemoryDoesNotAllowChangesNothing() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				assertThat(fixture.receives.promise(100)).isTrue();
				long before = fixture.memory.metrics().allocatedBytes();
				assertThat(fixture.receives.promise(200)).isFalse();
				assertThat(fixture.memory.metrics().allocatedBytes()).isEqualTo(before);
				assertThat(fixture.receives.promised()).isEqualTo(100);
				assertThat(fixture.receives.promise(100)).isTrue();
			});
		}
	}

	@Test
	void receiveOfADepartedPeerServesTheNext() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RpcChannel gone = fixture.accepted(OPTIONS, new RecordingHandler());
				int posted = fixture.receives.posted();
				assertThat(posted).isGreaterThan(fixture.receives.promised());
				gone.shut("test");
				assertThat(fixture.receives.promised()).isZero();
				assertThat(fixture.receives.posted()).isEqualTo(posted);
				fixture.accepted(OPTIONS, new RecordingHandler());
				assertThat(fixture.receives.posted()).as("no more were posted").isEqualTo(posted);
			});
		}
	}

	@Test
	void surplusIsGivenBackAsItTurnsUp() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RpcChannel stays = fixture.accepted(OPTIONS, new RecordingHandler());
				RpcChannel gone = fixture.accepted(OPTIONS, new RecordingHandler());
				int each = fixture.receives.promised() / 2;
				gone.shut("test");
				for (int i = 0; i < 2 * each; i++) {
					RegisteredBuffer buffer = fixture.receives.take(fixture.receiveQueue.take(new byte[1]).id());
					fixture.receives.giveBack(buffer, stays.credits());
				}
				assertThat(fixture.receives.promised()).isEqualTo(each);
				assertThat(fixture.receives.posted()).isBetween(each, each + 4);
				assertThat(fixture.receives.memoryBytes()).isEqualTo((each + 4L) * FRAME)
					.isEqualTo(fixture.memory.metrics().allocatedBytes()
							- MemoryReserve.PIECES * MemoryReserve.PIECE_BYTES);
			});
		}
	}

	@Test
	void receivesOfDepartedPeersAreTakenBackAtTheNextTick() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 4 << 20)) {
			fixture.receiveQueue.withdrawing = true;
			fixture.drive(() -> {
				RpcChannel stays = fixture.server(OPTIONS, new RecordingHandler(), 16);
				int promised = fixture.receives.promised();
				long before = fixture.receives.memoryBytes();
				assertThat(fixture.receives.promise(300)).isTrue();
				fixture.receives.unpromise(300);
				assertThat(fixture.receives.posted()).isGreaterThanOrEqualTo(promised + 300);
				fixture.receives.replenish();
				assertThat(fixture.receives.posted()).isBetween(promised, promised + 4)
					.isEqualTo(fixture.receiveQueue.posted());
				assertThat(fixture.receives.memoryBytes()).isLessThanOrEqualTo(before);
				fixture.deliver(stays, Frames.control(FrameType.PING, 0, 0));
				assertThat(stays.isOpen()).isTrue();
				stays.shut("test");
				fixture.receives.replenish();
				assertThat(fixture.receives.memoryBytes()).isZero();
				assertThat(fixture.receiveQueue.posted()).isZero();
			});
		}
	}

	@Test
	void receivesArePostedABatchAtATime() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 4 << 20)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS.withCredits(128, 128), new RecordingHandler(), 16);
				long before = fixture.receives.posts();
				for (int i = 0; i < 1000; i++) {
					RegisteredBuffer buffer = fixture.receives.take(fixture.receiveQueue.take(new byte[1]).id());
					fixture.receives.giveBack(buffer, channel.credits());
					assertThat(fixture.receives.posted()).isBetween(fixture.receives.promised(),
							fixture.receives.promised() + 16);
				}
				assertThat(fixture.receives.posts() - before).isLessThanOrEqualTo(1000 / 16);
				assertThat(fixture.receives.posts()).isEqualTo(fixture.receiveQueue.calls);
			});
		}
	}

	@Test
	void lessPromisedIsLessMemoryAsReceivesComplete() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 4 << 20)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.accepted(OPTIONS, new RecordingHandler());
				int promised = fixture.receives.promised();
				assertThat(fixture.receives.promise(100)).isTrue();
				fixture.receives.unpromise(100);
				assertThat(fixture.receives.posted()).isGreaterThanOrEqualTo(promised + 100);
				for (int i = 0; i < 130; i++) {
					RegisteredBuffer buffer = fixture.receives.take(fixture.receiveQueue.take(new byte[1]).id());
					fixture.receives.giveBack(buffer, channel.credits());
				}
				assertThat(fixture.receives.promised()).isEqualTo(promised);
				assertThat(fixture.receives.memoryBytes()).isEqualTo((promised + 4L) * FRAME);
			});
		}
	}

	@Test
	void growthLeavesAQuarterOfTheMemoryToMessages() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				assertThat(fixture.receives.promise(100)).isTrue();
				assertThat(fixture.receives.tryGrow(40)).isTrue();
				assertThat(fixture.receives.tryGrow(40)).isFalse();
				assertThat(fixture.receives.promised()).isEqualTo(140);
				assertThat(fixture.receives.promise(40)).as("a new peer").isTrue();
			});
		}
	}

	@Test
	void takenBufferIsReplacedWhenThereIsMemoryAgain() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.accepted(OPTIONS, new RecordingHandler());
				int promised = fixture.receives.promised();
				List<RegisteredBuffer> hog = new ArrayList<>();
				for (RegisteredBuffer next = claim(fixture); next != null; next = claim(fixture)) {
					hog.add(next);
				}
				int stock = fixture.receives.posted() - promised;
				RegisteredBuffer[] taken = new RegisteredBuffer[stock + 1];
				for (int i = 0; i <= stock; i++) {
					taken[i] = fixture.receives.take(fixture.receiveQueue.take(new byte[1]).id());
					fixture.receives.replace(channel.credits());
				}
				assertThat(fixture.receives.replaced()).isEqualTo(stock + 1);
				fixture.receives.replenish();
				assertThat(fixture.receives.posted()).as("there is no memory").isEqualTo(promised - 1);
				taken[0].release();
				fixture.receives.replenish();
				assertThat(fixture.receives.posted()).isEqualTo(promised);
				for (int i = 1; i <= stock; i++) {
					taken[i].release();
				}
				hog.forEach(RegisteredBuffer::release);
			});
		}
	}

	@Test
	void queueWithoutMemoryForMorePromisesNoMore() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.accepted(OPTIONS, new RecordingHandler());
				int promised = fixture.receives.promised();
				fixture.receiveQueue.depth = fixture.receives.posted() + 10;
				assertThat(fixture.receives.promise(100)).isFalse();
				assertThat(fixture.receives.promised()).isEqualTo(promised);
				assertThat(fixture.receives.posted()).isEqualTo(fixture.receiveQueue.posted());
				for (int i = 0; i < 1000; i++) {
					RegisteredBuffer buffer = fixture.receives.take(fixture.receiveQueue.take(new byte[1]).id());
					fixture.receives.giveBack(buffer, channel.credits());
					assertThat(fixture.receives.posted()).isGreaterThanOrEqualTo(promised);
				}
				fixture.receiveQueue.depth = 1024;
				fixture.receives.replenish();
				assertThat(fixture.receives.promise(100)).isTrue();
				assertThat(fixture.receives.posted()).isGreaterThanOrEqualTo(promised + 100);
			});
		}
	}

	private static @Nullable RegisteredBuffer claim(LoopFixture fixture) {
		return fixture.memory.tryAllocate(FRAME);
	}

	@Test
	void peerThatLeavesWithABufferOwedIsForgotten() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.accepted(OPTIONS, new RecordingHandler());
				RegisteredBuffer taken = fixture.receives.take(fixture.receiveQueue.take(new byte[1]).id());
				RegisteredBuffer hog = fixture.memory.tryAllocate(512 << 10);
				while (fixture.receives.promise(1)) {
					assertThat(fixture.receives.promised()).isLessThan(1024);
				}
				fixture.receives.replace(channel.credits());
				channel.shut("test");
				taken.release();
				hog.release();
				int posted = fixture.receives.posted();
				fixture.receives.replenish();
				assertThat(fixture.receives.posted()).isEqualTo(posted);
			});
		}
	}

	@Test
	void receiveThatCompletesTwiceIsNoticed() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				assertThat(fixture.receives.promise(2)).isTrue();
				long slot = fixture.receiveQueue.take(new byte[1]).id();
				fixture.receives.take(slot).release();
				assertThatIllegalStateException().isThrownBy(() -> fixture.receives.take(slot))
					.withMessageContaining("twice");
			});
		}
	}

}
