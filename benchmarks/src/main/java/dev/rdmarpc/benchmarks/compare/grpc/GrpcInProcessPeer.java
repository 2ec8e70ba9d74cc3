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

package dev.rdmarpc.benchmarks.compare.grpc;

import java.io.IOException;
import java.net.InetSocketAddress;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;

import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.Peer;
import dev.rdmarpc.benchmarks.compare.PeerCalls;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.benchmarks.compare.UnusedServer;
import dev.rdmarpc.benchmarks.compare.Workload;

/**
 * The calls of {@link GrpcPeer} to a server in the client's process, which grpc-java
 * hands from one to the other on the caller's thread: what grpc-java takes with any
 * transport, for both sides together.
 */
public final class GrpcInProcessPeer implements Peer {

	private static final String NAME = "grpc-inprocess";

	@Override
	public String name() {
		return NAME;
	}

	/** A call ends within its start, so that any number outstanding are one. */
	@Override
	public boolean supports(Mode mode) {
		return mode == Mode.SYNC || mode == Mode.ASYNC;
	}

	@Override
	public PeerServer startServer() throws IOException {
		return UnusedServer.start();
	}

	@Override
	public PeerClient connect(InetSocketAddress server, Workload workload) throws Exception {
		byte[] payload = workload.payload();
		String name = InProcessServerBuilder.generateName();
		Server called = InProcessServerBuilder.forName(name)
			.directExecutor()
			.addService(new PayloadsGrpc.Service())
			.build()
			.start();
		return PeerCalls.client(workload, () -> {
			ManagedChannel channel = InProcessChannelBuilder.forName(name).directExecutor().build();
			return new StubCalls(workload, payload, PayloadsGrpc.newBlockingStub(channel),
					PayloadsGrpc.newStub(channel), () -> {
						channel.shutdownNow();
						called.shutdownNow();
					});
		});
	}

}
