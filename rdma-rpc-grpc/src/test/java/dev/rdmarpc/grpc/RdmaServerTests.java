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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.internal.ServerListener;
import io.grpc.internal.ServerTransport;
import io.grpc.internal.ServerTransportListener;
import io.grpc.stub.ClientCalls;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.PeerLimits;

/** What becomes of connections that gRPC's server does not take. */
class RdmaServerTests {

	private static RdmaServer start(GrpcFixture fixture, ServerListener listener) throws Exception {
		RdmaServer server = new RdmaServer(SharedTransport.of(fixture.transport()),
				new ServerSettings(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
						GrpcProtocol.options(ChannelOptions.DEFAULTS, 0, 0, ServerSettings.NEVER, 0), 1, 16, 16,
						PeerLimits.DEFAULTS, 1 << 20, 8192, ServerSettings.NEVER, ServerSettings.NEVER,
						ServerSettings.NEVER, Farewell.PATIENCE_NANOS, List.of()));
		server.start(listener);
		return server;
	}

	@Test
	void aConnectionThatIsNotTakenIsClosedAndDoesNotCount() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Failing listener = new Failing();
			RdmaServer server = start(fixture, listener);
			int port = ((InetSocketAddress) server.getListenSocketAddress()).getPort();
			ManagedChannel channel = fixture.connect(port, (builder) -> {
			});
			Assertions.assertThatExceptionOfType(StatusRuntimeException.class)
				.isThrownBy(() -> ClientCalls.blockingUnaryCall(channel, Bytes.UNARY,
						CallOptions.DEFAULT.withDeadlineAfter(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS),
						new byte[1]))
				.satisfies((ex) -> Assertions.assertThat(ex.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE));
			channel.shutdownNow();
			server.shutdown();
			listener.shutdown.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
		}
	}

	/** Takes no connection. */
	private static final class Failing implements ServerListener {

		private final CompletableFuture<Boolean> shutdown = new CompletableFuture<>();

		@Override
		public ServerTransportListener transportCreated(ServerTransport transport) {
			throw new IllegalStateException("no connection is taken");
		}

		@Override
		public void serverShutdown() {
			this.shutdown.complete(true);
		}

	}

}
