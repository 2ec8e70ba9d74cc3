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

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/** When a loop knows that bytes of a large message are on their way. */
class ExpectedBytesTests {

	@Test
	void bytesAreExpectedAsLongAsAReadIsUnderWay() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RecordingHandler handler = new RecordingHandler();
				RpcChannel idle = fixture.server(ChannelOptions.DEFAULTS, handler, 64);
				RpcChannel channel = fixture.server(ChannelOptions.DEFAULTS, handler, 64);
				assertThat(fixture.loop.expectsBytes()).isFalse();
				fixture.deliver(channel, Frames.describedRequest(1, 5, 1 << 20));
				assertThat(fixture.loop.expectsBytes()).isTrue();
				LoopFixture.pair(channel).completeRead(WorkStatus.FLUSHED);
				fixture.turn();
				assertThat(fixture.loop.expectsBytes()).isFalse();
				fixture.deliver(channel, Frames.describedRequest(2, 5, 1 << 20));
				assertThat(fixture.loop.expectsBytes()).isTrue();
				channel.shut("disconnected by the peer");
				fixture.turn();
				assertThat(fixture.loop.expectsBytes()).as("by a channel that has closed").isFalse();
				idle.shut("at the end of the test");
			});
		}
	}

}
