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
import java.util.function.Consumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequestHandler;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.VerbsDevice;
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

	private final VerbsDevice device;

	private final DisniConnectionThread thread;

	private final ListenOptions options;

	private final ConnectionRequestHandler handler;

	private final Consumer<DisniListener> whenClosed;

	private final Set<DisniConnectionRequest> pending = new LinkedHashSet<>();

	private final AtomicBoolean closed = new AtomicBoolean();

	private final CompletableFuture<Void> released = new CompletableFuture<>();

	private InetSocketAddress localAddress;

	private long id;

	private int connections;

	private DisniListener(VerbsDevice device, DisniConnectionThread thread, InetSocketAddress address,
			ListenOptions options, ConnectionRequestHandler handler, Consumer<DisniListener> whenClosed) {
		this.device = device;
		this.thread = thread;
		this.localAddress = address;
		this.options = options;
		this.handler = handler;
		this.whenClosed = whenClosed;
	}

	/** Starts to listen; from any thread. */
	static DisniListener open(VerbsDevice device, DisniConnectionThread thread, InetSocketAddress address,
			ListenOptions options, ConnectionRequestHandler handler, Consumer<DisniListener> whenClosed) {
		if (address.isUnresolved()) {
			throw new VerbsException(VerbsError.ADDRESS_NOT_AVAILABLE, address + " is not resolved");
		}
		DisniListener listener = new DisniListener(device, thread, address, options, handler, whenClosed);
		CompletableFuture<Void> opened = new CompletableFuture<>();
		thread.execute(() -> {
			try {
				listener.listen(address);
				opened.complete(null);
			}
			catch (Throwable ex) {
				opened.completeExceptionally(ex);
			}
		});
		try {
			thread.join(opened);
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
		boolean listening = false;
		try {
			this.id = this.thread.createId(this);
			this.thread.verbs().bind(this.id, address);
			long adapter = this.thread.verbs().adapterOf(this.id);
			if (adapter > 0 && adapter != this.thread.adapter().handle()) {
				throw new VerbsException(VerbsError.ADDRESS_NOT_AVAILABLE,
						address + " is not an address of " + this.thread.adapter().name());
			}
			this.thread.verbs().listen(this.id, this.options.backlog());
			this.localAddress = this.thread.verbs().localAddress(this.id);
			listening = true;
		}
		catch (IOException ex) {
			throw ConnectionFailure.ofListening(ex, address);
		}
		finally {
			if (!listening) {
				this.thread.closeId(this.id);
			}
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
		DisniConnectionRequest request = new DisniConnectionRequest(this.device, this.thread, this, event);
		this.thread.handle(event.id(), request);
		if (this.closed.get() || this.connections >= this.options.maxConnections()
				|| this.pending.size() >= this.options.maxPendingHandshakes() || !request.isOfDevice()) {
			request.reject(NOTHING);
			return;
		}
		try {
			this.pending.add(request);
			request.expireAfter(this.options.handshakeTimeoutNanos());
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
			this.thread.closeId(this.id);
			this.released.complete(null);
		}
	}

	@Override
	public void close() {
		if (this.closed.compareAndSet(false, true)) {
			this.thread.execute(this::release);
			this.thread.join(this.released);
			this.whenClosed.accept(this);
		}
	}

}
