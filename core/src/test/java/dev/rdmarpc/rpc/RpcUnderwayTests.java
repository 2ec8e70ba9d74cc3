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

package dev.rdmarpc.rpc;

import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.transport.Frames;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.Underway;

import static org.assertj.core.api.Assertions.assertThat;

/** What a server knows of requests of which only a part has arrived. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcUnderwayTests {

	private static final int CANCEL = 6;

	private static Set<Integer> requests(RpcServer server) {
		RpcChannel channel = server.channels().get(0);
		CompletableFuture<Set<Integer>> ids = new CompletableFuture<>();
		channel.loop().execute(() -> ids.complete(new Underway(channel).requests()));
		return ids.join();
	}

	@Test
	void requestsAreUnderwayFromTheirFirstFrameToTheirLast() throws Exception {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, fixture.service);
				RawPeer peer = RawPeer.open(server.port(), 64)) {
			assertThat(requests(server)).isEmpty();
			peer.sendFairly(Frames.request(0, 3, 5, 1, 1500, new byte[1000]));
			peer.sendFairly(Frames.request(0, 4, 5, 1, 1500, new byte[1000]));
			peer.pollUntil(() -> requests(server).equals(Set.of(3, 4)));
			peer.sendFairly(Frames.continuation(0, 3, 1500, 1000, new byte[500]));
			peer.sendFairly(Frames.control(CANCEL, 0, 4));
			peer.pollUntil(() -> requests(server).isEmpty());
			// its Reads stay unanswered while nothing is polled
			peer.sendUnheeding(Frames.describedRequest(5, 5, 1 << 20));
			RpcFixture.awaitTrue(() -> requests(server).equals(Set.of(5)));
		}
	}

}
