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

/** Raw non-blocking TCP, busy-polled. */
public final class FloorPeer implements Peer {

	private final boolean placing;

	/**
	 * Creates the peer.
	 * @param placing whether the server reads each upload into memory of its size instead
	 * of dropping it piece by piece
	 */
	public FloorPeer(boolean placing) {
		this.placing = placing;
	}

	@Override
	public String name() {
		return this.placing ? "floor-placing" : "floor";
	}

	@Override
	public boolean supports(Mode mode) {
		return mode != Mode.THREADS && mode != Mode.WAITING && !mode.isStreaming();
	}

	@Override
	public PeerServer startServer() throws IOException {
		return FloorServer.start(this.placing);
	}

	@Override
	public PeerClient connect(InetSocketAddress server, Workload workload) throws IOException {
		return FloorClient.connect(server, workload);
	}

}
