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

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;

import io.grpc.ChannelCredentials;
import io.grpc.ChannelLogger;
import io.grpc.Status;
import io.grpc.internal.ClientTransportFactory;
import io.grpc.internal.ConnectionClientTransport;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.ObjectPool;
import io.grpc.internal.SharedResourceHolder;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.transport.RailHistory;
import dev.rdmarpc.transport.RailOptions;
import dev.rdmarpc.transport.RdmaTransport;

/** Makes the connections of one gRPC channel. Thread-safe. */
final class RdmaTransportFactory implements ClientTransportFactory {

	private static final int MOST_HISTORIES = 1024;

	private final ObjectPool<SharedTransport> pool;

	private final SharedTransport shared;

	private final ClientSettings settings;

	private final ScheduledExecutorService timer = SharedResourceHolder.get(GrpcUtil.TIMER_SERVICE);

	/** Of the addresses used last. */
	private final Map<InetSocketAddress, RailHistory> histories = new LinkedHashMap<>(16, 0.75F, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<InetSocketAddress, RailHistory> eldest) {
			return size() > MOST_HISTORIES;
		}

	};

	private boolean closed;

	RdmaTransportFactory(ObjectPool<SharedTransport> pool, ClientSettings settings) {
		this.pool = pool;
		this.shared = pool.getObject();
		this.settings = settings;
	}

	@Override
	public ConnectionClientTransport newClientTransport(SocketAddress address, ClientTransportOptions options,
			ChannelLogger logger) {
		InetSocketAddress remote = socketAddress(address);
		try {
			RdmaTransport transport = this.shared.transport();
			return new RailsTransport(new RailConnections(transport, this.settings, remote, options),
					history(transport, remote));
		}
		catch (Throwable ex) {
			return new UnavailableTransport(
					Status.UNAVAILABLE.withDescription("cannot connect to " + remote + ": " + FailureText.of(ex))
						.withCause(ex),
					remote);
		}
	}

	private synchronized RailHistory history(RdmaTransport transport, InetSocketAddress remote) {
		RailOptions rails = this.settings.rails();
		return this.histories.computeIfAbsent(remote,
				(key) -> new RailHistory(rails.choose(transport, this.settings.channel()), rails));
	}

	private static InetSocketAddress socketAddress(SocketAddress address) {
		if (address instanceof RdmaSocketAddress rdma) {
			return rdma.address();
		}
		if (address instanceof InetSocketAddress inet) {
			return inet;
		}
		throw new IllegalArgumentException("address " + address + " (expected: an IP address with a port)");
	}

	@Override
	public ScheduledExecutorService getScheduledExecutorService() {
		return this.timer;
	}

	@Override
	public @Nullable SwapChannelCredentialsResult swapChannelCredentials(ChannelCredentials credentials) {
		return null;
	}

	@Override
	public synchronized void close() {
		if (!this.closed) {
			this.closed = true;
			SharedResourceHolder.release(GrpcUtil.TIMER_SERVICE, this.timer);
			this.pool.returnObject(this.shared);
		}
	}

	@Override
	public Collection<Class<? extends SocketAddress>> getSupportedSocketAddressTypes() {
		return List.of(RdmaSocketAddress.class, InetSocketAddress.class);
	}

}
