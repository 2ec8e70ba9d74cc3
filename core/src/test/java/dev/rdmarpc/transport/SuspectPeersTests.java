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
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SuspectPeersTests {

	private final SuspectPeers suspects = new SuspectPeers();

	@Test
	void tellsHowOftenAndWhyLastTheWorstFirst() throws Exception {
		this.suspects.rejected(peer(1, 7000), "too many");
		this.suspects.givenUp(peer(2, 7001), "silent");
		this.suspects.rejected(peer(2, 7002), "too often");
		this.suspects.givenUp(null, "nobody knows who");
		assertThat(this.suspects.givenUp()).isEqualTo(2);
		List<SuspectPeer> all = this.suspects.all();
		assertThat(all).hasSize(2);
		assertThat(all.get(0).address()).isEqualTo(peer(2, 0).getAddress());
		assertThat(all.get(0).rejected()).isOne();
		assertThat(all.get(0).givenUp()).isOne();
		assertThat(all.get(0).lastReason()).isEqualTo("too often");
		assertThat(all.get(1).total()).isOne();
		assertThat(all.get(0).lastTime()).isAfterOrEqualTo(all.get(1).lastTime());
	}

	@Test
	void thoseSeenLastAreRemembered() throws Exception {
		for (int i = 0; i < SuspectPeers.MAX_PEERS; i++) {
			this.suspects.rejected(peer(i, 1), "too many");
		}
		this.suspects.rejected(peer(0, 1), "too many");
		this.suspects.rejected(peer(SuspectPeers.MAX_PEERS, 1), "too many");
		List<SuspectPeer> all = this.suspects.all();
		assertThat(all).hasSize(SuspectPeers.MAX_PEERS);
		assertThat(all.get(0).address()).as("seen twice").isEqualTo(peer(0, 1).getAddress());
		assertThat(all).extracting(SuspectPeer::address).doesNotContain(peer(1, 1).getAddress());
	}

	@Test
	void aNetworkOfIpv6IsOneOfThem() throws Exception {
		this.suspects.rejected(peer(1, 1), "too many");
		for (int i = 0; i <= SuspectPeers.MAX_PEERS; i++) {
			this.suspects.rejected(new InetSocketAddress("2001:db8::" + Integer.toHexString(i), 1), "too often");
		}
		List<SuspectPeer> all = this.suspects.all();
		assertThat(all).extracting(SuspectPeer::address)
			.containsExactly(InetAddress.getByName("2001:db8::"), peer(1, 1).getAddress());
		assertThat(all.get(0).rejected()).isEqualTo(SuspectPeers.MAX_PEERS + 1);
	}

	private static InetSocketAddress peer(int number, int port) throws UnknownHostException {
		return new InetSocketAddress(
				InetAddress.getByAddress(new byte[] { 10, 0, (byte) (number >> 8), (byte) number }), port);
	}

}
