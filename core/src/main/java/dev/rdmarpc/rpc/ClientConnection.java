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
 * the channel come from the loop's driver and take the lock too; nobody who holds it ever
 * waits for the driver.
 */
final class ClientConnection implements ChannelHandler {

	private static final Logger logger = LoggerFactory.getLogger(ClientConnection.class);

	private final RdmaTransport transport;

	private final ChannelLoop loop;

	private final String target;

	private final Supplier<InetSocketAddress> addresses;

	private final RpcClientOptions options;

	private final ScheduledExecutorService timer;

	private volatile @Nullable RpcChannel open;

	private volatile ConnectionState state = ConnectionState.IDLE;

	private @Nullable RpcChannel connecting;

	private CompletableFuture<RpcChannel> attempt = new CompletableFuture<>();

	private CompletableFuture<RpcChannel> ready = new CompletableFuture<>();

	private int failures;

	private volatile String lastFailure = "";

	ClientConnection(RdmaTransport transport, ChannelLoop loop, String target, Supplier<InetSocketAddress> addresses,
			RpcClientOptions options, ScheduledExecutorService timer) {
		this.transport = transport;
		this.loop = loop;
		this.target = target;
		this.addresses = addresses;
		this.options = options;
		this.timer = timer;
	}

	/** The channel if it is open, else {@code null}. */
	@Nullable RpcChannel openChannel() {
		RpcChannel channel = this.open;
		return (channel != null && channel.isOpen()) ? channel : null;
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
	synchronized CompletableFuture<RpcChannel> channel(boolean waitForReady) {
		RpcChannel channel = openChannel();
		if (channel != null) {
			return CompletableFuture.completedFuture(channel);
		}
		switch (this.state) {
			case CLOSED -> {
				return CompletableFuture.failedFuture(new RpcException(RpcStatus.UNAVAILABLE, "the client is closed"));
			}
			case BACKOFF -> {
				if (!waitForReady) {
					return CompletableFuture.failedFuture(unavailable());
				}
			}
			case IDLE, READY -> connect();
			case CONNECTING -> {
				// under way
			}
		}
		return waitForReady ? this.ready : this.attempt;
	}

	private RpcException unavailable() {
		return new RpcException(RpcStatus.UNAVAILABLE, "no connection to " + target() + ": " + this.lastFailure);
	}

	private synchronized void connect() {
		if (this.state == ConnectionState.CLOSED || this.state == ConnectionState.CONNECTING) {
			return;
		}
		this.state = ConnectionState.CONNECTING;
		this.attempt = new CompletableFuture<>();
		InetSocketAddress address;
		try {
			address = this.addresses.get();
		}
		catch (RuntimeException ex) {
			failed("its address is not known: " + ex.getMessage());
			return;
		}
		if (address.isUnresolved()) {
			failed("unknown host " + address.getHostString());
			return;
		}
		this.connecting = this.transport.connect(this.loop, address, this.options.channel(), this);
	}

	@Override
	public synchronized void onOpen(RpcChannel channel) {
		if (this.state == ConnectionState.CLOSED) {
			channel.close("the client is closed");
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
		this.attempt.complete(channel);
		this.ready.complete(channel);
		this.ready = new CompletableFuture<>();
	}

	@Override
	public synchronized void onGoodbye(RpcChannel channel) {
		lost(channel, "the peer is shutting down");
	}

	@Override
	public synchronized void onClosed(RpcChannel channel, String reason) {
		if (channel == this.open) {
			lost(channel, reason);
		}
		else if (this.state == ConnectionState.CONNECTING && this.open == null
				&& (this.connecting == null || channel == this.connecting)) {
			failed(reason);
		}
	}

	private void lost(RpcChannel channel, String reason) {
		if (channel != this.open) {
			return;
		}
		this.open = null;
		if (this.state != ConnectionState.CLOSED) {
			logger.info("Connection to {} lost: {}", target(), reason);
			this.lastFailure = reason;
			pause();
		}
	}

	private void failed(String reason) {
		if (this.failures == 0) {
			logger.warn("No connection to {}: {}", target(), reason);
		}
		this.lastFailure = reason;
		this.connecting = null;
		CompletableFuture<RpcChannel> failedAttempt = this.attempt;
		pause();
		failedAttempt.completeExceptionally(unavailable());
	}

	private void pause() {
		this.state = ConnectionState.BACKOFF;
		long initial = this.options.initialBackoff().toNanos();
		long max = this.options.maxBackoff().toNanos();
		long nanos = Math.min(max, initial << Math.min(this.failures, 20));
		this.failures++;
		long jittered = nanos / 2 + ThreadLocalRandom.current().nextLong(nanos / 2 + 1);
		this.timer.schedule(this::connect, jittered, TimeUnit.NANOSECONDS);
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
		synchronized (this) {
			current = this.open;
			pending = this.connecting;
			this.open = null;
			this.state = ConnectionState.CLOSED;
			RpcException closed = new RpcException(RpcStatus.UNAVAILABLE, "the client is closed");
			this.attempt.completeExceptionally(closed);
			this.ready.completeExceptionally(closed);
		}
		if (current != null) {
			current.drain();
		}
		if (pending != null) {
			pending.close("the client is closed");
		}
	}

}
