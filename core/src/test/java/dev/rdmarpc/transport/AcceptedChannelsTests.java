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

import java.net.InetAddress;
import java.net.UnknownHostException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/** Channels that cannot be counted to the end: they count for nobody. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AcceptedChannelsTests {

	/** Counting it fails once the share of its peer has it. */
	private static final RpcChannel UNCOUNTABLE = null;

	@Test
	void channelThatCannotEnterTakesNoPlaceOfItsAddress() throws Exception {
		AcceptedChannels accepted = new AcceptedChannels(8, new PeerLimits(1, 1000));
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				assertThatNullPointerException().isThrownBy(() -> accepted.tryEnter(UNCOUNTABLE, address(1)));
				RpcChannel channel = accepted(fixture);
				assertThat(accepted.tryEnter(channel, address(1))).isNull();
				assertThat(accepted.tryEnter(accepted(fixture), address(1)))
					.isEqualTo(ChannelListener.Limit.CONNECTIONS_OF_ADDRESS);
				accepted.leave(channel);
				assertThat(accepted.tryEnter(accepted(fixture), address(1))).isNull();
			});
		}
	}

	@Test
	void channelThatMadeRoomIsClosedAlsoIfTheNextOneCannotEnter() throws Exception {
		AcceptedChannels accepted = new AcceptedChannels(1, PeerLimits.NONE);
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel newcomer = accepted(fixture);
				assertThat(accepted.tryEnter(newcomer, address(1))).isNull();
				assertThatNullPointerException().isThrownBy(() -> accepted.tryEnter(UNCOUNTABLE, address(2)));
				fixture.turn();
				assertThat(newcomer.state()).isEqualTo(ChannelState.CLOSED);
				RpcChannel next = accepted(fixture);
				assertThat(accepted.tryEnter(next, address(2))).isNull();
				assertThat(next.isNewcomer()).isTrue();
			});
		}
	}

	@Test
	void channelThatCannotBeIdentifiedTakesNoPlaceOfItsPrincipal() throws Exception {
		AcceptedChannels accepted = new AcceptedChannels(8,
				PeerLimits.NONE.withPrincipal(new PrincipalLimits(1, 1, 1)));
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				assertThatNullPointerException().isThrownBy(() -> accepted.tryIdentify(UNCOUNTABLE, "somebody"));
				assertThat(accepted.principals().size()).isZero();
				RpcChannel channel = accepted(fixture);
				assertThat(accepted.tryIdentify(channel, "somebody")).isNotNull();
				assertThat(accepted.tryIdentify(accepted(fixture), "somebody")).isNull();
				accepted.leave(channel);
				assertThat(accepted.principals().size()).isZero();
			});
		}
	}

	private static RpcChannel accepted(LoopFixture fixture) {
		return fixture.accepted(ChannelOptions.DEFAULTS, new RecordingHandler());
	}

	private static InetAddress address(int last) throws UnknownHostException {
		return InetAddress.getByAddress(new byte[] { 10, 0, 0, (byte) last });
	}

}
