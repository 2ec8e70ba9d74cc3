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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.iwarp.wire.ReadyToReceive;
import dev.rdmarpc.verbs.iwarp.wire.TerminateFrame;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ReceiveSource;

/**
 * RDMAP over DDP over MPA on one byte stream whose parameters are settled: what is posted
 * leaves as segments, and segments that come in are placed and delivered. Guarded by the
 * owner's lock.
 */
public final class RdmapStream {

	private final boolean crcEnabled;

	private final ReadRequester requester;

	private final ReadResponder responder;

	private final SendReceiver sends;

	private final InboundStream inbound;

	private final OutboundStream outbound;

	private int messages;

	private boolean yielded;

	/**
	 * Creates a stream.
	 * @param channel reads and writes without waiting
	 * @param parameters what both sides have settled
	 * @param buffers shared by the streams under the owner's lock
	 * @param random what peers must not guess
	 * @param access what the peer may name
	 * @param sendQueue what is to be sent
	 * @param receives where receives are taken from
	 * @param owner is told what came in
	 */
	public <C extends ScatteringByteChannel & GatheringByteChannel> RdmapStream(C channel,
			ConnectionParameters parameters, StreamBuffers buffers, SplittableRandom random, PeerAccess access,
			SendQueue sendQueue, ReceiveSource receives, StreamOwner owner) {
		this.crcEnabled = parameters.crcEnabled();
		Placement placement = new Placement(receives.maxReceiveSegments() + 1);
		this.sends = new SendReceiver(owner, access, receives, placement,
				!parameters.initiator() && parameters.readyToReceive() == ReadyToReceive.SEND);
		this.requester = new ReadRequester(sendQueue, parameters.readDepth(), placement, random);
		this.responder = new ReadResponder(access, parameters.responderResources());
		this.outbound = new OutboundStream(channel, parameters, buffers, owner, access.domain(), sendQueue,
				this.requester, this.responder);
		this.inbound = new InboundStream(channel, buffers, owner,
				new InboundDispatcher(this.sends, new WriteReceiver(access, placement), this.requester, this.responder,
						new TerminateReceiver(owner, sendQueue, this.requester), placement),
				this.sends, this.requester, this.responder, this.outbound, this.crcEnabled);
		this.messages = this.sends.messages();
	}

	/**
	 * Receives what is there, up to a bound.
	 * @return whether anything was read
	 * @throws EOFException if the peer has closed its half of the stream
	 * @throws ProtocolViolation if the stream has to end; {@link #lastWords} says so
	 */
	public boolean receive() throws IOException, ProtocolViolation {
		return this.inbound.advance();
	}

	/**
	 * Sends what can be sent, up to a bound.
	 * @return whether anything was written
	 * @throws ProtocolViolation if the stream has to end; {@link #lastWords} says so
	 */
	public boolean send() throws IOException, ProtocolViolation {
		return this.outbound.flush();
	}

	/**
	 * Whether answers to Reads should wait for the next step, because a message has come
	 * that would wait for them to be written. They do so once in a row.
	 */
	public boolean yields() {
		boolean came = this.sends.messages() != this.messages;
		this.messages = this.sends.messages();
		this.yielded = came && !this.yielded && !this.responder.isEmpty();
		return this.yielded;
	}

	/** Whether more is to be received. */
	public boolean wantsToReceive() {
		return !this.responder.hasRefused();
	}

	/** Whether more is to be sent. */
	public boolean wantsToSend() {
		return this.outbound.isBlocked() || this.outbound.hasWork();
	}

	/** Whether complete frames wait for room in the completion queue. */
	public boolean isStalled() {
		return this.inbound.isStalled();
	}

	/** Whether what has come in ends with a whole frame. */
	public boolean isAtBoundary() {
		return this.inbound.atBoundary();
	}

	/** Whether the rest of a frame is all that is waited for. */
	public boolean awaitsRest() {
		return this.inbound.awaitsRest();
	}

	/** How many frames have arrived whole. */
	public long framesReceived() {
		return this.inbound.frames();
	}

	/** Stream position up to which the channel has taken the bytes. */
	public long writtenBytes() {
		return this.outbound.writtenBytes();
	}

	/** Whether all that was posted and asked for has left. */
	public boolean isIdle() {
		return this.outbound.isIdle();
	}

	/** Whether memory went away in the middle of being sent. */
	public boolean hasLostMemory() {
		return this.outbound.hasLostMemory();
	}

	/** Since when it has held staging memory, as a moment of the buffers, or 0. */
	public long holdingSince() {
		long partial = this.inbound.partialSince();
		long unsent = this.outbound.unsentSince();
		return (partial == 0 || (unsent != 0 && unsent < partial)) ? unsent : partial;
	}

	/** The receive that an unfinished message occupies, or {@code null}. */
	public @Nullable PostedReceive unfinishedReceive() {
		return this.sends.unfinished();
	}

	/**
	 * What is still to be written when the stream ends early: the rest of what was begun,
	 * and a Terminate. Nothing, if that rest is lost.
	 */
	public ByteBuffer lastWords(ProtocolViolation violation) {
		byte[] header = violation.header();
		int segmentBytes = (header != null) ? header.length : this.inbound.segmentBytes();
		if (header == null) {
			header = violation.headerIncluded() ? this.inbound.header() : new byte[0];
		}
		ByteBuffer lastWords = this.outbound.remainderWith(TerminateFrame.MAX_BYTES);
		if (lastWords.hasRemaining()) {
			TerminateFrame.append(lastWords, violation.error(), header, segmentBytes, this.crcEnabled);
		}
		return lastWords.flip();
	}

	/**
	 * Gives everything back; nothing is received or sent any more. What has failed is
	 * done by being called again.
	 */
	public void close() {
		this.inbound.close();
		this.outbound.close();
		this.requester.clear();
		this.responder.clear();
	}

}
