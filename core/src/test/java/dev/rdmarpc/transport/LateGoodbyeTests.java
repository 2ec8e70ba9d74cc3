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

/** A channel that is to end while there is no registered memory. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LateGoodbyeTests {

	@Test
	void goodbyeThatFoundNoMemoryIsSaidAtALaterTickAndOnce() throws Exception {
		try (LoopFixture fixture = new LoopFixture(4096, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(ChannelOptions.DEFAULTS, new RecordingHandler(), 64);
				FakeQueuePair pair = LoopFixture.pair(channel);
				List<RegisteredBuffer> kept = fixture.takeAllMemory();
				List<OutgoingMessage> reserve = takeReserve(fixture);
				channel.drain();
				fixture.turn();
				fixture.loop.tick(channel, true);
				fixture.turn();
				assertThat(channel.state()).isEqualTo(ChannelState.DRAINING);
				assertThat(pair.sentTypes()).containsExactly("HELLO_REPLY");
				kept.forEach(RegisteredBuffer::release);
				reserve.forEach(OutgoingMessage::abort);
				fixture.loop.tick(channel, true);
				fixture.turn();
				fixture.loop.tick(channel, true);
				channel.drain();
				fixture.turn();
				assertThat(pair.sentTypes()).containsExactly("HELLO_REPLY", "GOODBYE");
			});
		}
	}

	private static List<OutgoingMessage> takeReserve(LoopFixture fixture) {
		List<OutgoingMessage> reserve = new ArrayList<>();
		OutgoingMessage control = fixture.loop.outgoingMessages().control(FrameType.PONG, 0, 0);
		while (control != null) {
			reserve.add(control);
			control = fixture.loop.outgoingMessages().control(FrameType.PONG, 0, 0);
		}
		return reserve;
	}

}
