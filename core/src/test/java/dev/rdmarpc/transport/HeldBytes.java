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

import static org.assertj.core.api.Assertions.assertThat;

/** What is counted of the requests, and of the messages of streams, of a peer. */
public final class HeldBytes {

	private HeldBytes() {
	}

	/** The bytes of whoever has connected to a server, over all its connections. */
	public static long of(RpcChannel channel) {
		PeerShare peer = channel.sender().peer();
		assertThat(peer).isNotNull();
		return peer.requestBytes();
	}

}
