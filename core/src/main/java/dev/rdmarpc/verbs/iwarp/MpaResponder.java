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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import javax.net.ssl.SSLException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.SourceAddress;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrame;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

/**
 * The listening side of the MPA handshake (RFC 5044, section 7.1; RFC 6581, section 4).
 * Lives on the connection thread.
 *
 * <p>
 * While the request waits for its answer the socket is watched, because a peer may give
 * up but may not send anything before the reply.
 */
final class MpaResponder extends SocketHandler {

	private static final Logger logger = LoggerFactory.getLogger(MpaResponder.class);

	/** Made with the class: there may be no memory for a literal when it is needed. */
	private static final String FAILED = "handshake failed".intern();

	private final IwarpListener listener;

	private final ConnectionThread thread;

	private final ByteStream bytes;

	private final InetSocketAddress remote;

	private final MpaFrameReader reader = new MpaFrameReader(true);

	private @Nullable IwarpConnectionRequest request;

	private @Nullable Acceptance acceptance;

	private List<X509Certificate> peerCertificates = List.of();

	private boolean lingers;

	private long progressNanos = System.nanoTime();

	private MpaResponder(IwarpListener listener, ByteStream bytes, InetSocketAddress remote) {
		super(System.nanoTime() + listener.options().handshakeTimeoutNanos());
		this.listener = listener;
		this.thread = listener.thread();
		this.bytes = bytes;
		this.remote = remote;
	}

	/** Starts the handshake of an accepted socket. */
	static MpaResponder start(IwarpListener listener, ByteStream bytes) throws IOException {
		MpaResponder responder = new MpaResponder(listener, bytes, bytes.remoteAddress());
		responder.thread.register(bytes, SelectionKey.OP_READ, responder);
		return responder;
	}

	ConnectionThread thread() {
		return this.thread;
	}

	ConnectionLifecycle claim(QueuePair queuePair, ConnectOptions options) {
		return this.listener.claim(queuePair, options);
	}

	/** When the handshake has begun, or come further for the last time. */
	long progressNanos() {
		return this.progressNanos;
	}

	@Override
	void progressed() {
		this.progressNanos = System.nanoTime();
		this.listener.progressed(this);
	}

	InetSocketAddress remote() {
		return this.remote;
	}

	/** What is known of the peer when its request has come. */
	List<X509Certificate> peerCertificates() {
		return this.peerCertificates;
	}

	InetAddress source() {
		return SourceAddress.of(this.remote.getAddress());
	}

	/** Makes room for others, unless the request has come meanwhile. */
	void giveUp() {
		try {
			ready();
		}
		catch (IOException | VerbsException ex) {
			failed(ex);
		}
		if (this.request == null && !isFinished()) {
			this.listener.closedAtHandshake(this.remote);
			this.listener.dropped(this.remote, "its handshake was not done when there were too many");
			drop("too many handshakes");
		}
	}

	@Override
	void ready() throws IOException {
		Acceptance accepted = this.acceptance;
		if (accepted != null) {
			writeReply(accepted);
			return;
		}
		if (this.request != null) {
			int read = this.bytes.read(this.thread.buffer().limit(1));
			if (read != 0) {
				drop((read < 0) ? "peer closed before the reply" : "peer sent data before the reply");
			}
			return;
		}
		MpaFrame frame = this.reader.read(this.bytes);
		if (frame != null) {
			this.listener.requested(this);
			requested(frame);
		}
	}

	private void requested(MpaFrame frame) {
		if (frame.revision() > MpaFrameFlyweight.REVISION_2) {
			this.listener.dropped(this.remote, "MPA revision " + frame.revision());
			drop("MPA revision " + frame.revision());
			return;
		}
		if (frame.rejected() || frame.truncated()) {
			this.listener.dropped(this.remote, "malformed MPA request");
			drop("malformed MPA request");
			return;
		}
		IwarpConnectionRequest asked = new IwarpConnectionRequest(this, frame);
		this.peerCertificates = this.bytes.peerCertificates();
		String objection = this.bytes.objection();
		if (objection == null) {
			objection = frame.markers() ? "markers are not supported" : this.listener.tryAddConnection();
		}
		if (objection != null) {
			logger.debug("Rejected a connection from {}: {}", this.remote, objection);
			this.listener.dropped(this.remote, objection);
			sendReject(frame, objection.getBytes(StandardCharsets.US_ASCII));
			return;
		}
		this.request = asked; // what is counted is given back from here on
		if (!this.listener.tryHandle(asked)) {
			drop("handler failed");
		}
	}

	/** Sends the reply of a request that was accepted. */
	void accept(ConnectionLifecycle lifecycle, ConnectOptions options, MpaFrame frame,
			CompletableFuture<ConnectionInfo> result) {
		if (isFinished()) {
			lifecycle.connectingFailed();
			result.completeExceptionally(new VerbsException(VerbsError.CONNECTION_LOST,
					"connection request of " + this.remote + " is gone"));
			return;
		}
		try {
			Acceptance accepted = Acceptance.of(lifecycle, options, frame, result, this.bytes, this.remote,
					this.listener.settings());
			this.acceptance = accepted;
			this.thread.addAttempt(lifecycle.queuePair(), this);
			writeReply(accepted);
		}
		catch (Throwable ex) {
			boolean unsettled = !isFinished() && this.acceptance == null;
			try {
				failed(ex);
			}
			finally {
				if (unsettled) {
					notEstablished(lifecycle, result, ex.toString());
				}
			}
		}
	}

	private void writeReply(Acceptance accepted) throws IOException {
		this.bytes.write(accepted.reply());
		if (accepted.reply().hasRemaining()) {
			this.bytes.interest(SelectionKey.OP_WRITE);
			return;
		}
		InetSocketAddress local = this.bytes.localAddress();
		ConnectionInfo info = new ConnectionInfo(local, this.remote, accepted.parameters().readDepth(),
				accepted.parameters().responderResources(), accepted.frame().privateData(), this.peerCertificates);
		this.thread.deregister(this.bytes);
		boolean established = accepted.lifecycle()
			.established(this.bytes, accepted.parameters(), this.listener::removeConnection);
		end();
		this.thread.removeAttempt(accepted.lifecycle().queuePair());
		if (established) {
			accepted.result().complete(info);
			return;
		}
		this.listener.removeConnection();
		this.thread.linger(this.bytes, ByteBuffer.allocate(0));
		accepted.result()
			.completeExceptionally(
					new VerbsException(VerbsError.CLOSED, accepted.lifecycle() + " was closed or disconnected"));
	}

	/** Sends the reply of a request that was rejected. */
	void reject(MpaFrame frame, byte[] privateData) {
		if (!isFinished()) {
			sendReject(frame, privateData);
			this.listener.removeConnection();
		}
	}

	private void sendReject(MpaFrame frame, byte[] privateData) {
		int flags = MpaFrameFlyweight.FLAG_REJECT | (frame.flags() & MpaFrameFlyweight.FLAG_CRC);
		ByteBuffer reply = frame.enhanced() ? MpaFrameFlyweight.encodeEnhanced(false, flags, 0, 0, privateData)
				: MpaFrameFlyweight.encode(false, flags, frame.revision(), privateData);
		end();
		try {
			this.thread.deregister(this.bytes);
			this.thread.linger(this.bytes, reply);
		}
		catch (Throwable ex) {
			closeQuietly(this.bytes);
		}
	}

	private void end() {
		finish();
		this.request = null;
		this.acceptance = null;
		this.listener.removePending(this);
	}

	/** Gives the connection up. */
	void drop(String reason) {
		if (isFinished()) {
			return;
		}
		IwarpConnectionRequest asked = this.request;
		Acceptance accepted = this.acceptance;
		end();
		if (asked != null) {
			asked.drop();
			this.listener.removeConnection();
		}
		leave();
		if (accepted != null) {
			this.thread.removeAttempt(accepted.lifecycle().queuePair());
			notEstablished(accepted.lifecycle(), accepted.result(), reason);
		}
	}

	private void notEstablished(ConnectionLifecycle lifecycle, CompletableFuture<ConnectionInfo> result,
			String reason) {
		lifecycle.connectingFailed();
		result.completeExceptionally(new VerbsException(VerbsError.CONNECTION_LOST,
				"connection from " + this.remote + " was not established: " + reason));
	}

	@Override
	void timedOut() {
		IwarpConnectionRequest asked = this.request;
		if (asked != null && this.acceptance == null && asked.drop()) {
			this.listener.unanswered(this.remote);
			reject(asked.frame(), new byte[0]);
			return;
		}
		if (!isFinished()) {
			this.listener.dropped(this.remote, "its handshake was not done in time");
		}
		drop("handshake took too long");
	}

	@Override
	void failed(Throwable cause) {
		String why = FAILED;
		this.lingers = cause instanceof SSLException;
		try {
			why = cause.toString();
			if (this.lingers) {
				this.listener.insecure(this.remote, cause);
				return;
			}
			logger.debug("Handshake with {} failed: {}", this.remote, why);
			if (cause instanceof VerbsException) {
				this.listener.dropped(this.remote, String.valueOf(cause.getMessage()));
			}
		}
		finally {
			drop(why);
		}
	}

	/** Ends the stream; the peer of a TLS handshake that has failed is to see why. */
	private void leave() {
		if (!this.lingers) {
			closeQuietly(this.bytes);
			return;
		}
		try {
			this.thread.deregister(this.bytes);
			this.thread.linger(this.bytes, ByteBuffer.allocate(0));
		}
		catch (Throwable ex) {
			closeQuietly(this.bytes);
		}
	}

}
