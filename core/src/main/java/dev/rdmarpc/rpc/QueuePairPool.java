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

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.transport.RpcChannel;

/**
 * The connections of a client to its target, one queue pair each. A call takes the open
 * one with the fewest calls outstanding. When that one is busy another is prepared beside
 * it, without the call waiting for it; when the load has gone the additional ones are
 * closed. Each looks after itself: one that is lost takes its own calls with it and is
 * connected again.
 *
 * <p>
 * Thread-safe.
 *
 * <p>
 * Implementation notes. The connections are in an array that is replaced, never changed,
 * so that picking takes no lock; counts of outstanding calls are read as they happen to
 * be. The lock only guards replacing the array. Of several equally busy queue pairs the
 * first is taken, so that under little load the last ones see no calls and can go. A call
 * that has just picked a queue pair that goes finds it draining, which is one of the
 * failures after which any call may be repeated, since it was never sent. A queue pair
 * that is still being connected cannot have calls, so its idle time begins after that:
 * else a pool whose connections take longer than that time would never grow.
 */
final class QueuePairPool implements ChannelSource {

	private static final Logger logger = LoggerFactory.getLogger(QueuePairPool.class);

	private final Supplier<ClientConnection> factory;

	private final QueuePairPoolOptions options;

	private final ScheduledExecutorService timer;

	private final PoolCounters counters;

	private volatile ClientConnection[] connections;

	private boolean shrinking;

	private boolean closed;

	QueuePairPool(Supplier<ClientConnection> factory, QueuePairPoolOptions options, ScheduledExecutorService timer,
			PoolCounters counters) {
		this.counters = counters;
		this.factory = factory;
		this.options = options;
		this.timer = timer;
		this.connections = new ClientConnection[options.min()];
		Arrays.setAll(this.connections, (i) -> this.factory.get());
	}

	/** The open channel with the fewest calls. */
	@Override
	public @Nullable RpcChannel openChannel(long key) {
		ClientConnection[] all = this.connections;
		RpcChannel best = null;
		ClientConnection owner = null;
		int fewest = Integer.MAX_VALUE;
		for (ClientConnection connection : all) {
			RpcChannel channel = connection.openChannel();
			int calls = (channel != null) ? channel.outstandingCalls() : Integer.MAX_VALUE;
			if (calls < fewest) {
				best = channel;
				owner = connection;
				fewest = calls;
			}
		}
		if (owner == null) {
			return null;
		}
		if (all.length > this.options.min()) {
			owner.used(System.nanoTime());
		}
		if (fewest >= this.options.callsPerQueuePair() && all.length < this.options.max()) {
			grow(all);
		}
		return best;
	}

	/** Prepares another queue pair, unless one is being prepared or has failed. */
	private void grow(ClientConnection[] seen) {
		ClientConnection added;
		synchronized (this) {
			if (this.closed || this.connections != seen
					|| Arrays.stream(seen).anyMatch((connection) -> connection.state() != ConnectionState.READY)) {
				return;
			}
			added = this.factory.get();
			added.used(System.nanoTime());
			ClientConnection[] more = Arrays.copyOf(seen, seen.length + 1);
			more[seen.length] = added;
			this.connections = more;
			this.counters.growths.increment();
			scheduleShrinking();
		}
		logger.debug("{} queue pairs to {}", seen.length + 1, added.target());
		added.channel(false);
	}

	private void scheduleShrinking() {
		if (!this.shrinking) {
			this.shrinking = true;
			try {
				long nanos = Math.max(1, this.options.idleTimeout().toNanos() / 2);
				this.timer.schedule(this::shrink, nanos, TimeUnit.NANOSECONDS);
			}
			catch (RejectedExecutionException ex) {
				logger.debug("Not shrinking any more: the transport is closed");
			}
		}
	}

	private void shrink() {
		List<ClientConnection> idle = new ArrayList<>();
		synchronized (this) {
			this.shrinking = false;
			if (this.closed) {
				return;
			}
			List<ClientConnection> left = new ArrayList<>(List.of(this.connections));
			long now = System.nanoTime();
			for (int i = left.size() - 1; i >= 0 && left.size() > this.options.min(); i--) {
				ClientConnection candidate = left.get(i);
				if (isBeingPrepared(candidate)) {
					candidate.used(now);
				}
				else if (candidate.isIdleSince(now - this.options.idleTimeout().toNanos())) {
					idle.add(left.remove(i));
				}
			}
			this.connections = left.toArray(ClientConnection[]::new);
			this.counters.shrinks.add(idle.size());
			if (left.size() > this.options.min()) {
				scheduleShrinking();
			}
		}
		idle.forEach(ClientConnection::close);
	}

	/** Whether it is being connected, and no attempt at that has failed. */
	private static boolean isBeingPrepared(ClientConnection connection) {
		return connection.state() == ConnectionState.CONNECTING && connection.lastFailure().isEmpty();
	}

	@Override
	public void agree() {
		for (ClientConnection connection : this.connections) {
			connection.agree();
		}
	}

	@Override
	public void connect() {
		for (ClientConnection connection : this.connections) {
			connection.channel(false);
		}
	}

	@Override
	public CompletableFuture<RpcChannel> channel(boolean waitForReady) {
		ClientConnection[] all = this.connections;
		if (all.length == 1) {
			return all[0].channel(waitForReady);
		}
		CompletableFuture<RpcChannel> first = new CompletableFuture<>();
		AtomicInteger left = new AtomicInteger(all.length);
		for (ClientConnection connection : all) {
			CompletableFuture<RpcChannel> one = connection.channel(waitForReady);
			first.whenComplete((channel, failure) -> one.cancel(false));
			one.whenComplete((channel, failure) -> {
				if (failure == null) {
					first.complete(channel);
				}
				else if (left.decrementAndGet() == 0) {
					first.completeExceptionally(failure);
				}
			});
		}
		return first;
	}

	@Override
	public String target() {
		return this.connections[0].target();
	}

	@Override
	public long restartingNanos() {
		long most = Long.MIN_VALUE;
		for (ClientConnection connection : this.connections) {
			most = Math.max(most, connection.restartingNanos());
		}
		return most;
	}

	@Override
	public List<ClientConnection> connections() {
		return List.of(this.connections);
	}

	@Override
	public List<AddressHealth> addresses() {
		return List.of(new AddressHealth(address(), state(), false, 0, open(), outstandingCalls(), lastFailure()));
	}

	/** That of the peer, as long as it is known. */
	private String address() {
		for (ClientConnection connection : this.connections) {
			RpcChannel channel = connection.openChannel();
			InetSocketAddress remote = (channel != null) ? channel.remoteAddress() : null;
			if (remote != null) {
				return AddressPool.nameOf(remote);
			}
		}
		return target();
	}

	@Override
	public ConnectionState state() {
		ConnectionState best = ConnectionState.CLOSED;
		for (ClientConnection connection : this.connections) {
			best = best.better(connection.state());
		}
		return best;
	}

	@Override
	public String lastFailure() {
		for (ClientConnection connection : this.connections) {
			if (!connection.lastFailure().isEmpty()) {
				return connection.lastFailure();
			}
		}
		return "";
	}

	@Override
	public String pauseSince(long nanos) {
		for (ClientConnection connection : this.connections) {
			String pause = connection.pauseSince(nanos);
			if (!pause.isEmpty()) {
				return pause;
			}
		}
		return "";
	}

	/** Whether any is open. */
	boolean isOpen() {
		for (ClientConnection connection : this.connections) {
			if (connection.openChannel() != null) {
				return true;
			}
		}
		return false;
	}

	@Override
	public int open() {
		return (int) Arrays.stream(this.connections).filter((connection) -> connection.openChannel() != null).count();
	}

	@Override
	public int min() {
		return this.options.min();
	}

	@Override
	public int max() {
		return this.options.max();
	}

	@Override
	public int outstandingCalls() {
		int calls = 0;
		for (ClientConnection connection : this.connections) {
			calls += connection.outstandingCalls();
		}
		return calls;
	}

	@Override
	public PoolCounters counters() {
		return this.counters;
	}

	@Override
	public QueuePairPoolHealth health() {
		ClientConnection[] all = this.connections;
		int working = 0;
		int failed = 0;
		for (ClientConnection connection : all) {
			if (connection.openChannel() != null) {
				working++;
			}
			else if (hasFailed(connection)) {
				failed++;
			}
		}
		if (failed == 0 || working >= this.options.min()) {
			return QueuePairPoolHealth.UP;
		}
		return (working > 0) ? QueuePairPoolHealth.DEGRADED : QueuePairPoolHealth.DOWN;
	}

	/** Of one without an open channel: one that is ready has just lost it. */
	private static boolean hasFailed(ClientConnection connection) {
		ConnectionState state = connection.state();
		return state == ConnectionState.CLOSED || !connection.lastFailure().isEmpty()
				|| (state == ConnectionState.READY && connection.openChannel() == null);
	}

	@Override
	public void close() {
		synchronized (this) {
			this.closed = true;
		}
		for (ClientConnection connection : this.connections) {
			connection.close();
		}
	}

}
