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

package dev.rdmarpc.benchmarks.compare.floor;

import java.io.IOException;
import java.net.InetSocketAddress;

import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.Peer;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.benchmarks.compare.Workload;

/** Raw non-blocking sockets, busy-polled. */
public final class FloorPeer implements Peer {

	private final Variant variant;

	/** Creates the peer. */
	public FloorPeer(Variant variant) {
		this.variant = variant;
	}

	@Override
	public String name() {
		return this.variant.peer;
	}

	@Override
	public boolean supports(Mode mode) {
		return mode != Mode.THREADS && mode != Mode.WAITING && !mode.isStreaming();
	}

	@Override
	public PeerServer startServer() throws IOException {
		return FloorServer.start((this.variant == Variant.UNIX) ? Endpoint.UNIX : Endpoint.TCP,
				this.variant == Variant.TCP_PLACING);
	}

	@Override
	public PeerClient connect(InetSocketAddress server, Workload workload) throws IOException {
		return FloorClient.connect((this.variant == Variant.UNIX) ? Endpoint.UNIX : Endpoint.TCP, server.getPort(),
				workload);
	}

	/** What the bytes travel through. */
	public enum Variant {

		/** TCP; the server drops uploads piece by piece. */
		TCP("floor"),

		/** TCP; the server reads each upload into memory of its size. */
		TCP_PLACING("floor-placing"),

		/** Unix domain sockets: the least that the kernel needs on one host. */
		UNIX("uds");

		private final String peer;

		Variant(String peer) {
			this.peer = peer;
		}

	}

}
