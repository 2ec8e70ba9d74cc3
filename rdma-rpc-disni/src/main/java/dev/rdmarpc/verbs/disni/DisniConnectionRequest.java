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
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.support.LimitChecks;

/**
 * A peer's request for a connection, and, once accepted, its way to being established.
 *
 * <p>
 * Threading: the request is claimed once, by whoever answers or drops it; everything that
 * follows happens on the connection thread.
 */
final class DisniConnectionRequest implements ConnectionRequest, IdHandler {

	private static final Logger logger = LoggerFactory.getLogger(DisniConnectionRequest.class);

	private final VerbsDevice device;

	private final DisniConnectionThread thread;

	private final DisniListener listener;

	private final long id;

	private final byte[] privateData;

	private final int peerReadDepth;

	private final int peerResponderResources;

	private final InetSocketAddress remoteAddress;

	private final CompletableFuture<ConnectionInfo> result = new CompletableFuture<>();

	private boolean claimed;

	private DisniConnectionThread.@Nullable Deadline deadline;

	private @Nullable DisniQueuePair queuePair;

	private @Nullable ConnectOptions options;

	DisniConnectionRequest(VerbsDevice device, DisniConnectionThread thread, DisniListener listener,
			ConnectionEvent event) {
		this.device = device;
		this.thread = thread;
		this.listener = listener;
		this.id = event.id();
		this.privateData = thread.adapter().attributes().privateDataOf(event);
		this.peerReadDepth = event.responderResources();
		this.peerResponderResources = event.initiatorDepth();
		this.remoteAddress = addressOrNone(thread, event.id());
	}

	private static InetSocketAddress addressOrNone(DisniConnectionThread thread, long id) {
		try {
			return thread.verbs().remoteAddress(id);
		}
		catch (IOException ex) {
			logger.debug("Peer's address is unknown", ex);
			return new InetSocketAddress(0);
		}
	}

	/** Whether it came through the device whose listener it is. */
	boolean isOfDevice() {
		try {
			return this.thread.verbs().adapterOf(this.id) == this.thread.adapter().handle();
		}
		catch (IOException ex) {
			logger.debug("Adapter of a request is unknown", ex);
			return false;
		}
	}

	/** Drops the request if nobody answers it, or if it is not established, in time. */
	void expireAfter(long timeoutNanos) {
		this.deadline = this.thread.schedule(timeoutNanos, this::expired);
	}

	@Override
	public InetSocketAddress remoteAddress() {
		return this.remoteAddress;
	}

	@Override
	public byte[] privateData() {
		return this.privateData.clone();
	}

	@Override
	public CompletableFuture<ConnectionInfo> accept(QueuePair accepting, ConnectOptions acceptOptions) {
		DisniQueuePair own = DisniQueuePair.of(this.device, accepting);
		LimitChecks.checkReadDepths(this.device.limits(), acceptOptions);
		synchronized (this) {
			if (this.claimed) {
				throw new VerbsException(VerbsError.INVALID_STATE,
						"request of " + this.remoteAddress + " was answered or dropped already");
			}
			own.connection()
				.begin(() -> fail(
						new VerbsException(VerbsError.CLOSED, own + " was closed or disconnected while connecting")));
			this.claimed = true;
			this.queuePair = own;
			this.options = acceptOptions;
		}
		this.thread.execute(() -> accept(own, acceptOptions));
		return this.result;
	}

	private void accept(DisniQueuePair own, ConnectOptions acceptOptions) {
		if (this.result.isDone()) {
			return;
		}
		try {
			if (own.connection().open(this.id)) {
				ConnectionVerbs.ConnectionParameters parameters = new ConnectionVerbs.ConnectionParameters(
						acceptOptions.privateData(), responderResources(acceptOptions), readDepth(acceptOptions));
				this.thread.verbs().accept(this.id, parameters);
			}
		}
		catch (Throwable ex) {
			fail(ConnectionFailure.of(ex, this.remoteAddress));
		}
	}

	private int readDepth(ConnectOptions own) {
		return ConnectAttempt.lesser(own.readDepth(), this.peerResponderResources);
	}

	private int responderResources(ConnectOptions own) {
		return ConnectAttempt.lesser(own.responderResources(), this.peerReadDepth);
	}

	@Override
	public void onEvent(ConnectionEvent event) {
		switch (event.type()) {
			case ESTABLISHED -> established();
			case CONNECT_ERROR, UNREACHABLE, REJECTED, DISCONNECTED, DEVICE_REMOVAL -> {
				if (claim()) {
					release();
				}
				else {
					fail(ConnectionFailure.of(event, this.remoteAddress));
				}
			}
			default -> logger.debug("Request of {}: {}", this.remoteAddress, event);
		}
	}

	private void established() {
		DisniQueuePair own = this.queuePair;
		ConnectOptions agreed = this.options;
		if (own == null || agreed == null || this.result.isDone()) {
			return;
		}
		try {
			ConnectionInfo info = new ConnectionInfo(this.thread.verbs().localAddress(this.id), this.remoteAddress,
					readDepth(agreed), responderResources(agreed), this.privateData);
			if (own.connection().established(this.id, this.listener::removeConnection)) {
				endWaiting();
				this.listener.addConnection();
				this.result.complete(info);
			}
		}
		catch (Throwable ex) {
			fail(ConnectionFailure.of(ex, this.remoteAddress));
		}
	}

	@Override
	public void reject(byte[] reason) {
		if (reason.length > ConnectOptions.MAX_PRIVATE_DATA_BYTES) {
			throw new IllegalArgumentException("private data of " + reason.length + " bytes (expected: at most "
					+ ConnectOptions.MAX_PRIVATE_DATA_BYTES + ")");
		}
		if (claim()) {
			byte[] copy = reason.clone();
			this.thread.execute(() -> {
				try {
					this.thread.verbs().reject(this.id, copy);
				}
				catch (IOException ex) {
					logger.debug("Request of {} could not be rejected", this.remoteAddress, ex);
				}
				release();
			});
		}
	}

	/** Forgets the request, if it is unanswered. On the connection thread. */
	void drop() {
		if (claim()) {
			release();
		}
	}

	private void expired() {
		if (claim()) {
			release();
		}
		else {
			fail(new VerbsException(VerbsError.TIMED_OUT, this.remoteAddress + " did not finish the set-up in time"));
		}
	}

	private synchronized boolean claim() {
		boolean first = !this.claimed;
		this.claimed = true;
		return first;
	}

	private void fail(VerbsException failure) {
		DisniQueuePair own = this.queuePair;
		if (own == null || this.result.isDone()) {
			return;
		}
		own.connection().attemptFailed(true);
		release();
		this.result.completeExceptionally(failure);
	}

	private void release() {
		endWaiting();
		this.thread.closeId(this.id);
	}

	private void endWaiting() {
		this.listener.removePending(this);
		if (this.deadline != null) {
			this.deadline.cancel();
		}
	}

}
