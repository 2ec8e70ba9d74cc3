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

package dev.rdmarpc.grpc;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.grpc.Server;
import io.grpc.ServerInterceptors;
import io.grpc.testing.integration.AbstractInteropTest;
import io.grpc.testing.integration.TestServiceImpl;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/**
 * The server of gRPC's interoperability tests in a process of its own, on the provider
 * {@code rdma.test.provider}; {@link GrpcPeerTests} are its clients.
 */
public final class GrpcPeerServer {

	private static final long MEMORY_BYTES = 128L << 20;

	private GrpcPeerServer() {
	}

	static RegisteredMemory memory() {
		return RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(MEMORY_BYTES));
	}

	static RdmaTransport transport(RegisteredMemory memory) {
		return RdmaTransport.open(
				TransportOptions.DEFAULTS.withProvider(System.getProperty("rdma.test.provider", "iwarp"), ""), memory);
	}

	/**
	 * Serves on the address and port given until a line or the end of the standard input.
	 * Says when it is ready, and whether anything was outstanding in the end.
	 */
	public static void main(String[] arguments) throws Exception {
		InetSocketAddress address = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
		RegisteredMemory memory = memory();
		ScheduledExecutorService executor = Executors.newScheduledThreadPool(2);
		try (RdmaTransport transport = transport(memory)) {
			Server server = RdmaServerBuilder.forAddress(address)
				.transport(transport)
				.maxInboundMessageSize(AbstractInteropTest.MAX_MESSAGE_SIZE)
				.addService(ServerInterceptors.intercept(new TestServiceImpl(executor), TestServiceImpl.interceptors()))
				.build()
				.start();
			System.out.println("provider " + transport.selection().provider().name());
			System.out.println("ready on port " + server.getPort());
			new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
			if (!server.shutdown().awaitTermination(20, TimeUnit.SECONDS)) {
				server.shutdownNow();
				throw new IllegalStateException("calls do not end");
			}
			GrpcFixture.await(() -> transport.loops().stream().noneMatch((loop) -> loop.name().contains("server")),
					"the loops of the server end");
		}
		executor.shutdownNow();
		long outstanding = memory.metrics().outstanding();
		memory.close();
		if (outstanding != 0) {
			throw new IllegalStateException(outstanding + " buffers outstanding at the server");
		}
		System.out.println("ended, nothing outstanding");
		System.exit(0);
	}

}
