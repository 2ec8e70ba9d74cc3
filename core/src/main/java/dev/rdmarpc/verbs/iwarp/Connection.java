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
import java.nio.channels.SocketChannel;

import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.ReadyToReceive;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.iwarp.wire.TerminateFrame;

/**
 * The established stream of a queue pair: socket, both halves, and how it ends. Guarded
 * by the reactor's lock.
 *
 * <p>
 * However a stream ends, the socket goes to the connection thread, which writes what is
 * left, half-closes and reads until the peer has closed too. A socket closed with unread
 * bytes would reset the connection and could take the Terminate with it.
 */
final class Connection {

	private final IwarpQueuePair queuePair;

	private final SocketChannel channel;

	private final ConnectionParameters parameters;

	private final ReadRequester requester;

	private final ReadResponder responder;

	private final SendReceiver sends;

	private final InboundStream inbound;

	private final OutboundStream outbound;

	private final SelectionKey key;

	private final FrameDeadline frameDeadline;

	private int idleReads;

	private int interest = SelectionKey.OP_READ;

	private boolean closed;

	private boolean left;

	/** Made with {@link Reactor#register} only. */
	Connection(IwarpQueuePair queuePair, SocketChannel channel, ConnectionParameters parameters, SelectionKey key) {
		this.queuePair = queuePair;
		this.channel = channel;
		this.parameters = parameters;
		this.key = key;
		Placement placement = new Placement(queuePair.maxReceiveSegments() + 1);
		this.sends = new SendReceiver(queuePair, queuePair.receiveSource(), queuePair.maxReceiveSegments(), placement,
				!parameters.initiator() && parameters.readyToReceive() == ReadyToReceive.SEND);
		this.requester = new ReadRequester(queuePair, parameters.readDepth(), placement, queuePair.reactor().random());
		this.responder = new ReadResponder(queuePair, parameters.responderResources());
		this.outbound = new OutboundStream(this, this.requester, this.responder);
		this.inbound = new InboundStream(this,
				new InboundDispatcher(this.sends, new WriteReceiver(queuePair, placement), this.requester,
						this.responder, new TerminateReceiver(queuePair, this.requester), placement),
				this.requester, this.responder);
		this.frameDeadline = new FrameDeadline(this, this.inbound, queuePair.device().options().frameTimeout());
	}

	IwarpQueuePair queuePair() {
		return this.queuePair;
	}

	SocketChannel channel() {
		return this.channel;
	}

	ConnectionParameters parameters() {
		return this.parameters;
	}

	OutboundStream outbound() {
		return this.outbound;
	}

	SelectionKey key() {
		return this.key;
	}

	boolean isClosed() {
		return this.closed;
	}

	/** How many reads in a row found nothing. */
	int idleReads() {
		return this.idleReads;
	}

	/** Whether complete frames wait for room in the completion queue. */
	boolean isStalled() {
		return this.inbound.isStalled();
	}

	/** The receive that an unfinished message occupies. */
	SendReceiver sends() {
		return this.sends;
	}

	/** Receives what is there and sends what can be sent. */
	void advance() {
		if (this.closed) {
			return;
		}
		try {
			if (this.inbound.advance()) {
				moved();
			}
			else {
				this.idleReads++;
			}
			if (!this.inbound.atBoundary() && this.frameDeadline.begin()) {
				this.queuePair.reactor().deadlines().addFrame(this.frameDeadline);
			}
		}
		catch (Throwable ex) {
			fail(ex);
		}
		flush();
	}

	/** Sends what can be sent. */
	void flush() {
		if (this.closed) {
			return;
		}
		try {
			if (this.outbound.flush()) {
				moved();
			}
			watch();
		}
		catch (Throwable ex) {
			fail(ex);
		}
	}

	private void moved() {
		this.idleReads = 0;
		this.queuePair.reactor().moved();
	}

	private void watch() {
		boolean unfinished = this.outbound.isBlocked() || this.outbound.hasWork();
		int interest = (this.responder.hasRefused() ? 0 : SelectionKey.OP_READ)
				| (unfinished ? SelectionKey.OP_WRITE : 0);
		if (interest != this.interest) {
			this.interest = interest;
			this.key.interestOps(interest);
			this.queuePair.reactor().interestChanged();
		}
	}

	private void fail(Throwable ex) {
		if (ex instanceof ProtocolViolation violation) {
			terminate(violation);
		}
		else if (ex instanceof EOFException) {
			endOfStream(String.valueOf(ex.getMessage()));
		}
		else if (ex instanceof IOException io) {
			lost(io);
		}
		else {
			this.queuePair.reactor().unexpected(this.queuePair, ex);
			terminate(
					ProtocolViolation.ofStream(TerminateError.RDMAP_CATASTROPHIC_STREAM, "unexpected failure: " + ex));
		}
	}

	private void endOfStream(String detail) {
		boolean orderly = this.inbound.atBoundary();
		WorkStatus status = orderly ? WorkStatus.FLUSHED : WorkStatus.CONNECTION_LOST;
		QueuePairFault fault = new QueuePairFault(status, orderly ? Origin.DISCONNECT : Origin.LOCAL, detail);
		this.queuePair.lifecycle().enterError(fault, null, ByteBuffer.allocate(0));
	}

	private void lost(IOException ex) {
		boolean memoryLost = this.outbound.hasLostMemory();
		WorkStatus status = memoryLost ? WorkStatus.LOCAL_PROTECTION_ERROR : WorkStatus.CONNECTION_LOST;
		this.queuePair.sendQueue().failAt(this.queuePair.sendQueue().ring().head(), status);
		this.queuePair.lifecycle()
			.enterError(new QueuePairFault(status, Origin.LOCAL, "connection lost: " + ex.getMessage()), null,
					ByteBuffer.allocate(0));
	}

	/**
	 * Since when it has held staging memory, as a moment of the reactor, or 0.
	 */
	long holdingSince() {
		long partial = this.inbound.partialSince();
		long unsent = this.outbound.unsentSince();
		return (partial == 0 || (unsent != 0 && unsent < partial)) ? unsent : partial;
	}

	/**
	 * Ends the stream because of what the peer has not done; throws nothing.
	 */
	void end(ProtocolViolation violation) {
		try {
			terminate(violation);
		}
		catch (Throwable ex) {
			this.queuePair.lifecycle().failed(ex);
		}
	}

	/** Ends the stream because of the peer's or this side's own fault, and says so. */
	void terminate(ProtocolViolation violation) {
		byte[] header = violation.header();
		int segmentBytes = (header != null) ? header.length : this.inbound.segmentBytes();
		if (header == null) {
			header = violation.headerIncluded() ? this.inbound.header() : new byte[0];
		}
		ByteBuffer lastWords = this.outbound.remainderWith(TerminateFrame.MAX_BYTES);
		if (lastWords.hasRemaining()) {
			TerminateFrame.append(lastWords, violation.error(), header, segmentBytes, this.parameters.crcEnabled());
		}
		lastWords.flip();
		String detail = violation.getMessage() + ": sent terminate " + TerminateError
			.describe(violation.error().layer(), violation.error().type(), violation.error().code());
		this.queuePair.lifecycle()
			.enterError(new QueuePairFault(violation.faultStatus(), Origin.LOCAL, detail), violation.receiveStatus(),
					lastWords);
	}

	/** Whether all that was posted and asked for has left. */
	boolean isIdle() {
		return this.outbound.isIdle();
	}

	/**
	 * Leaves the selector; the socket is the connection thread's from here on. What has
	 * failed is done by being called again.
	 */
	void close(ByteBuffer lastWords) {
		if (this.left) {
			return;
		}
		this.closed = true;
		this.inbound.close();
		this.outbound.close();
		this.requester.clear();
		this.responder.clear();
		this.queuePair.reactor().cancel(this.key);
		this.queuePair.device().connectionThread().linger(this.channel, lastWords);
		this.left = true;
	}

}
