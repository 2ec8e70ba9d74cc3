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
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.UnresolvedAddressException;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

import javax.net.ssl.SSLException;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.iwarp.rdmap.ConnectionParameters;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrame;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.ReadyToReceive;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.iwarp.wire.TerminateFrame;

/**
 * The connecting side of the MPA handshake (RFC 5044, section 7.1; RFC 6581, section 4).
 * Lives on the connection thread.
 *
 * <p>
 * Revision 2 is offered first. A peer that knows revision 1 only must close the
 * connection without a reply, or replies with revision 1; then one more connection is
 * made with revision 1, within the same time-out.
 */
final class MpaInitiator extends SocketHandler {

	private final ConnectionLifecycle lifecycle;

	private final ConnectionThread thread;

	private final IwarpOptions settings;

	private final InetSocketAddress remote;

	private final ConnectOptions options;

	private final int revision;

	private final CompletableFuture<ConnectionInfo> result;

	private final MpaFrameReader reader = new MpaFrameReader(false);

	private @Nullable ByteStream bytes;

	private @Nullable ByteBuffer request;

	private boolean crcAsked;

	private MpaInitiator(ConnectionLifecycle lifecycle, InetSocketAddress remote, ConnectOptions options,
			ConnectionThread thread, IwarpOptions settings, int revision, CompletableFuture<ConnectionInfo> result,
			long deadlineNanos) {
		super(deadlineNanos);
		this.lifecycle = lifecycle;
		this.thread = thread;
		this.settings = settings;
		this.remote = remote;
		this.options = options;
		this.revision = revision;
		this.result = result;
	}

	/** Starts an attempt of a queue pair that was claimed for it; from any thread. */
	static CompletableFuture<ConnectionInfo> start(ConnectionLifecycle lifecycle, InetSocketAddress remote,
			ConnectOptions options, ConnectionThread thread, IwarpOptions settings) {
		QueuePair queuePair = lifecycle.queuePair();
		boolean begun = false;
		try {
			thread.start();
			CompletableFuture<ConnectionInfo> result = new Attempt(thread, queuePair);
			MpaInitiator initiator = new MpaInitiator(lifecycle, remote, options, thread, settings,
					MpaFrameFlyweight.REVISION_2, result, System.nanoTime() + options.timeoutNanos());
			thread.addAttempt(queuePair, initiator);
			thread.execute(initiator::open);
			begun = true;
			return result;
		}
		finally {
			if (!begun) {
				thread.removeAttempt(queuePair);
				lifecycle.connectingFailed();
			}
		}
	}

	private void open() {
		if (isFinished()) {
			return;
		}
		try {
			ByteStream opened = TlsEngines.secured(this.thread.connect(this.remote), this.options.tls(), this.remote,
					this.thread);
			this.bytes = opened;
			this.thread.register(opened, opened.finishConnect() ? SelectionKey.OP_WRITE : SelectionKey.OP_CONNECT,
					this);
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	@Override
	void ready() throws IOException {
		ByteStream open = this.bytes;
		if (open == null || !open.finishConnect()) {
			return;
		}
		ByteBuffer frame = this.request;
		if (frame == null) {
			frame = encodeRequest();
			this.request = frame;
		}
		if (frame.hasRemaining()) {
			open.write(frame);
			open.interest(frame.hasRemaining() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
			return;
		}
		MpaFrame reply = this.reader.read(open);
		if (reply != null) {
			onReply(open, reply);
		}
	}

	private ByteBuffer encodeRequest() {
		this.crcAsked = SocketTuning.asksForCrc(this.remote.getAddress(), this.settings);
		int flags = this.crcAsked ? MpaFrameFlyweight.FLAG_CRC : 0;
		if (this.revision == MpaFrameFlyweight.REVISION_1) {
			return MpaFrameFlyweight.encode(true, flags, MpaFrameFlyweight.REVISION_1, this.options.privateData());
		}
		boolean peerToPeer = this.settings.peerToPeer();
		int ird = this.options.responderResources() | (peerToPeer ? MpaFrameFlyweight.IRD_PEER_TO_PEER : 0);
		int ord = this.options.readDepth() | (peerToPeer ? MpaFrameFlyweight.ORD_RTR_WRITE : 0);
		return MpaFrameFlyweight.encodeEnhanced(true, flags, ird, ord, this.options.privateData());
	}

	private void onReply(ByteStream open, MpaFrame reply) throws IOException {
		if (reply.revision() > MpaFrameFlyweight.REVISION_2) {
			throw new VerbsException(VerbsError.PROTOCOL_ERROR, "MPA reply of revision " + reply.revision());
		}
		if (reply.revision() < this.revision) {
			retryWithRevision1();
			return;
		}
		if (reply.rejected()) {
			throw new VerbsException(VerbsError.CONNECTION_REJECTED, this.remote + " rejected the connection", null,
					reply.privateData());
		}
		if (reply.truncated()) {
			throw new VerbsException(VerbsError.PROTOCOL_ERROR, "MPA reply without the enhanced data it announces");
		}
		if (reply.markers()) {
			throw new VerbsException(VerbsError.PROTOCOL_ERROR, this.remote + " requires MPA markers");
		}
		TerminateError disagreement = disagreement(reply);
		if (disagreement != null) {
			refuse(open, reply, disagreement);
			return;
		}
		ConnectionParameters parameters = negotiate(open, reply);
		InetSocketAddress local = open.localAddress();
		this.thread.deregister(open);
		finish();
		this.thread.removeAttempt(this.lifecycle.queuePair());
		if (this.lifecycle.established(open, parameters, null)) {
			ConnectionInfo info = new ConnectionInfo(local, this.remote, parameters.readDepth(),
					parameters.responderResources(), reply.privateData(), open.peerCertificates());
			if (!this.result.complete(info)) {
				this.lifecycle.queuePair().disconnect();
			}
		}
		else {
			this.thread.linger(open, ByteBuffer.allocate(0));
			this.result.completeExceptionally(
					new VerbsException(VerbsError.CLOSED, this.lifecycle + " was closed or disconnected"));
		}
	}

	private boolean offersReadyToReceive() {
		return this.settings.peerToPeer();
	}

	/** What of a reply cannot be lived with, and must be told the peer, or null. */
	private @Nullable TerminateError disagreement(MpaFrame reply) {
		if (this.revision != MpaFrameFlyweight.REVISION_2) {
			return null;
		}
		if (!reply.enhanced()) {
			throw new VerbsException(VerbsError.PROTOCOL_ERROR, "MPA reply without the enhanced data asked for");
		}
		if (reply.outboundReads() != MpaFrameFlyweight.DEPTH_NOT_NEGOTIATED
				&& reply.outboundReads() > this.options.responderResources()) {
			return TerminateError.MPA_INSUFFICIENT_IRD;
		}
		boolean chosen = (reply.ord() & MpaFrameFlyweight.ORD_RTR_WRITE) != 0;
		return (offersReadyToReceive() && reply.peerToPeer() && !chosen) ? TerminateError.MPA_NO_MATCHING_RTR : null;
	}

	/** Ends the stream that the reply has opened (RFC 6581, section 8). */
	private void refuse(ByteStream open, MpaFrame reply, TerminateError error) throws IOException {
		this.thread.deregister(open);
		finish();
		this.thread.removeAttempt(this.lifecycle.queuePair());
		this.lifecycle.connectingFailed();
		this.thread.linger(open, TerminateFrame.of(error, this.crcAsked || reply.crc()));
		String what = (error == TerminateError.MPA_INSUFFICIENT_IRD)
				? "peer wants " + reply.outboundReads() + " RDMA Reads outstanding (expected: at most "
						+ this.options.responderResources() + ")"
				: "peer did not choose the ready-to-receive frame offered";
		this.result.completeExceptionally(new VerbsException(VerbsError.PROTOCOL_ERROR,
				what + ": sent terminate " + TerminateError.describe(error.layer(), error.type(), error.code())));
	}

	private ConnectionParameters negotiate(ByteStream open, MpaFrame reply) throws IOException {
		int readDepth = this.options.readDepth();
		int responderResources = this.options.responderResources();
		ReadyToReceive readyToReceive = ReadyToReceive.NONE;
		if (this.revision == MpaFrameFlyweight.REVISION_2) {
			if (reply.inboundReads() != MpaFrameFlyweight.DEPTH_NOT_NEGOTIATED) {
				readDepth = Math.min(readDepth, reply.inboundReads());
			}
			if (offersReadyToReceive() && reply.peerToPeer()) {
				readyToReceive = ReadyToReceive.WRITE;
			}
		}
		return new ConnectionParameters(true, this.crcAsked || reply.crc(),
				SocketTuning.maxUlpduBytes(open, this.settings), readDepth, responderResources, readyToReceive);
	}

	private void retryWithRevision1() {
		MpaInitiator second = new MpaInitiator(this.lifecycle, this.remote, this.options, this.thread, this.settings,
				MpaFrameFlyweight.REVISION_1, this.result, deadlineNanos());
		finish();
		closeQuietly(this.bytes);
		this.thread.addAttempt(this.lifecycle.queuePair(), second);
		second.open();
	}

	@Override
	void timedOut() {
		failed(new VerbsException(VerbsError.TIMED_OUT, this.remote + " did not answer in time"));
	}

	@Override
	void failed(Throwable cause) {
		boolean asked = this.request != null && !this.request.hasRemaining();
		if (asked && this.revision == MpaFrameFlyweight.REVISION_2 && cause instanceof IOException
				&& !(cause instanceof SSLException) && this.reader.isUntouched()) {
			retryWithRevision1();
			return;
		}
		finish();
		this.thread.removeAttempt(this.lifecycle.queuePair());
		this.lifecycle.connectingFailed();
		leave(cause);
		this.result.completeExceptionally(translate(cause));
	}

	/** Lets the peer of a TLS handshake see why it has failed. */
	private void leave(Throwable cause) {
		ByteStream open = this.bytes;
		if (open == null || !(cause instanceof SSLException)) {
			closeQuietly(open);
			return;
		}
		try {
			this.thread.deregister(open);
			this.thread.linger(open, ByteBuffer.allocate(0));
		}
		catch (Throwable ex) {
			closeQuietly(open);
		}
	}

	private VerbsException translate(Throwable cause) {
		if (cause instanceof VerbsException verbs) {
			return verbs;
		}
		if (cause instanceof SSLException) {
			return new VerbsException(VerbsError.PROTOCOL_ERROR,
					"TLS with " + this.remote + " failed: " + cause.getMessage(), cause);
		}
		String message = String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT);
		VerbsError error;
		if (cause instanceof UnresolvedAddressException || cause instanceof NoRouteToHostException
				|| message.contains("unreachable")) {
			error = VerbsError.UNREACHABLE;
		}
		else if (message.contains("timed out")) {
			error = VerbsError.TIMED_OUT;
		}
		else if (cause instanceof ConnectException) {
			error = VerbsError.CONNECTION_REFUSED;
		}
		else if (cause instanceof EOFException || cause instanceof IOException) {
			error = VerbsError.CONNECTION_LOST;
		}
		else {
			error = VerbsError.DEVICE_ERROR;
		}
		return new VerbsException(error, "cannot connect to " + this.remote + ": " + cause, cause);
	}

	/** The result of an attempt; cancelling it abandons the attempt. */
	private static final class Attempt extends CompletableFuture<ConnectionInfo> {

		private final ConnectionThread thread;

		private final QueuePair queuePair;

		Attempt(ConnectionThread thread, QueuePair queuePair) {
			this.thread = thread;
			this.queuePair = queuePair;
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			boolean cancelled = super.cancel(mayInterruptIfRunning);
			if (cancelled) {
				this.thread.abandon(this.queuePair);
			}
			return cancelled;
		}

		@Override
		public <U> CompletableFuture<U> newIncompleteFuture() {
			return new CompletableFuture<>();
		}

	}

}
