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
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequestHandler;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * A listening socket on the connection thread. Half-open connections make room for newer
 * ones ({@link HalfOpenHandshakes}); established connections are counted until they end.
 *
 * <p>
 * When the system has no descriptor for another connection, those that are closing and
 * the half-open ones are given up for it. When there are none left, the listener accepts
 * nothing for a moment; who connects meanwhile waits in the backlog.
 */
final class IwarpListener extends SocketHandler implements ConnectionListener {

	private static final Logger logger = LoggerFactory.getLogger(IwarpListener.class);

	private static final int MAX_ACCEPTS = 64;

	private static final long NEVER_NANOS = Long.MAX_VALUE / 2;

	/** How long nothing is accepted after the system has refused to. */
	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/** How long nothing is accepted while many handshakes come further. */
	private static final long MANY_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	private final ConnectionThread thread;

	private final IwarpOptions settings;

	private final ServerSocketChannel channel;

	private final InetSocketAddress localAddress;

	private final ListenOptions options;

	private final ConnectionRequestHandler handler;

	private final BiFunction<QueuePair, ConnectOptions, ConnectionLifecycle> claim;

	private final Set<MpaResponder> pending = new HashSet<>();

	private final HalfOpenHandshakes halfOpen;

	private final AtomicInteger connections = new AtomicInteger();

	private final RateLimitedLogger full = new RateLimitedLogger(logger);

	private final RateLimitedLogger manyHandshakes = new RateLimitedLogger(logger);

	private final RateLimitedLogger pauses = new RateLimitedLogger(logger);

	private final RateLimitedLogger handlerFailures = new RateLimitedLogger(logger);

	private final RateLimitedLogger unanswered = new RateLimitedLogger(logger);

	private final RateLimitedLogger insecure = new RateLimitedLogger(logger);

	private @Nullable SelectionKey key;

	private IwarpListener(ConnectionThread thread, IwarpOptions settings, ServerSocketChannel channel,
			InetSocketAddress localAddress, ListenOptions options, ConnectionRequestHandler handler,
			BiFunction<QueuePair, ConnectOptions, ConnectionLifecycle> claim) {
		super(System.nanoTime() + NEVER_NANOS);
		this.thread = thread;
		this.settings = settings;
		this.channel = channel;
		this.localAddress = localAddress;
		this.options = options;
		this.handler = handler;
		this.claim = claim;
		this.halfOpen = new HalfOpenHandshakes(options.maxPendingHandshakes(), options.tls() != null);
	}

	/**
	 * Binds and starts to listen; from any thread.
	 * @param claim claims a queue pair for a connection
	 */
	static IwarpListener open(ConnectionThread thread, IwarpOptions settings, InetSocketAddress address,
			ListenOptions options, ConnectionRequestHandler handler,
			BiFunction<QueuePair, ConnectOptions, ConnectionLifecycle> claim) {
		if (address.isUnresolved()) {
			throw new VerbsException(VerbsError.ADDRESS_NOT_AVAILABLE, address + " is not resolved");
		}
		thread.start();
		ServerSocketChannel channel = bind(settings, address, options);
		boolean listens = false;
		try {
			IwarpListener listener = new IwarpListener(thread, settings, channel,
					(InetSocketAddress) channel.getLocalAddress(), options, handler, claim);
			thread.execute(listener::start);
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

	private static ServerSocketChannel bind(IwarpOptions settings, InetSocketAddress address, ListenOptions options) {
		ServerSocketChannel channel = null;
		try {
			channel = ServerSocketChannel.open();
			channel.configureBlocking(false);
			channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
			if (settings.receiveBufferBytes() > 0) {
				channel.setOption(StandardSocketOptions.SO_RCVBUF, settings.receiveBufferBytes());
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

	private void start() {
		if (isFinished()) {
			return;
		}
		try {
			this.key = this.thread.register(this.channel, SelectionKey.OP_ACCEPT, this);
		}
		catch (IOException ex) {
			failed(ex);
		}
	}

	ConnectionThread thread() {
		return this.thread;
	}

	IwarpOptions settings() {
		return this.settings;
	}

	ConnectionLifecycle claim(QueuePair queuePair, ConnectOptions connectOptions) {
		return this.claim.apply(queuePair, connectOptions);
	}

	ListenOptions options() {
		return this.options;
	}

	/** Hands a request to whoever listens; returns false if that has failed. */
	boolean tryHandle(IwarpConnectionRequest request) {
		try {
			this.handler.onConnectionRequest(request);
			return true;
		}
		catch (Throwable ex) {
			this.handlerFailures.log(Level.ERROR, "Handler of connections to {} failed", this.localAddress, ex);
			return false;
		}
	}

	/** A request has not been answered in time. */
	void unanswered(InetSocketAddress remote) {
		this.unanswered.log(Level.WARN, "Connection request from {} was not answered in time", remote);
	}

	/** A TLS handshake has failed. */
	void insecure(InetSocketAddress remote, Throwable cause) {
		this.insecure.log(Level.WARN, "TLS with {} failed: {}", remote, cause.getMessage());
		dropped(remote, "TLS failed: " + cause.getMessage());
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
		this.full.log(Level.WARN, "Rejecting connections to {}: there are {}", this.localAddress,
				this.options.maxConnections());
		return "too many connections (limit " + this.options.maxConnections() + ")";
	}

	void removeConnection() {
		this.connections.decrementAndGet();
	}

	/** A connection is closed because there are too many handshakes. */
	void closedAtHandshake(InetSocketAddress remote) {
		this.manyHandshakes.log(Level.WARN, "Closed a connection from {} to {}: {} handshakes are pending", remote,
				this.localAddress, this.pending.size());
	}

	/**
	 * A connection is closed before it was one, because of what the peer has done or not.
	 */
	void dropped(InetSocketAddress remote, String why) {
		BiConsumer<InetSocketAddress, String> listening = this.options.dropped();
		if (listening != null) {
			listening.accept(remote, why);
		}
	}

	/** The request of a handshake has come. */
	void requested(MpaResponder responder) {
		this.halfOpen.remove(responder);
	}

	/** A handshake has come further. */
	void progressed(MpaResponder responder) {
		this.halfOpen.progressed(responder);
	}

	void removePending(MpaResponder responder) {
		this.halfOpen.remove(responder);
		this.pending.remove(responder);
	}

	@Override
	public InetSocketAddress localAddress() {
		return this.localAddress;
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
			if (this.options.tls() != null
					&& this.halfOpen.areMany(System.nanoTime() - this.options.handshakeTimeoutNanos() / 2)) {
				pause(MANY_PAUSE_NANOS);
				return;
			}
			try {
				TcpStream accepted = TcpStream.accept(this.channel);
				if (accepted == null) {
					return;
				}
				accept(accepted);
			}
			catch (Throwable ex) {
				if (!this.channel.isOpen()) {
					return;
				}
				if (!tryMakeRoom()) {
					pause(ex);
					return;
				}
			}
		}
	}

	private boolean tryMakeRoom() {
		try {
			if (!this.thread.tryEndLingering() && !this.halfOpen.tryGiveUpOldest()) {
				return false;
			}
			this.thread.releaseClosed();
			return true;
		}
		catch (Throwable ex) {
			return false;
		}
	}

	private void pause(Throwable cause) {
		pause(PAUSE_NANOS);
		this.pauses.log(Level.WARN, "Cannot accept connections to {}, trying again every {} ms: {}", this.localAddress,
				TimeUnit.NANOSECONDS.toMillis(PAUSE_NANOS), cause.toString());
	}

	private void pause(long nanos) {
		SelectionKey current = this.key;
		if (current != null) {
			this.thread.postpone(this, System.nanoTime() + nanos);
			current.interestOps(0);
		}
	}

	@SuppressWarnings("UnusedException") // there is no memory to tell of it
	private void tryPause(Throwable cause) {
		try {
			pause(PAUSE_NANOS);
			this.pauses.log(Level.ERROR, "Accepting connections to {} has failed", this.localAddress, cause);
		}
		catch (Throwable ex) {
			// who waits is accepted at once, or as soon as that works
		}
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
		this.thread.postpone(this, System.nanoTime() + next);
	}

	private void accept(TcpStream accepted) {
		MpaResponder responder = null;
		if (this.pending.size() - this.halfOpen.size() >= this.options.maxPendingHandshakes()) {
			refuse(accepted);
			return;
		}
		try {
			if (!isAdmitted(accepted)) {
				closeQuietly(accepted);
				return;
			}
			accepted.prepare(this.settings);
			responder = MpaResponder.start(this,
					TlsEngines.secured(this.thread.layered(accepted), this.options.tls(), this.thread));
			this.pending.add(responder);
			this.halfOpen.add(responder, this.pending.size() - 1 - this.halfOpen.size());
		}
		catch (Throwable ex) {
			logger.debug("Connection was lost as it was accepted", ex);
			if (responder != null) {
				responder.drop("not accepted");
			}
			else {
				closeQuietly(accepted);
			}
		}
	}

	private void refuse(TcpStream accepted) {
		try {
			InetSocketAddress remote = accepted.remoteAddress();
			closedAtHandshake(remote);
			dropped(remote, "too many handshakes");
		}
		catch (IOException ex) {
			logger.debug("Connection was lost as it was accepted", ex);
		}
		finally {
			closeQuietly(accepted);
		}
	}

	/** Whether a handshake of TLS may begin. */
	private boolean isAdmitted(TcpStream accepted) throws IOException {
		Predicate<InetSocketAddress> admission = this.options.admission();
		return this.options.tls() == null || admission == null || admission.test(accepted.remoteAddress());
	}

	@Override
	void failed(Throwable cause) {
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
		this.thread.executeToClose(this::closeHere);
	}

}
