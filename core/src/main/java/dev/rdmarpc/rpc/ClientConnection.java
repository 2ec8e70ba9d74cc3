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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RpcChannel;

/**
 * Keeps one channel to a target: connects on first use, again after a loss, with pauses
 * that grow from failure to failure.
 *
 * <p>
 * Implementation notes. State is guarded by {@code this}; the open channel is also
 * published in a volatile field, which is all that a call normally reads. Callbacks of
 * the channel come from the loop's driver and take the lock too. Whoever holds it neither
 * waits for the driver nor becomes it, nor completes a future, since both run code of
 * others: connecting and completing happen after it is released. A channel that is
 * neither {@code open} nor {@code connecting} has been replaced and is not listened to.
 */
final class ClientConnection implements ChannelHandler {

	private static final Logger logger = LoggerFactory.getLogger(ClientConnection.class);

	private final RdmaTransport transport;

	private final ChannelLoop loop;

	private final String target;

	private final Supplier<InetSocketAddress> addresses;

	private final RpcClientOptions options;

	private final ScheduledExecutorService timer;

	private final PoolCounters counters;

	private volatile @Nullable RpcChannel open;

	private volatile ConnectionState state = ConnectionState.IDLE;

	private @Nullable RpcChannel connecting;

	private CompletableFuture<RpcChannel> attempt = new CompletableFuture<>();

	private CompletableFuture<RpcChannel> ready = new CompletableFuture<>();

	private int failures;

	private volatile String lastFailure = "";

	private volatile long lastUsedNanos = System.nanoTime();

	ClientConnection(RdmaTransport transport, ChannelLoop loop, String target, Supplier<InetSocketAddress> addresses,
			RpcClientOptions options, ScheduledExecutorService timer, PoolCounters counters) {
		this.transport = transport;
		this.loop = loop;
		this.target = target;
		this.addresses = addresses;
		this.options = options;
		this.timer = timer;
		this.counters = counters;
	}

	/** The channel if it is open, else {@code null}. */
	@Nullable RpcChannel openChannel() {
		RpcChannel channel = this.open;
		return (channel != null && channel.isOpen()) ? channel : null;
	}

	/** A call has taken the channel. */
	void used(long nowNanos) {
		this.lastUsedNanos = nowNanos;
	}

	/** Whether no call is outstanding and none was begun since then. */
	boolean isIdleSince(long nanos) {
		RpcChannel channel = openChannel();
		return (channel == null || channel.outstandingCalls() == 0) && this.lastUsedNanos - nanos < 0;
	}

	/** Calls outstanding, as far as one can tell. */
	int outstandingCalls() {
		RpcChannel channel = openChannel();
		return (channel != null) ? channel.outstandingCalls() : 0;
	}

	/** The loop of its channels. */
	ChannelLoop loop() {
		return this.loop;
	}

	ConnectionState state() {
		return this.state;
	}

	String lastFailure() {
		return this.lastFailure;
	}

	String target() {
		return this.target;
	}

	/**
	 * An open channel, soon.
	 * @param waitForReady whether to sit out pauses between attempts
	 * @return completed on any thread, exceptionally with an {@link RpcException} that
	 * names no method yet
	 */
	CompletableFuture<RpcChannel> channel(boolean waitForReady) {
		RpcChannel next;
		CompletableFuture<RpcChannel> soon;
		synchronized (this) {
			RpcChannel channel = openChannel();
			if (channel != null) {
				return CompletableFuture.completedFuture(channel);
			}
			if (this.state == ConnectionState.CLOSED) {
				return CompletableFuture.failedFuture(closed());
			}
			if (this.state == ConnectionState.BACKOFF && !waitForReady) {
				return CompletableFuture.failedFuture(unavailable());
			}
			boolean first = this.state == ConnectionState.IDLE || this.state == ConnectionState.READY;
			next = first ? beginAttempt() : null;
			soon = waitForReady ? this.ready : this.attempt;
		}
		if (next != null) {
			connect(next);
		}
		return soon;
	}

	private static RpcException closed() {
		return new RpcException(RpcStatus.UNAVAILABLE, "the client is closed");
	}

	private RpcException unavailable() {
		return new RpcException(RpcStatus.UNAVAILABLE, "no connection to " + target() + ": " + this.lastFailure);
	}

	/** Makes the channel of a new attempt, to be connected once the lock is released. */
	private RpcChannel beginAttempt() {
		RpcChannel channel = this.transport.newChannel(this.loop, this.options.channel(), this);
		this.state = ConnectionState.CONNECTING;
		this.attempt = new CompletableFuture<>();
		if (this.open != null) {
			logger.info("Connection to {} lost", target());
			this.counters.losses.increment();
		}
		this.open = null;
		this.connecting = channel;
		return channel;
	}

	/** Asking for the address may block, which callers, timer and loop must not. */
	private void connect(RpcChannel channel) {
		try {
			this.transport.resolver().execute(() -> resolveAndConnect(channel));
		}
		catch (RejectedExecutionException ex) {
			channel.close("the transport is closed");
		}
	}

	private void resolveAndConnect(RpcChannel channel) {
		InetSocketAddress address;
		try {
			address = this.addresses.get();
		}
		catch (RuntimeException | Error ex) {
			channel.close("its address is not known: " + ex.getMessage());
			return;
		}
		if (address.isUnresolved()) {
			channel.close("unknown host " + address.getHostString());
		}
		else {
			this.transport.connect(channel, address);
		}
	}

	/** The pause is over. */
	private void reconnect() {
		RpcChannel next;
		synchronized (this) {
			if (this.state != ConnectionState.BACKOFF) {
				return;
			}
			next = beginAttempt();
		}
		connect(next);
	}

	@Override
	public void onOpen(RpcChannel channel) {
		CompletableFuture<RpcChannel> attempted;
		CompletableFuture<RpcChannel> awaited;
		synchronized (this) {
			if (channel != this.connecting || this.state != ConnectionState.CONNECTING) {
				channel.close("not needed any more");
				return;
			}
			if (this.failures > 0) {
				logger.info("Connected to {} after {} failures", target(), this.failures);
			}
			this.failures = 0;
			this.lastFailure = "";
			this.connecting = null;
			this.open = channel;
			this.state = ConnectionState.READY;
			this.counters.connects.increment();
			attempted = this.attempt;
			awaited = this.ready;
			this.ready = new CompletableFuture<>();
		}
		attempted.complete(channel);
		awaited.complete(channel);
	}

	@Override
	public void onGoodbye(RpcChannel channel) {
		ended(channel, "the peer is shutting down");
	}

	@Override
	public void onClosed(RpcChannel channel, String reason) {
		ended(channel, reason);
	}

	private void ended(RpcChannel channel, String reason) {
		CompletableFuture<RpcChannel> failed = null;
		synchronized (this) {
			if (this.state == ConnectionState.CLOSED) {
				return;
			}
			if (channel == this.open) {
				logger.info("Connection to {} lost: {}", target(), reason);
				this.counters.losses.increment();
				this.open = null;
			}
			else if (channel == this.connecting) {
				if (this.failures == 0) {
					logger.warn("No connection to {}: {}", target(), reason);
				}
				this.connecting = null;
				failed = this.attempt;
			}
			else {
				return;
			}
			this.lastFailure = reason;
			pause();
		}
		if (failed != null) {
			failed.completeExceptionally(unavailable());
		}
	}

	private void pause() {
		this.state = ConnectionState.BACKOFF;
		long initial = this.options.initialBackoff().toNanos();
		long max = this.options.maxBackoff().toNanos();
		long nanos = Math.min(max, initial << Math.min(this.failures, 20));
		this.failures++;
		long jittered = nanos / 2 + ThreadLocalRandom.current().nextLong(nanos / 2 + 1);
		try {
			this.timer.schedule(this::reconnect, jittered, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("{} is not connected to again: the transport is closed", target());
		}
	}

	@Override
	public void onRequest(RpcChannel channel, IncomingMessage request) {
		channel.close("a request from the side that serves");
	}

	@Override
	public void onUnreadableRequest(RpcChannel channel, int requestId, String detail) {
		channel.close("a request from the side that serves");
	}

	@Override
	public void onCancel(RpcChannel channel, int requestId) {
		// nothing is executed here for the peer
	}

	/** Says goodbye; outstanding calls are finished. */
	void close() {
		RpcChannel current;
		RpcChannel pending;
		CompletableFuture<RpcChannel> attempted;
		CompletableFuture<RpcChannel> awaited;
		synchronized (this) {
			current = this.open;
			pending = this.connecting;
			attempted = this.attempt;
			awaited = this.ready;
			this.open = null;
			this.connecting = null;
			this.state = ConnectionState.CLOSED;
		}
		attempted.completeExceptionally(closed());
		awaited.completeExceptionally(closed());
		if (current != null) {
			current.drain();
		}
		if (pending != null) {
			pending.close("the client is closed");
		}
	}

}
