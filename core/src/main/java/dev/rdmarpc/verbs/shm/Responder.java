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
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.shm.Connection.EstablishedPeer;
import dev.rdmarpc.verbs.shm.ring.RingDescriptor;

/**
 * The listening side of a set-up, on the connection thread: waits for the request, has it
 * answered, creates the memory, and waits until the peer has mapped it.
 */
final class Responder extends SetupHandler {

	private static final Logger logger = LoggerFactory.getLogger(Responder.class);

	private final SharedMemoryListener listener;

	private final SocketChannel socket;

	private final ByteBuffer frame = ByteBuffer.allocate(SetupFrame.BYTES);

	private @Nullable SharedMemoryConnectionRequest request;

	private @Nullable Acceptance acceptance;

	Responder(SharedMemoryListener listener, SocketChannel socket) {
		super(System.nanoTime() + listener.options().handshakeTimeoutNanos());
		this.listener = listener;
		this.socket = socket;
	}

	ConnectionThread thread() {
		return this.listener.device().connectionThread();
	}

	@Override
	void ready() throws IOException {
		Acceptance accepted = this.acceptance;
		if (accepted != null) {
			ByteBuffer ready = ByteBuffer.allocate(1);
			int read = this.socket.read(ready);
			if (read < 0) {
				throw new IOException("peer has closed its socket");
			}
			if (read > 0) {
				established(accepted);
			}
			return;
		}
		if (!this.frame.hasRemaining()) {
			if (this.socket.read(ByteBuffer.allocate(1)) != 0) {
				throw new IOException("peer has gone, or sends before it was answered");
			}
			return;
		}
		if (this.socket.read(this.frame) < 0) {
			throw new IOException("peer has closed its socket");
		}
		if (!this.frame.hasRemaining()) {
			requested(SetupFrame.read(this.frame));
		}
	}

	private void requested(SetupFrame asked) throws IOException {
		if (asked.kind() != SetupFrame.Kind.REQUEST) {
			throw new VerbsException(VerbsError.PROTOCOL_ERROR, "peer sends no request");
		}
		SharedMemoryConnectionRequest created = new SharedMemoryConnectionRequest(this, asked,
				this.listener.remoteAddress(asked.number()));
		String refusal = this.listener.listensAt(asked.name()) ? this.listener.tryAddConnection()
				: "nobody listens at that address";
		if (refusal != null) {
			byte[] reason = refusal.getBytes(StandardCharsets.US_ASCII);
			writeRejection(reason);
			end();
			closeQuietly(this.socket);
			return;
		}
		this.request = created; // what is counted is given back from here on
		this.listener.requested(this);
		if (!this.listener.tryHandle(created) && created.drop()) {
			drop("handler failed");
		}
	}

	/** Claims a queue pair for the connection; from any thread. */
	Lifecycle claim(QueuePair queuePair, ConnectOptions options) {
		return this.listener.device().claim(queuePair, options);
	}

	/** Accepts the request; on the thread. */
	void accept(Lifecycle lifecycle, ConnectOptions options, SetupFrame asked,
			CompletableFuture<ConnectionInfo> result) {
		int readDepth = Math.min(options.readDepth(), asked.responderResources());
		int responderResources = Math.min(options.responderResources(), asked.readDepth());
		Rendezvous rendezvous = this.listener.device().rendezvous();
		int ringBytes = rendezvous.ringBytes(this.listener.device().options().ringBytes());
		Path path = rendezvous.newFile(this.listener.localAddress().getPort());
		String name = path.getFileName().toString();
		FileChannel file = null;
		try {
			if (isFinished()) {
				throw new IOException("peer has gone");
			}
			this.thread().addAttempt(lifecycle.queuePair(), this);
			long bytes = RingDescriptor.totalBytes(ringBytes);
			file = rendezvous.create(path, bytes);
			ByteBuffer memory = file.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
			EstablishedPeer peer = new EstablishedPeer(this.socket, file, memory, ringBytes, 0, readDepth,
					responderResources, this.listener.device().trusted(), this::sweepLater);
			this.acceptance = new Acceptance(lifecycle, result, peer, asked.privateData(), name);
			peer.announce(lifecycle.queuePair());
			new SetupFrame(SetupFrame.Kind.ACCEPTANCE, readDepth, responderResources, ringBytes, options.privateData(),
					name)
				.write(this.socket);
		}
		catch (IOException | VerbsException ex) {
			if (this.acceptance == null) {
				closeQuietly(file);
				rendezvous.removeConnection(name);
				notAccepted(lifecycle, result, ex);
			}
			failed(ex);
		}
	}

	/** The peer was killed, perhaps; what it has left is removed without haste. */
	private void sweepLater(boolean lastReader) {
		if (lastReader) {
			thread().execute(() -> OwnFiles.sweep(this.listener.device().rendezvous()));
		}
	}

	private void notAccepted(Lifecycle lifecycle, CompletableFuture<ConnectionInfo> result, Throwable cause) {
		this.thread().removeAttempt(lifecycle.queuePair());
		lifecycle.connectingFailed();
		result.completeExceptionally((cause instanceof VerbsException) ? cause
				: new VerbsException(VerbsError.CONNECTION_LOST, "peer was lost during set-up: " + cause, cause));
	}

	private void established(Acceptance accepted) throws IOException {
		this.thread().deregister(this.socket);
		this.listener.device().rendezvous().removeConnection(accepted.fileName());
		if (!accepted.lifecycle().established(accepted.peer(), this.listener::removeConnection)) {
			throw new VerbsException(VerbsError.CLOSED, accepted.lifecycle() + " was closed or disconnected");
		}
		SharedMemoryConnectionRequest asked = this.request;
		end();
		this.thread().removeAttempt(accepted.lifecycle().queuePair());
		InetSocketAddress remote = (asked != null) ? asked.remoteAddress() : this.listener.localAddress();
		EstablishedPeer peer = accepted.peer();
		accepted.result()
			.complete(new ConnectionInfo(this.listener.localAddress(), remote, peer.readDepth(),
					peer.responderResources(), accepted.privateData()));
	}

	/** Rejects the request; on the thread. */
	void reject(byte[] reason) {
		if (isFinished()) {
			return;
		}
		try {
			writeRejection(reason);
		}
		catch (IOException ex) {
			logger.debug("Peer has not waited for its rejection", ex);
		}
		leave();
	}

	private void writeRejection(byte[] reason) throws IOException {
		new SetupFrame(SetupFrame.Kind.REJECTION, 0, 0, 0, reason, "").write(this.socket);
	}

	/** Closes the connection because it is not wanted any more. */
	void drop(String reason) {
		failed(new VerbsException(VerbsError.CONNECTION_LOST, "connection was dropped: " + reason));
	}

	private void end() {
		finish();
		this.request = null;
		this.acceptance = null;
		this.listener.removePending(this);
	}

	private void leave() {
		boolean counted = this.request != null;
		end();
		if (counted) {
			this.listener.removeConnection();
		}
		closeQuietly(this.socket);
	}

	@Override
	void timedOut() {
		SharedMemoryConnectionRequest asked = this.request;
		if (asked != null && this.acceptance == null) {
			this.listener.unanswered(asked.remoteAddress());
		}
		failed(new VerbsException(VerbsError.TIMED_OUT, "set-up was not over in time"));
	}

	@Override
	void failed(Throwable cause) {
		if (isFinished()) {
			return;
		}
		SharedMemoryConnectionRequest asked = this.request;
		Acceptance accepted = this.acceptance;
		try {
			if (asked != null) {
				asked.drop();
			}
		}
		finally {
			leave();
			if (accepted != null) {
				closeQuietly(accepted.peer().file());
				this.listener.device().rendezvous().removeConnection(accepted.fileName());
				notAccepted(accepted.lifecycle(), accepted.result(), cause);
			}
		}
	}

	/** What was accepted, while the peer maps the memory. */
	private record Acceptance(Lifecycle lifecycle, CompletableFuture<ConnectionInfo> result, EstablishedPeer peer,
			byte[] privateData, String fileName) {

	}

}
