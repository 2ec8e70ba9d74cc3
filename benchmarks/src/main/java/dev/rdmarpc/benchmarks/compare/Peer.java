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

import java.net.InetSocketAddress;
import java.util.List;

/**
 * One way of calling another process. The server half and the client half are used in
 * different processes, both through their own instance.
 *
 * <p>
 * A peer that is not being measured must cost nothing: a server without connections does
 * not spin.
 */
public interface Peer {

	/** The name in tables, lower case with dashes. */
	String name();

	/** Whether it can make calls that way. */
	default boolean supports(Mode mode) {
		return !mode.isStreaming();
	}

	/** What its processes have to be started with, besides what all are. */
	default List<String> virtualMachineArguments() {
		return List.of();
	}

	/**
	 * Starts a server on a free port of the loopback interface; it answers every
	 * {@link Exchange}.
	 * @throws Exception if it cannot be started
	 */
	PeerServer startServer() throws Exception;

	/**
	 * Connects as many times as the workload asks for.
	 * @param server where the server listens
	 * @param workload what {@link PeerClient#run} shall do
	 * @throws Exception if no connection is made
	 */
	PeerClient connect(InetSocketAddress server, Workload workload) throws Exception;

}
