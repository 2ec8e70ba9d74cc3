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

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.internal.ObjectPool;
import io.grpc.internal.ServerListener;
import io.grpc.internal.ServerTransport;
import io.grpc.internal.ServerTransportListener;
import io.grpc.stub.ClientCalls;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.Await;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.PeerLimits;

/** What becomes of connections that gRPC's server does not take. */
class RdmaServerTests {

	private static RdmaServer start(GrpcFixture fixture, ServerListener listener) throws Exception {
		RdmaServer server = new RdmaServer(SharedTransport.of(fixture.transport()),
				settings(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
		server.start(listener);
		return server;
	}

	private static ServerSettings settings(InetSocketAddress address) {
		return new ServerSettings(address, GrpcProtocol.options(ChannelOptions.DEFAULTS, 0, 0, ServerSettings.NEVER, 0),
				1, 16, 16, PeerLimits.DEFAULTS, 1 << 20, 8192, ServerSettings.NEVER, ServerSettings.NEVER,
				ServerSettings.NEVER, Farewell.PATIENCE_NANOS, List.of());
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

	/** gRPC's server starts under a lock that it takes for a connection as well. */
	@Test
	void aStartFailsWhileAConnectionIsTaken() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			RdmaServer first = start(fixture, new Failing());
			Object lock = new Object();
			CountDownLatch taken = new CountDownLatch(1);
			AtomicReference<RdmaServer> second = new AtomicReference<>();
			Thread opening = new Thread(() -> second.get().opened(null));
			ObjectPool<SharedTransport> pool = new ObjectPool<>() {
				@Override
				public SharedTransport getObject() {
					opening.start();
					Await.latch(taken);
					return new SharedTransport(fixture.memory(), fixture.transport());
				}

				@Override
				public SharedTransport returnObject(Object lent) {
					return null;
				}
			};
			second.set(new RdmaServer(pool, settings((InetSocketAddress) first.getListenSocketAddress())));
			Failing listener = new Failing() {
				@Override
				public ServerTransportListener transportCreated(ServerTransport transport) {
					taken.countDown();
					synchronized (lock) {
						return null;
					}
				}
			};
			CompletableFuture<Void> started = CompletableFuture.runAsync(() -> {
				synchronized (lock) {
					Assertions.assertThatExceptionOfType(IOException.class)
						.isThrownBy(() -> second.get().start(listener));
				}
			});
			started.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			opening.join();
			first.shutdown();
		}
	}

	/** Takes no connection. */
	private static class Failing implements ServerListener {

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
