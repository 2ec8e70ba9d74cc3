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
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.InternalChannelz.SocketOptions;
import io.grpc.InternalChannelz.SocketStats;
import io.grpc.InternalInstrumented;
import io.grpc.InternalLogId;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.InternalServer;
import io.grpc.internal.ObjectPool;
import io.grpc.internal.ServerListener;
import io.grpc.internal.ServerTransportListener;
import io.grpc.internal.SharedResourceHolder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.transport.ChannelListener;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.verbs.VerbsException;

/**
 * Accepts the connections of one gRPC server, on loops of its own.
 *
 * <p>
 * Thread-safe.
 *
 * <p>
 * Implementation notes. The lock guards the number of connections that gRPC knows and
 * whether there may be more. gRPC learns of a connection under the lock, so it learns of
 * none after it was told that there will be none. The loops are closed, by a thread that
 * may block, when the server is shut down and its last connection has ended, or before
 * the transport closes, which need not wait for that: gRPC's server has terminated a
 * moment earlier.
 */
final class RdmaServer implements InternalServer {

	private static final Logger logger = LoggerFactory.getLogger(RdmaServer.class);

	private final ObjectPool<SharedTransport> pool;

	private final ServerSettings settings;

	private final OpenCalls calls;

	private final List<ChannelLoop> loops = new CopyOnWriteArrayList<>();

	private final Runnable closing = this::close;

	private @Nullable SharedTransport shared;

	private @Nullable ScheduledExecutorService timer;

	private @Nullable ChannelListener channels;

	private @Nullable ServerListener listener;

	private @Nullable ListenSocket socket;

	private int connections;

	private boolean shutdown;

	/** Not under the lock, which a failing start would wait for that gRPC's waits for. */
	private final AtomicBoolean closed = new AtomicBoolean();

	RdmaServer(ObjectPool<SharedTransport> pool, ServerSettings settings) {
		this.pool = pool;
		this.settings = settings;
		this.calls = new OpenCalls(settings.maxConcurrentCalls());
	}

	@Override
	public void start(ServerListener told) throws IOException {
		this.listener = told;
		SharedTransport lent = this.pool.getObject();
		this.shared = lent;
		this.timer = SharedResourceHolder.get(GrpcUtil.TIMER_SERVICE);
		RdmaTransport transport = lent.transport();
		try {
			transport.beforeClose(this.closing);
			ChannelListener started = transport.listen(this.settings.address(), (rail) -> startLoops(transport, rail),
					this.settings.maxConnections(), this.settings.peers(), this.settings.channel(),
					() -> new RdmaServerTransport(this, transport, this.settings));
			this.channels = started;
			this.socket = new ListenSocket(started.localAddress());
			started.announce(logger, "gRPC");
		}
		catch (VerbsException ex) {
			close();
			throw new IOException("cannot listen on " + this.settings.address() + ": " + ex.getMessage(), ex);
		}
		catch (Throwable ex) {
			close();
			throw ex;
		}
	}

	/** In place of those that were closed when the rail went. */
	private List<ChannelLoop> startLoops(RdmaTransport transport, Rail rail) {
		this.loops.removeIf(ChannelLoop::isClosed);
		List<ChannelLoop> started = transport.startLoops(rail, "rdma-grpc-server" + transport.suffix(rail) + "-",
				this.settings.loops(), this.settings.channel().frameBytes());
		this.loops.addAll(started);
		return started;
	}

	/** Those of all connections. */
	OpenCalls calls() {
		return this.calls;
	}

	ScheduledExecutorService timer() {
		ScheduledExecutorService known = this.timer;
		if (known == null) {
			throw new IllegalStateException("the server was not started");
		}
		return known;
	}

	/**
	 * A connection has been set up.
	 * @return who is told of its calls, or {@code null} if there is to be none
	 */
	synchronized @Nullable ServerTransportListener opened(RdmaServerTransport transport) {
		ServerListener told = this.listener;
		if (this.shutdown || told == null) {
			return null;
		}
		this.connections++;
		try {
			return told.transportCreated(transport);
		}
		catch (Throwable ex) {
			this.connections--;
			throw ex;
		}
	}

	/** One of the connections has ended. */
	void ended() {
		synchronized (this) {
			this.connections--;
		}
		closeIfOver();
	}

	@Override
	public void shutdown() {
		ChannelListener listening;
		synchronized (this) {
			if (this.shutdown) {
				return;
			}
			this.shutdown = true;
			listening = this.channels;
		}
		if (listening != null) {
			listening.close();
		}
		ServerListener told = this.listener;
		if (told != null) {
			told.serverShutdown();
		}
		closeIfOver();
	}

	private void closeIfOver() {
		SharedTransport lent = this.shared;
		synchronized (this) {
			if (!this.shutdown || this.connections > 0 || this.closed.get() || lent == null) {
				return;
			}
		}
		try {
			lent.transport().resolver().execute(this.closing);
		}
		catch (RejectedExecutionException ex) {
			// the transport has closed, and with it this server
		}
	}

	/** Idempotent. */
	private void close() {
		SharedTransport lent = this.shared;
		if (lent == null || !this.closed.compareAndSet(false, true)) {
			return;
		}
		lent.transport().forget(this.closing);
		this.loops.forEach(ChannelLoop::close);
		SharedResourceHolder.release(GrpcUtil.TIMER_SERVICE, timer());
		this.pool.returnObject(lent);
	}

	private InetSocketAddress address() {
		ChannelListener listening = this.channels;
		return (listening != null) ? listening.localAddress() : this.settings.address();
	}

	@Override
	public SocketAddress getListenSocketAddress() {
		return address();
	}

	@Override
	public @Nullable InternalInstrumented<SocketStats> getListenSocketStats() {
		return this.socket;
	}

	@Override
	public List<? extends SocketAddress> getListenSocketAddresses() {
		return List.of(address());
	}

	@Override
	public @Nullable List<InternalInstrumented<SocketStats>> getListenSocketStatsList() {
		ListenSocket known = this.socket;
		return (known != null) ? List.of(known) : null;
	}

	/** The address listened on, for channelz. */
	private record ListenSocket(InetSocketAddress address,
			InternalLogId id) implements InternalInstrumented<SocketStats> {

		ListenSocket(InetSocketAddress address) {
			this(address, InternalLogId.allocate(RdmaServer.class, address.toString()));
		}

		@Override
		public ListenableFuture<SocketStats> getStats() {
			return Futures
				.immediateFuture(new SocketStats(null, this.address, null, new SocketOptions.Builder().build(), null));
		}

		@Override
		public InternalLogId getLogId() {
			return this.id;
		}

	}

}
