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

package dev.rdmarpc.verbs.shm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ConnectionRequestHandler;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * A listening socket on the connection thread. Connections whose request has not come
 * make room for newer ones; established connections are counted until they end.
 */
final class SharedMemoryListener extends SetupHandler implements ConnectionListener {

	private static final Logger logger = LoggerFactory.getLogger(SharedMemoryListener.class);

	private static final int MAX_ACCEPTS = 64;

	private static final long NEVER_NANOS = Long.MAX_VALUE / 2;

	/** How long nothing is accepted after the system has refused to. */
	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final SharedMemoryDevice device;

	private final ServerSocketChannel channel;

	private final InetSocketAddress localAddress;

	private final ListenOptions options;

	private final ConnectionRequestHandler handler;

	private final Set<Responder> silent = new LinkedHashSet<>();

	private final Set<Responder> requested = new LinkedHashSet<>();

	private final AtomicInteger connections = new AtomicInteger();

	private final RateLimitedLogger warnings = new RateLimitedLogger(logger);

	private final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private @Nullable SelectionKey key;

	private SharedMemoryListener(SharedMemoryDevice device, ServerSocketChannel channel, InetSocketAddress localAddress,
			ListenOptions options, ConnectionRequestHandler handler) {
		super(System.nanoTime() + NEVER_NANOS);
		this.device = device;
		this.channel = channel;
		this.localAddress = localAddress;
		this.options = options;
		this.handler = handler;
	}

	/** Whether an address is one of this host. */
	static boolean isHere(InetSocketAddress address) {
		InetAddress ip = address.getAddress();
		try {
			return ip.isLoopbackAddress() || ip.isAnyLocalAddress() || NetworkInterface.getByInetAddress(ip) != null;
		}
		catch (SocketException ex) {
			logger.debug("Cannot find out whether {} is here", ip, ex);
			return false;
		}
	}

	/**
	 * Whether it listens for who wants to reach an address: ports are those of the
	 * directory, and two servers may have the same one at two addresses of a host.
	 * @param wanted as {@link SetupFrame#nameOf} says
	 */
	boolean listensAt(String wanted) {
		return wanted.isEmpty() || this.localAddress.getAddress().isAnyLocalAddress()
				|| wanted.equals(SetupFrame.nameOf(this.localAddress.getAddress()));
	}

	/** Binds and starts to listen; from any thread. */
	static SharedMemoryListener open(SharedMemoryDevice device, InetSocketAddress address, ListenOptions options,
			ConnectionRequestHandler handler) {
		if (address.isUnresolved()) {
			throw new VerbsException(VerbsError.ADDRESS_NOT_AVAILABLE, address + " is not resolved");
		}
		if (!isHere(address)) {
			throw new VerbsException(VerbsError.ADDRESS_NOT_AVAILABLE, "shared memory cannot listen on " + address
					+ " (expected: an address of this host, or the wildcard address)");
		}
		device.connectionThread().start();
		ServerSocketChannel channel = device.rendezvous().bind(address.getPort(), options.backlog());
		boolean listens = false;
		try {
			InetSocketAddress local = new InetSocketAddress(address.getAddress(), Rendezvous.port(channel));
			SharedMemoryListener listener = new SharedMemoryListener(device, channel, local, options, handler);
			device.connectionThread().execute(listener::start);
			listens = true;
			return listener;
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "cannot listen on " + address + ": " + ex, ex);
		}
		finally {
			if (!listens) {
				closeQuietly(channel);
			}
		}
	}

	private void start() {
		if (isFinished()) {
			return;
		}
		try {
			this.key = this.device.connectionThread().register(this.channel, SelectionKey.OP_ACCEPT, this);
		}
		catch (IOException ex) {
			failed(ex);
		}
	}

	SharedMemoryDevice device() {
		return this.device;
	}

	ListenOptions options() {
		return this.options;
	}

	@Override
	public InetSocketAddress localAddress() {
		return this.localAddress;
	}

	/** The address of a peer that names its port. */
	InetSocketAddress remoteAddress(int port) {
		InetAddress own = this.localAddress.getAddress();
		return new InetSocketAddress(own.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : own, port & 0xFFFF);
	}

	/** Hands a request to whoever listens; returns false if that has failed. */
	boolean tryHandle(ConnectionRequest request) {
		try {
			this.handler.onConnectionRequest(request);
			return true;
		}
		catch (Throwable ex) {
			this.failures.log(Level.ERROR, "Handler of connections to {} failed", this.localAddress, ex);
			return false;
		}
	}

	/** A request has not been answered in time. */
	void unanswered(InetSocketAddress remote) {
		this.warnings.log(Level.WARN, "Connection request from {} was not answered in time", remote);
	}

	/**
	 * Counts a connection unless there are too many.
	 * @return what to tell the peer if there are, else {@code null}
	 */
	@Nullable String tryAddConnection() {
		if (this.connections.incrementAndGet() <= this.options.maxConnections()) {
			return null;
		}
		this.connections.decrementAndGet();
		this.warnings.log(Level.WARN, "Rejecting connections to {}: there are {}", this.localAddress,
				this.options.maxConnections());
		return "too many connections (limit " + this.options.maxConnections() + ")";
	}

	void removeConnection() {
		this.connections.decrementAndGet();
	}

	/** The request of a connection has come. */
	void requested(Responder responder) {
		if (this.silent.remove(responder)) {
			this.requested.add(responder);
		}
	}

	void removePending(Responder responder) {
		this.silent.remove(responder);
		this.requested.remove(responder);
	}

	/** Whatever fails here, or cannot be said for want of memory, ends no listener. */
	@Override
	void ready() {
		try {
			acceptAll();
		}
		catch (Throwable ex) {
			tryPause(ex);
		}
	}

	private void acceptAll() {
		for (int i = 0; i < MAX_ACCEPTS; i++) {
			SocketChannel accepted = null;
			boolean taken = false;
			try {
				accepted = this.channel.accept();
				if (accepted == null) {
					return;
				}
				taken = tryTake(accepted);
			}
			catch (IOException ex) {
				if (accepted == null) {
					pause(ex);
					return;
				}
			}
			finally {
				if (!taken) {
					closeQuietly(accepted);
				}
			}
		}
	}

	private boolean tryTake(SocketChannel accepted) throws IOException {
		if (this.requested.size() >= this.options.maxPendingHandshakes()) {
			this.warnings.log(Level.WARN, "Closed a connection to {}: {} handshakes are pending", this.localAddress,
					this.requested.size());
			return false;
		}
		if (this.requested.size() + this.silent.size() >= this.options.maxPendingHandshakes()) {
			this.silent.iterator().next().drop("made room for newer ones");
		}
		accepted.configureBlocking(false);
		Responder responder = new Responder(this, accepted);
		this.device.connectionThread().register(accepted, SelectionKey.OP_READ, responder);
		this.silent.add(responder);
		return true;
	}

	@SuppressWarnings("UnusedException") // there is no memory to tell of it
	private void tryPause(Throwable cause) {
		try {
			pause();
			this.failures.log(Level.ERROR, "Accepting connections to {} has failed", this.localAddress, cause);
		}
		catch (Throwable ex) {
			// who waits is accepted at once, or as soon as that works
		}
	}

	private void pause() {
		SelectionKey current = this.key;
		if (current != null && this.channel.isOpen()) {
			this.device.connectionThread().postpone(this, System.nanoTime() + PAUSE_NANOS);
			current.interestOps(0);
		}
	}

	private void pause(IOException cause) {
		if (!this.channel.isOpen()) {
			return;
		}
		pause();
		this.warnings.log(Level.WARN, "Cannot accept connections to {}, trying again every {} ms: {}",
				this.localAddress, TimeUnit.NANOSECONDS.toMillis(PAUSE_NANOS), cause.toString());
	}

	/** The pause is over, or begins anew if there is no memory to end it. */
	@Override
	@SuppressWarnings("UnusedException") // there is no memory to tell of it
	void timedOut() {
		SelectionKey current = this.key;
		long next = PAUSE_NANOS;
		try {
			if (current != null && current.isValid()) {
				// OP_ACCEPT is set, but not told to the selector, if telling it has
				// failed
				current.interestOps(0);
				current.interestOps(SelectionKey.OP_ACCEPT);
				next = NEVER_NANOS;
			}
		}
		catch (Throwable ex) {
			// tried again
		}
		this.device.connectionThread().postpone(this, System.nanoTime() + next);
	}

	@Override
	void failed(Throwable cause) {
		unbind();
		finish();
		for (Set<Responder> pending : List.of(this.silent, this.requested)) {
			new ArrayList<>(pending).forEach((responder) -> responder.drop("listener was closed"));
		}
	}

	private void unbind() {
		this.device.removed(this);
		if (this.channel.isOpen()) {
			this.device.rendezvous().unbind(this.localAddress.getPort(), this.channel);
		}
	}

	@Override
	public void close() {
		unbind();
		this.device.connectionThread().execute(() -> {
			if (!isFinished()) {
				failed(new VerbsException(VerbsError.CLOSED, "listener was closed"));
			}
		});
	}

}
