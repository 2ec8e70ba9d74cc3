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

package dev.rdmarpc.benchmarks.compare;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/**
 * The server of a peer whose client's process does all: there has to be a port.
 *
 * @param socket that nobody connects to
 */
public record UnusedServer(ServerSocket socket) implements PeerServer {

	/** Takes a port. */
	public static UnusedServer start() throws IOException {
		return new UnusedServer(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
	}

	@Override
	public int port() {
		return this.socket.getLocalPort();
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
