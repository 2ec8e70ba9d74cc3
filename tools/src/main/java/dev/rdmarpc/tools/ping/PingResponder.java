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

package dev.rdmarpc.tools.ping;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsException;

/**
 * The side that is pinged, as {@code rping -s}: serves any number of initiators, each on
 * a thread of its own.
 */
final class PingResponder implements AutoCloseable {

	private static final long END_MILLIS = TimeUnit.SECONDS.toMillis(10);

	private final VerbsDevice device;

	private final boolean validate;

	private final Duration timeout;

	private final Consumer<PingOutcome> ended;

	private final Map<Thread, PingConnection> connections = new ConcurrentHashMap<>();

	private final ConnectionListener listener;

	private volatile boolean closed;

	/**
	 * Starts to listen.
	 * @param device borrowed
	 * @param address where; port 0 lets the system choose
	 * @param validate whether to compare what is read with what an initiator sends
	 * @param timeout for the set-up of a connection, and for each step of a ping
	 * @param ended told about the end of each connection, on the thread that served it
	 * @throws PingException if nobody can listen there
	 */
	PingResponder(VerbsDevice device, InetSocketAddress address, boolean validate, Duration timeout,
			Consumer<PingOutcome> ended) {
		this.device = device;
		this.validate = validate;
		this.timeout = timeout;
		this.ended = ended;
		try {
			ListenOptions usual = ListenOptions.DEFAULTS;
			ListenOptions options = new ListenOptions(usual.backlog(), usual.maxPendingHandshakes(),
					usual.maxConnections(), timeout.toNanos());
			this.listener = device.listen(address, options, this::serve);
		}
		catch (VerbsException ex) {
			throw new PingException(explain(ex, address) + " (" + ex.getMessage() + ")", ex);
		}
	}

	private static String explain(VerbsException ex, InetSocketAddress address) {
		return switch (ex.error()) {
			case ADDRESS_IN_USE -> "port " + address.getPort() + " is taken by another process";
			case ADDRESS_NOT_AVAILABLE -> address.getAddress().getHostAddress() + " is no address of the device";
			default -> "could not listen on " + PingAddress.of(address);
		};
	}

	/** The address listened on, with the real port. */
	InetSocketAddress localAddress() {
		return this.listener.localAddress();
	}

	/** Accepts at once, so that the provider's thread is free again. */
	private void serve(ConnectionRequest request) {
		InetSocketAddress peer = request.remoteAddress();
		PingConnection connection = new PingConnection(this.device, this.timeout);
		try {
			PingSession session = new PingSession(connection, this.validate);
			CompletableFuture<ConnectionInfo> accepted = request.accept(connection.queuePair(),
					ConnectOptions.DEFAULTS);
			Thread thread = new Thread(() -> {
				PingOutcome outcome = session.run(peer, accepted, this.timeout);
				connection.close();
				this.connections.remove(Thread.currentThread());
				this.ended.accept(outcome);
			}, "rdma-ping-" + peer.getPort());
			thread.setDaemon(true);
			this.connections.put(thread, connection);
			thread.start();
			if (this.closed) {
				connection.stop();
			}
		}
		catch (VerbsException ex) {
			connection.close();
			this.ended.accept(new PingOutcome(peer, 0, 0, ex.getMessage()));
		}
	}

	/** Stops listening and ends all connections. */
	@Override
	public void close() {
		this.closed = true;
		this.listener.close();
		this.connections.forEach((thread, connection) -> {
			connection.stop();
			try {
				thread.join(END_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
	}

}
