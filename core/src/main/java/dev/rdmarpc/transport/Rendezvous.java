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

package dev.rdmarpc.transport;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePair;

/**
 * The large messages of a channel, in both directions: above the eager limit only a
 * description is sent, and the receiver Reads the message from where the sender has it,
 * when it has memory for it.
 *
 * <p>
 * Confined to the loop's driver, but for {@link #isReadByPeer} and {@link #queuePair()}.
 */
final class Rendezvous {

	private final ChannelOptions options;

	private final Handshake handshake;

	private final Exposures exposures;

	private final InboundTransfers transfers;

	private @Nullable QueuePair queuePair;

	Rendezvous(ChannelOptions options, Handshake handshake, InboundTransfers transfers) {
		this.options = options;
		this.handshake = handshake;
		this.exposures = new Exposures(options.deadPeerNanos());
		this.transfers = transfers;
	}

	/**
	 * Whether a message of this size is described instead of sent. Any thread that has
	 * seen the channel open.
	 */
	boolean isReadByPeer(int messageBytes) {
		return messageBytes > this.options.eagerBytes() && this.handshake.peerReads();
	}

	/** Takes note of the queue pair, which stays the channel's. */
	void attach(QueuePair created) {
		this.queuePair = created;
	}

	/**
	 * The channel's queue pair, perhaps closed. Any thread that has seen the channel
	 * open.
	 */
	@Nullable QueuePair queuePair() {
		return this.queuePair;
	}

	/** The messages that the peer is reading. */
	Exposures exposures() {
		return this.exposures;
	}

	/** Begins to read a message that the peer has described. */
	boolean begin(IncomingMessage message, ByteBuffer frame, boolean request, long nowNanos) {
		return this.transfers.begin(message, frame, request, nowNanos);
	}

	/** How many Reads the connection allows at once. */
	void readDepth(int depth) {
		this.transfers.readDepth(depth);
	}

	/** Posts Reads; tells whether any was posted. */
	boolean post(QueuePair pair) {
		return this.transfers.post(pair);
	}

	/** Whether Reads could be posted. */
	boolean canPost() {
		return this.transfers.canPost();
	}

	/** The oldest Read has completed or was flushed. */
	void completed(boolean success, long bytes, long nowNanos) {
		this.transfers.completed(success, bytes, nowNanos);
	}

	/**
	 * The call of both a message from here and one to here was given up, by either side.
	 */
	void withdraw(int requestId, long nowNanos) {
		this.exposures.withdraw(requestId, nowNanos);
		this.transfers.cancel(requestId);
	}

	/** Whether the peer is reading a message, or one is being read from it. */
	boolean isUnderWay() {
		return !this.exposures.isEmpty() || !this.transfers.isQuiet();
	}

	/** Memory of messages of which the peer has answered no Read since then. */
	long stalledBytes(long sinceNanos) {
		return this.transfers.stalledBytes(sinceNanos);
	}

	/** Whether {@link #tick} should be called soon. */
	boolean needsTicks() {
		return this.transfers.isWaiting() || !this.exposures.isEmpty();
	}

	/**
	 * Watches the time.
	 * @return why the channel should be given up, or an empty string
	 */
	String tick(long nowNanos) {
		this.transfers.retry(nowNanos);
		String problem = this.transfers.problem(nowNanos);
		return this.exposures.expire(nowNanos) ? "the peer did not read a message in time" : problem;
	}

	/** Revokes what is open and begins nothing more. */
	void close() {
		this.exposures.close();
		this.transfers.close();
	}

	/** Whether the device has finished with all memory. */
	boolean isQuiet() {
		return this.transfers.isQuiet();
	}

	/** Gives everything back; the queue pair is closed already. */
	void dropPosted() {
		this.transfers.dropPosted();
	}

}
