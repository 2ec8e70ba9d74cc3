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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequestHandler;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * An id of the connection manager that listens.
 *
 * <p>
 * Threading: what is not part of the interface is confined to the connection thread.
 */
final class DisniListener implements ConnectionListener, IdHandler {

	private static final Logger logger = LoggerFactory.getLogger(DisniListener.class);

	private static final RateLimitedLogger handlerFailures = new RateLimitedLogger(logger);

	private static final byte[] NOTHING = new byte[0];

	private final DisniDevice device;

	private final ListenOptions options;

	private final ConnectionRequestHandler handler;

	private final Set<DisniConnectionRequest> pending = new LinkedHashSet<>();

	private final AtomicBoolean closed = new AtomicBoolean();

	private final CompletableFuture<Void> released = new CompletableFuture<>();

	private InetSocketAddress localAddress;

	private long id;

	private int connections;

	private DisniListener(DisniDevice device, InetSocketAddress address, ListenOptions options,
			ConnectionRequestHandler handler) {
		this.device = device;
		this.localAddress = address;
		this.options = options;
		this.handler = handler;
	}

	/** Starts to listen; from any thread. */
	static DisniListener open(DisniDevice device, InetSocketAddress address, ListenOptions options,
			ConnectionRequestHandler handler) {
		DisniListener listener = new DisniListener(device, address, options, handler);
		CompletableFuture<Void> opened = new CompletableFuture<>();
		device.connections().execute(() -> {
			try {
				listener.listen(address);
				opened.complete(null);
			}
			catch (Throwable ex) {
				opened.completeExceptionally(ex);
			}
		});
		try {
			device.connections().join(opened);
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof VerbsException verbs) {
				throw new VerbsException(verbs.error(), String.valueOf(verbs.getMessage()), verbs);
			}
			throw ex;
		}
		return listener;
	}

	private void listen(InetSocketAddress address) {
		ConnectionThread thread = this.device.connections();
		try {
			this.id = thread.createId(this);
			thread.verbs().bind(this.id, address);
			long adapter = thread.verbs().adapterOf(this.id);
			if (adapter > 0 && adapter != this.device.adapter().handle()) {
				throw new VerbsException(VerbsError.ADDRESS_NOT_AVAILABLE,
						address + " is not an address of " + this.device.name());
			}
			thread.verbs().listen(this.id, this.options.backlog());
			this.localAddress = thread.verbs().localAddress(this.id);
		}
		catch (IOException ex) {
			thread.closeId(this.id);
			throw ConnectionFailure.ofListening(ex, address);
		}
		catch (VerbsException ex) {
			thread.closeId(this.id);
			throw ex;
		}
	}

	@Override
	public InetSocketAddress localAddress() {
		return this.localAddress;
	}

	@Override
	public void onEvent(ConnectionEvent event) {
		if (event.type() != ConnectionEventType.CONNECT_REQUEST) {
			logger.debug("Listener on {}: {}", this.localAddress, event);
			return;
		}
		DisniConnectionRequest request = new DisniConnectionRequest(this.device, this, event);
		this.device.connections().handle(event.id(), request);
		if (this.closed.get() || this.connections >= this.options.maxConnections()
				|| this.pending.size() >= this.options.maxPendingHandshakes() || !request.isOfDevice()) {
			request.reject(NOTHING);
			return;
		}
		this.pending.add(request);
		request.expireAfter(this.options.handshakeTimeoutNanos());
		try {
			this.handler.onConnectionRequest(request);
		}
		catch (Throwable ex) {
			request.reject(NOTHING);
			handlerFailures.log(Level.ERROR, "Handler of connection requests on {} failed", this.localAddress, ex);
		}
	}

	/** A request was answered, rejected or dropped. */
	void removePending(DisniConnectionRequest request) {
		this.pending.remove(request);
	}

	/** A connection was established. */
	void addConnection() {
		this.connections++;
	}

	/** A connection is over. */
	void removeConnection() {
		this.connections--;
	}

	/** Stops listening, on the connection thread. */
	private void release() {
		try {
			Set.copyOf(this.pending).forEach(DisniConnectionRequest::drop);
		}
		finally {
			this.device.connections().closeId(this.id);
			this.released.complete(null);
		}
	}

	@Override
	public void close() {
		if (this.closed.compareAndSet(false, true)) {
			this.device.connections().execute(this::release);
			this.device.connections().join(this.released);
			this.device.removed(this);
		}
	}

}
