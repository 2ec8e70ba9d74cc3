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

import java.util.concurrent.TimeUnit;

import io.grpc.BindableService;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ClientCalls;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/** What the guide shows. */
class GettingStartedTests {

	private static byte[] call(ManagedChannel channel) {
		return ClientCalls.blockingUnaryCall(channel, Bytes.UNARY, CallOptions.DEFAULT, new byte[3]);
	}

	private static void end(ManagedChannel channel, Server server) throws InterruptedException {
		channel.shutdown();
		Assertions.assertThat(channel.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
		server.shutdown();
		Assertions.assertThat(server.awaitTermination(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void aTargetFindsTheTransport() throws Exception {
		int port = 0;
		// @formatter:off
		Server server = RdmaServerBuilder.forPort(port).addService(new Greeter()).build().start();
		ManagedChannel channel = Grpc
				.newChannelBuilder("rdma:///localhost:" + server.getPort(), InsecureChannelCredentials.create())
				.build();
		// @formatter:on
		Assertions.assertThat(call(channel)).hasSize(3);
		end(channel, server);
	}

	@Test
	void aTransportIsGiven() throws Exception {
		try (RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory)) {
			Server server = RdmaServerBuilder.forPort(0).transport(transport).addService(new Greeter()).build().start();
			// @formatter:off
			ManagedChannel channel = RdmaChannelBuilder.forAddress("localhost", server.getPort())
					.transport(transport)
					.loops(2)
					.build();
			// @formatter:on
			Assertions.assertThat(call(channel)).hasSize(3);
			end(channel, server);
		}
	}

	private static final class Greeter implements BindableService {

		@Override
		public ServerServiceDefinition bindService() {
			return Bytes.unary((request, observer) -> {
				observer.onNext(request);
				observer.onCompleted();
			});
		}

	}

}
