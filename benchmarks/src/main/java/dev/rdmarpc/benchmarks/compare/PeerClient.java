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

/**
 * The connected client half of a {@link Peer}: a closed loop over one workload.
 *
 * <p>
 * Used by one thread at a time.
 */
public interface PeerClient extends Closeable {

	/**
	 * Makes calls for the given time, keeping as many outstanding as the workload says,
	 * and returns when the last one is answered. A reply of the wrong size is an error.
	 * @param durationNanos how long to start new calls
	 * @param latencies receives the time of each call
	 * @return the number of calls that were answered
	 * @throws Exception if a call fails
	 */
	long run(long durationNanos, LatencyRecorder latencies) throws Exception;

	/**
	 * Bytes of messages that the framework has copied from memory to memory so far in
	 * this process, {@link ProcessUsage#UNKNOWN} unless it counts them.
	 */
	default long copiedBytes() {
		return ProcessUsage.UNKNOWN;
	}

}
