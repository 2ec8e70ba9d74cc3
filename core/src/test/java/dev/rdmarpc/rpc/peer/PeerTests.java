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

package dev.rdmarpc.rpc.peer;

import java.net.InetSocketAddress;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

import dev.rdmarpc.TestEnvironment;

/**
 * The contract with the server in this process or, if {@code rdma.test.peer} is
 * {@code HOST:PORT}, with the {@link PeerServer} that runs there.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PeerTests extends AbstractPeerTests {

	private @Nullable PeerServer server;

	private String host = TestEnvironment.host();

	private int port;

	@BeforeAll
	void find() {
		String peer = PeerSettings.peer();
		if (peer.isEmpty()) {
			this.server = new PeerServer(new InetSocketAddress(TestEnvironment.address(), 0));
			this.port = this.server.port();
		}
		else {
			int colon = peer.lastIndexOf(':');
			this.host = peer.substring(0, colon);
			this.port = Integer.parseInt(peer.substring(colon + 1));
		}
	}

	@AfterAll
	void nothingIsOutstandingAtTheServer() {
		if (this.server != null) {
			this.server.close();
		}
	}

	@Override
	String host() {
		return this.host;
	}

	@Override
	int port() {
		return this.port;
	}

}
