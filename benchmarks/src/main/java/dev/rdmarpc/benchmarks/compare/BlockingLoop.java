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

import java.io.Closeable;
import java.io.IOException;

/**
 * The closed loop of {@link Mode#SYNC}: the calling thread makes blocking calls.
 *
 * <p>
 * Safe for use by several threads if the call is.
 */
public final class BlockingLoop implements PeerClient {

	private final BlockingCall call;

	private final Closeable connection;

	/**
	 * Creates a loop.
	 * @param call makes one call and checks its reply
	 * @param connection closed with the loop
	 */
	public BlockingLoop(BlockingCall call, Closeable connection) {
		this.call = call;
		this.connection = connection;
	}

	@Override
	public long run(long durationNanos, LatencyRecorder latencies) throws Exception {
		long calls = 0;
		long started = System.nanoTime();
		long deadline = started + durationNanos;
		while (started - deadline < 0) {
			this.call.call();
			long answered = System.nanoTime();
			latencies.record(answered - started);
			started = answered;
			calls++;
		}
		return calls;
	}

	@Override
	public void close() throws IOException {
		this.connection.close();
	}

	/** One blocking call. */
	@FunctionalInterface
	public interface BlockingCall {

		/** Makes the call and returns when it is answered. */
		void call() throws Exception;

	}

}
