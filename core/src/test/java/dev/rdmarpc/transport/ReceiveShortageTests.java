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

import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/** Receives that cannot be replaced because somebody else has all memory. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReceiveShortageTests {

	private static final int FRAME = 4096;

	private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS.withFrames(FRAME, 16);

	private static List<RegisteredBuffer> allMemory(LoopFixture fixture) {
		List<RegisteredBuffer> all = new ArrayList<>();
		RegisteredBuffer next = fixture.memory.tryAllocate(FRAME);
		while (next != null) {
			all.add(next);
			next = fixture.memory.tryAllocate(FRAME);
		}
		return all;
	}

	@Test
	void memoryThatIsNotThereIsAskedForOncePerTick() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, new RecordingHandler(), 16);
				int promised = fixture.receives.promised();
				List<RegisteredBuffer> kept = allMemory(fixture);
				while (fixture.receives.posted() >= promised) {
					kept.add(fixture.receives.take(fixture.receiveQueue.take(new byte[1]).id()));
				}
				long before = fixture.memory.metrics().failures();
				for (int i = 0; i < 3; i++) {
					kept.add(fixture.receives.take(fixture.receiveQueue.take(new byte[1]).id()));
					fixture.receives.replace(channel.credits());
				}
				assertThat(fixture.memory.metrics().failures() - before).as("failures of three frames").isOne();
				fixture.receives.replenish();
				assertThat(fixture.memory.metrics().failures() - before).as("and of a tick").isEqualTo(2);
				int posted = fixture.receives.posted();
				fixture.receives.giveBack(kept.remove(0), channel.credits());
				assertThat(fixture.receives.posted()).as("a spare has turned up").isEqualTo(posted + 1);
				assertThat(fixture.memory.metrics().failures() - before).isEqualTo(2);
				kept.forEach(RegisteredBuffer::release);
				fixture.receives.replenish();
				assertThat(fixture.receives.posted()).isGreaterThanOrEqualTo(promised);
			});
		}
	}

	@Test
	void receivesOfADepartedPeerAreReplacedForThoseThatStay() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RpcChannel gone = fixture.accepted(OPTIONS, new RecordingHandler());
				gone.shut("test");
				assertThat(fixture.receives.promise(fixture.receives.posted())).isTrue();
				List<RegisteredBuffer> kept = allMemory(fixture);
				while (fixture.receives.posted() >= fixture.receives.promised()) {
					kept.add(fixture.receives.take(fixture.receiveQueue.take(new byte[1]).id()));
					fixture.receives.replace(gone.credits());
				}
				kept.forEach(RegisteredBuffer::release);
				fixture.receives.replenish();
				assertThat(fixture.receives.posted()).isGreaterThanOrEqualTo(fixture.receives.promised());
			});
		}
	}

}
