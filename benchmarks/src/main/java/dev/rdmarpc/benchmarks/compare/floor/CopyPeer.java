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
import java.nio.ByteBuffer;

import dev.rdmarpc.benchmarks.compare.LatencyRecorder;
import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.Peer;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.benchmarks.compare.UnusedServer;
import dev.rdmarpc.benchmarks.compare.Workload;

/**
 * Copies the payload from one buffer to another in the client's process and calls nobody:
 * the floor of large messages through memory.
 */
public final class CopyPeer implements Peer {

	/** The name of the peer. */
	public static final String NAME = "memcpy";

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public boolean supports(Mode mode) {
		return mode == Mode.SYNC;
	}

	@Override
	public PeerServer startServer() throws IOException {
		return UnusedServer.start();
	}

	@Override
	public PeerClient connect(InetSocketAddress server, Workload workload) {
		return new CopyClient(workload.payloadBytes());
	}

	/** Copies. */
	private static final class CopyClient implements PeerClient {

		private final ByteBuffer from;

		private final ByteBuffer to;

		CopyClient(int bytes) {
			this.from = ByteBuffer.allocateDirect(bytes);
			this.to = ByteBuffer.allocateDirect(bytes);
			for (int i = 0; i < bytes; i++) {
				this.from.put(i, (byte) i);
			}
		}

		@Override
		public long run(long durationNanos, LatencyRecorder latencies) {
			long begin = System.nanoTime();
			long before = begin;
			long calls = 0;
			while (before - begin < durationNanos) {
				this.to.put(0, this.from, 0, this.from.capacity());
				long now = System.nanoTime();
				latencies.record(now - before);
				before = now;
				calls++;
			}
			int last = this.from.capacity() - 1;
			if (this.to.get(last) != (byte) last) {
				throw new IllegalStateException("not copied");
			}
			return calls;
		}

		@Override
		public void close() {
			// buffers are the collector's
		}

	}

}
