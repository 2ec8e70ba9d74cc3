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

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/** A peer's request; its answer is carried out on the connection thread. */
final class SharedMemoryConnectionRequest implements ConnectionRequest {

	private final Responder responder;

	private final SetupFrame frame;

	private final InetSocketAddress remote;

	private final AtomicBoolean answered = new AtomicBoolean();

	SharedMemoryConnectionRequest(Responder responder, SetupFrame frame, InetSocketAddress remote) {
		this.responder = responder;
		this.frame = frame;
		this.remote = remote;
	}

	@Override
	public InetSocketAddress remoteAddress() {
		return this.remote;
	}

	@Override
	public byte[] privateData() {
		return this.frame.privateData().clone();
	}

	@Override
	public CompletableFuture<ConnectionInfo> accept(QueuePair queuePair, ConnectOptions options) {
		if (this.answered.get()) {
			throw gone();
		}
		Lifecycle lifecycle = this.responder.claim(queuePair, options);
		if (!this.answered.compareAndSet(false, true)) {
			lifecycle.connectingFailed();
			throw gone();
		}
		CompletableFuture<ConnectionInfo> result = new CompletableFuture<>();
		this.responder.thread().execute(() -> this.responder.accept(lifecycle, options, this.frame, result));
		return result;
	}

	@Override
	public void reject(byte[] privateData) {
		if (privateData.length > ConnectOptions.MAX_PRIVATE_DATA_BYTES) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT, "private data of " + privateData.length
					+ " bytes (expected: at most " + ConnectOptions.MAX_PRIVATE_DATA_BYTES + ")");
		}
		if (!this.answered.compareAndSet(false, true)) {
			throw gone();
		}
		byte[] copy = privateData.clone();
		this.responder.thread().execute(() -> this.responder.reject(copy));
	}

	/** Takes the possibility to answer away; returns false if that was done before. */
	boolean drop() {
		return this.answered.compareAndSet(false, true);
	}

	private VerbsException gone() {
		return new VerbsException(VerbsError.INVALID_STATE,
				"connection request of " + this.remote + " was answered already or dropped");
	}

}
