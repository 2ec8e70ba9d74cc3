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

import java.util.Map;

import dev.rdmarpc.transport.ChannelListener;
import dev.rdmarpc.transport.PeerShare;

/**
 * What a server does, at one moment. Counts begin when it starts.
 *
 * @param activeCalls calls being executed, those that wait for a thread included
 * @param waitingCalls calls that wait for a thread of the executor
 * @param threads threads of the server's own executor, idle ones included
 * @param busyThreads those of them that run a handler
 * @param maxThreads the most that it may have; 0 if the executor is the user's
 * @param callsOnLoop calls whose handler ran on the thread of a loop
 * @param callsOnExecutor calls whose handler ran on the executor
 * @param movesToLoop how often a method was quick enough to move to the loops
 * @param movesToExecutor how often a method was moved back
 * @param callsDenied calls refused because their callers are not allowed to make them
 * @param callsLimited calls refused because of each limit of their principal
 * @param connectionsRejected connections rejected because of each limit
 * @param connectionsGivenUp connections given up because of what their peers did, or did
 * not do in time
 */
public record RpcServerMetrics(int activeCalls, int waitingCalls, int threads, int busyThreads, int maxThreads,
		long callsOnLoop, long callsOnExecutor, long movesToLoop, long movesToExecutor, long callsDenied,
		Map<PeerShare.Limit, Long> callsLimited, Map<ChannelListener.Limit, Long> connectionsRejected,
		long connectionsGivenUp) {

	/** Of a server that has not been started. */
	static final RpcServerMetrics NONE = new RpcServerMetrics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Map.of(), Map.of(), 0);

}
