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

package dev.rdmarpc.verbs.iwarp;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.Channel;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequestHandler;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * A listening socket on the connection thread. Accepts as long as its bounds on half-open
 * connections allow; established connections are counted until they end.
 */
final class IwarpListener extends SocketHandler implements ConnectionListener {

	private static final Logger logger = LoggerFactory.getLogger(IwarpListener.class);

	private static final int MAX_ACCEPTS = 64;

	private final IwarpDevice device;

	private final ServerSocketChannel channel;

	private final InetSocketAddress localAddress;

	private final ListenOptions options;

	private final ConnectionRequestHandler handler;

	private final Set<MpaResponder> pending = new HashSet<>();

	private final AtomicInteger connections = new AtomicInteger();

	/** Whether that was said already since the last connection has gone. */
	private volatile boolean full;

	private IwarpListener(IwarpDevice device, ServerSocketChannel channel, InetSocketAddress localAddress,
			ListenOptions options, ConnectionRequestHandler handler) {
		super(System.nanoTime() + Long.MAX_VALUE / 2);
		this.device = device;
		this.channel = channel;
		this.localAddress = localAddress;
		this.options = options;
		this.handler = handler;
	}

	/** Binds and starts to listen; from any thread. */
	static IwarpListener open(IwarpDevice device, InetSocketAddress address, ListenOptions options,
			ConnectionRequestHandler handler) {
		if (address.isUnresolved()) {
			throw new VerbsException(VerbsError.ADDRESS_NOT_AVAILABLE, address + " is not resolved");
		}
		ServerSocketChannel channel = bind(device, address, options);
		try {
			IwarpListener listener = new IwarpListener(device, channel, (InetSocketAddress) channel.getLocalAddress(),
					options, handler);
			device.connectionThread().execute(listener::start);
			return listener;
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "cannot listen on " + address + ": " + ex, ex);
		}
	}

	private static ServerSocketChannel bind(IwarpDevice device, InetSocketAddress address, ListenOptions options) {
		ServerSocketChannel channel = null;
		try {
			channel = ServerSocketChannel.open();
			channel.configureBlocking(false);
			channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
			if (device.options().receiveBufferBytes() > 0) {
				channel.setOption(StandardSocketOptions.SO_RCVBUF, device.options().receiveBufferBytes());
			}
			return channel.bind(address, options.backlog());
		}
		catch (IOException ex) {
			closeQuietly(channel);
			boolean taken = ex instanceof BindException
					&& String.valueOf(ex.getMessage()).toLowerCase(Locale.ROOT).contains("in use");
			VerbsError error = taken ? VerbsError.ADDRESS_IN_USE : VerbsError.ADDRESS_NOT_AVAILABLE;
			throw new VerbsException(error, "cannot listen on " + address + ": " + ex.getMessage(), ex);
		}
	}

	private static void closeQuietly(@Nullable Channel channel) {
		if (channel != null) {
			try {
				channel.close();
			}
			catch (IOException ex) {
				logger.debug("Cannot close a socket", ex);
			}
		}
	}

	private void start() {
		if (isFinished()) {
			return;
		}
		try {
			this.device.connectionThread().register(this.channel, SelectionKey.OP_ACCEPT, this);
		}
		catch (IOException ex) {
			failed(ex);
		}
	}

	IwarpDevice device() {
		return this.device;
	}

	ListenOptions options() {
		return this.options;
	}

	ConnectionRequestHandler handler() {
		return this.handler;
	}

	/**
	 * Counts a connection unless there are too many; connection thread.
	 * @return what to tell the peer if there are, else {@code null}
	 */
	@Nullable String tryAddConnection() {
		if (this.connections.incrementAndGet() <= this.options.maxConnections()) {
			return null;
		}
		this.connections.decrementAndGet();
		if (!this.full) {
			this.full = true;
			logger.warn("Rejecting connections to {}: there are {}", this.localAddress, this.options.maxConnections());
		}
		return "too many connections (limit " + this.options.maxConnections() + ")";
	}

	void removeConnection() {
		this.connections.decrementAndGet();
		this.full = false;
	}

	void removePending(MpaResponder responder) {
		this.pending.remove(responder);
	}

	@Override
	public InetSocketAddress localAddress() {
		return this.localAddress;
	}

	@Override
	void ready() throws IOException {
		for (int i = 0; i < MAX_ACCEPTS; i++) {
			SocketChannel accepted;
			try {
				accepted = this.channel.accept();
			}
			catch (IOException ex) {
				logger.warn("Cannot accept a connection on {}: {}", this.localAddress, ex.toString());
				return;
			}
			if (accepted == null) {
				return;
			}
			accept(accepted);
		}
	}

	private void accept(SocketChannel accepted) {
		if (this.pending.size() >= this.options.maxPendingHandshakes()) {
			logger.warn("Closed a connection to {}: {} handshakes are pending", this.localAddress, this.pending.size());
			closeQuietly(accepted);
			return;
		}
		try {
			SocketTuning.prepare(accepted, this.device.options());
			this.pending.add(MpaResponder.start(this, accepted));
		}
		catch (IOException ex) {
			logger.debug("Connection was lost as it was accepted", ex);
			closeQuietly(accepted);
		}
	}

	@Override
	void timedOut() {
		throw new IllegalStateException("a listener has no deadline");
	}

	@Override
	void failed(Exception cause) {
		closeHere();
	}

	private void closeHere() {
		finish();
		closeQuietly(this.channel);
		for (MpaResponder responder : Set.copyOf(this.pending)) {
			responder.drop("listener was closed");
		}
	}

	@Override
	public void close() {
		closeQuietly(this.channel);
		this.device.connectionThread().execute(this::closeHere);
	}

}
