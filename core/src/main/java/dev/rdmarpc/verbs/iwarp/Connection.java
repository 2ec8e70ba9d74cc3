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

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;

import javax.crypto.BadPaddingException;
import javax.net.ssl.SSLException;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.rdmap.ProtocolViolation;
import dev.rdmarpc.verbs.iwarp.rdmap.RdmapStream;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.support.EngineConnection;
import dev.rdmarpc.verbs.support.PostedReceive;

/**
 * The established stream of a queue pair: its bytes, both halves, and how it ends.
 * Guarded by the reactor's lock.
 *
 * <p>
 * However a stream ends, the socket goes to the connection thread, which writes what is
 * left, half-closes and reads until the peer has closed too. A socket closed with unread
 * bytes would reset the connection and could take the Terminate with it.
 */
final class Connection implements EngineConnection {

	private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

	private final ConnectionLifecycle lifecycle;

	private final Reactor reactor;

	private final ByteStream bytes;

	private final RdmapStream stream;

	private final FrameDeadline frameDeadline;

	private int idleReads;

	private int interest = SelectionKey.OP_READ;

	/** What the peer is told at the end. */
	private ByteBuffer lastWords = NOTHING;

	private boolean closed;

	private boolean left;

	/** Made with {@link ConnectionLifecycle#newConnection} only. */
	Connection(ConnectionLifecycle lifecycle, Reactor reactor, ByteStream bytes, RdmapStream stream,
			Duration frameTimeout) {
		this.lifecycle = lifecycle;
		this.reactor = reactor;
		this.bytes = bytes;
		this.stream = stream;
		this.frameDeadline = new FrameDeadline(this, stream, frameTimeout);
	}

	@Override
	public ConnectionLifecycle lifecycle() {
		return this.lifecycle;
	}

	RdmapStream stream() {
		return this.stream;
	}

	boolean isClosed() {
		return this.closed;
	}

	/** Whether what has come ends with something whole. */
	boolean isAtBoundary() {
		return this.stream.isAtBoundary() && !this.bytes.awaitsRest();
	}

	/** Whether the rest of something that has begun is all that is waited for. */
	boolean awaitsRest() {
		return this.stream.awaitsRest() || (this.stream.isAtBoundary() && this.bytes.awaitsRest());
	}

	@Override
	public void watch(Selector selector) throws IOException {
		this.bytes.watch(selector, SelectionKey.OP_READ, this);
	}

	@Override
	public void ready() {
		this.lifecycle.advance();
	}

	@Override
	public boolean isIdle() {
		return this.stream.isIdle();
	}

	@Override
	public @Nullable PostedReceive unfinishedReceive() {
		return this.stream.unfinishedReceive();
	}

	/** Whether there is something to receive of which the selector says nothing. */
	@Override
	public boolean isStalled() {
		return this.stream.isStalled() || (this.bytes.holdsBytes() && this.stream.wantsToReceive());
	}

	/** How many reads in a row found nothing. */
	int idleReads() {
		return this.idleReads;
	}

	/** Receives what is there and sends what can be sent. */
	void advance() {
		if (this.closed) {
			return;
		}
		boolean yields = false;
		try {
			if (this.stream.receive()) {
				moved();
			}
			else {
				this.idleReads++;
			}
			if (!isAtBoundary() && this.frameDeadline.begin()) {
				this.reactor.addFrame(this.frameDeadline);
			}
			yields = this.stream.yields();
		}
		catch (Throwable ex) {
			fail(ex);
		}
		flush(yields);
	}

	/** Sends what can be sent. */
	void flush() {
		flush(false);
	}

	/**
	 * Sends what can be sent, or sees to it that this is done with the next step.
	 */
	private void flush(boolean later) {
		if (this.closed) {
			return;
		}
		try {
			if (!later && this.stream.send()) {
				moved();
			}
			updateInterest();
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	private void moved() {
		this.idleReads = 0;
		this.reactor.moved();
	}

	private void updateInterest() {
		int interest = (this.stream.wantsToReceive() ? SelectionKey.OP_READ : 0)
				| (this.stream.wantsToSend() ? SelectionKey.OP_WRITE : 0);
		if (interest != this.interest) {
			this.interest = interest;
			this.bytes.interest(interest);
			this.reactor.interestChanged();
		}
	}

	private void fail(Throwable ex) {
		if (ex instanceof ProtocolViolation violation) {
			terminate(violation);
		}
		else if (ex instanceof EOFException) {
			endOfStream(String.valueOf(ex.getMessage()));
		}
		else if (ex instanceof SSLException tls && isByPeer(tls)) {
			this.lifecycle.enterError(new QueuePairFault(WorkStatus.REMOTE_INVALID_REQUEST, Origin.LOCAL,
					"TLS has failed: " + ex.getMessage()), null);
		}
		else if (ex instanceof IOException io) {
			this.lifecycle.lost(io, this.stream.hasLostMemory());
		}
		else {
			this.reactor.unexpected(this.lifecycle, ex);
			terminate(
					ProtocolViolation.ofStream(TerminateError.RDMAP_CATASTROPHIC_STREAM, "unexpected failure: " + ex));
		}
	}

	/**
	 * Whether the peer has broken TLS. What was changed on its way need not be its work,
	 * and what this side cannot encrypt is not.
	 */
	private boolean isByPeer(SSLException ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause instanceof BadPaddingException) {
				return false;
			}
		}
		return !this.stream.hasLostMemory();
	}

	private void endOfStream(String detail) {
		boolean orderly = this.stream.isAtBoundary();
		WorkStatus status = orderly ? WorkStatus.FLUSHED : WorkStatus.CONNECTION_LOST;
		QueuePairFault fault = new QueuePairFault(status, orderly ? Origin.DISCONNECT : Origin.LOCAL, detail);
		this.lifecycle.enterError(fault, null);
	}

	/** Ends the stream because of what the peer has not done; throws nothing. */
	void end(ProtocolViolation violation) {
		try {
			terminate(violation);
		}
		catch (Throwable ex) {
			this.lifecycle.failed(ex);
		}
	}

	/** Ends the stream because of the peer's or this side's own fault, and says so. */
	void terminate(ProtocolViolation violation) {
		this.lastWords = this.stream.lastWords(violation);
		String detail = violation.getMessage() + ": sent terminate " + TerminateError
			.describe(violation.error().layer(), violation.error().type(), violation.error().code());
		this.lifecycle.enterError(new QueuePairFault(violation.faultStatus(), Origin.LOCAL, detail),
				violation.receiveStatus());
	}

	/**
	 * Leaves the selector; the socket is the connection thread's from here on. What has
	 * failed is done by being called again.
	 */
	void close() {
		if (this.left) {
			return;
		}
		this.closed = true;
		this.stream.close();
		this.reactor.unwatch(this.bytes);
		this.lifecycle.linger(this.bytes, this.lastWords);
		this.left = true;
	}

}
