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

import java.util.List;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/** What becomes of a large message whose Read fails, or cannot be ended. */
class FailedReadTests {

	/** The device reports what it flushes before it says that the connection is over. */
	@Test
	void nothingMoreIsReadOfAMessageWhoseReadHasFailed() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RecordingHandler handler = new RecordingHandler();
				RpcChannel channel = fixture.server(ChannelOptions.DEFAULTS, handler, 64);
				fixture.deliver(channel, Frames.describedRequest(1, 5, 1 << 20));
				FakeQueuePair pair = LoopFixture.pair(channel);
				assertThat(pair.reads).isOne();
				pair.completeRead(WorkStatus.FLUSHED);
				fixture.turn();
				assertThat(pair.reads).isZero();
				assertThat(channel.state()).isEqualTo(ChannelState.OPEN);
				channel.shut("disconnected by the peer");
				fixture.turn();
			});
		}
	}

	@Test
	void messageIsNotDeliveredOnAChannelThatClosesBecauseItsReadCannotBeEnded() throws Exception {
		try (LoopFixture fixture = new LoopFixture(4096, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RecordingHandler handler = new RecordingHandler();
				RpcChannel channel = fixture.server(ChannelOptions.DEFAULTS, handler, 64);
				fixture.deliver(channel, Frames.describedRequest(1, 5, 4096));
				FakeQueuePair pair = LoopFixture.pair(channel);
				assertThat(pair.reads).isOne();
				List<RegisteredBuffer> kept = fixture.takeAllMemory();
				while (channel.sender().sendControl(FrameType.PONG, 0)) {
					assertThat(channel.isOpen()).isTrue();
				}
				pair.completeRead(WorkStatus.SUCCESS);
				fixture.turn();
				assertThat(handler.events).containsExactly("open", "closed: no registered memory to end a read");
				kept.forEach(RegisteredBuffer::release);
			});
		}
	}

}
