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

package dev.rdmarpc.benchmarks.compare.aeron;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.Peer;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.benchmarks.compare.Workload;

/** Aeron IPC, busy-polled. */
public final class AeronPeer implements Peer {

	/** Its name. */
	public static final String NAME = "aeron-ipc";

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public boolean supports(Mode mode) {
		return mode != Mode.THREADS && mode != Mode.WAITING && !mode.isStreaming();
	}

	/** Agrona works with memory by the JDK's internal class. */
	@Override
	public List<String> virtualMachineArguments() {
		return List.of("--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED");
	}

	@Override
	public PeerServer startServer() throws IOException {
		return AeronServer.start();
	}

	@Override
	public PeerClient connect(InetSocketAddress server, Workload workload) {
		return AeronClient.connect(AeronMessage.directory(server.getPort()), workload);
	}

}
