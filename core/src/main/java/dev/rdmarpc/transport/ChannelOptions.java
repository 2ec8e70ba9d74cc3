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

import java.time.Duration;

/**
 * What a channel is set up with. Each side tells the other its own values in the
 * handshake and keeps to the other's.
 *
 * @param frameBytes size of a receive buffer and so of the largest frame accepted, from
 * {@value #MIN_FRAME_BYTES} to {@value #MAX_FRAME_BYTES}
 * @param minCredits receives kept posted for the peer when it is idle, from
 * {@value #MIN_CREDITS} to {@code credits}
 * @param credits receives kept posted for the peer at most, when it uses them, up to
 * {@value #MAX_CREDITS}
 * @param maxMessageBytes largest message accepted and sent
 * @param maxUnfinishedBytes what messages that have arrived in part may take together;
 * others begun meanwhile are refused, but one alone may always be begun
 * @param maxCalls calls outstanding on the channel, at most {@value #MAX_CALLS}
 * @param handshakeTimeoutNanos for connection set-up, for the handshake after it, and
 * again for a peer that has connected to say something else
 * @param keepAliveNanos silence after which the peer is asked whether it is alive
 * @param deadPeerNanos silence after which it is taken for dead; more than
 * {@code keepAliveNanos}
 * @param eagerBytes largest message that is sent in frames, four times as much on a
 * channel with little else to send; larger ones are Read by the peer from where they are
 * @param maxMetadataBytes most metadata of a request or reply accepted and sent, which
 * has to fit into one frame: at most {@value #MAX_METADATA_BYTES}, and
 * {@value #BESIDE_METADATA_BYTES} less than {@code frameBytes}
 * @param streamWindowBytes what one stream may have on the way to this side, and may have
 * ready to be sent by it, where each message counts for
 * {@value StreamReceiver#MESSAGE_OVERHEAD_BYTES} bytes more than it has, but for half of
 * this at most, so that there may be two of any size. From
 * {@value #MIN_STREAM_WINDOW_BYTES} to {@value #MAX_STREAM_WINDOW_BYTES}
 * @param security how connections are protected
 */
public record ChannelOptions(int frameBytes, int minCredits, int credits, int maxMessageBytes, long maxUnfinishedBytes,
		int maxCalls, long handshakeTimeoutNanos, long keepAliveNanos, long deadPeerNanos, int eagerBytes,
		int maxMetadataBytes, int streamWindowBytes, ChannelSecurity security) {

	/** The smallest frame size. */
	public static final int MIN_FRAME_BYTES = 2048;

	/** The largest frame size. */
	public static final int MAX_FRAME_BYTES = 1 << 20;

	/** The most metadata that its length can tell. */
	public static final int MAX_METADATA_BYTES = (1 << 16) - 8;

	/** What a frame has to hold beside metadata: header and windows. */
	public static final int BESIDE_METADATA_BYTES = 552;

	/** The fewest credits with which a channel makes progress. */
	public static final int MIN_CREDITS = 8;

	/** The most credits of a channel. */
	public static final int MAX_CREDITS = 1 << 14;

	/** The most calls that request ids can tell apart. */
	public static final int MAX_CALLS = 1 << 16;

	/** The smallest window of a stream. */
	public static final int MIN_STREAM_WINDOW_BYTES = 1024;

	/** The largest window of a stream. */
	public static final int MAX_STREAM_WINDOW_BYTES = 1 << 30;

	/**
	 * 8 KiB frames, 8 to 128 credits, 16 MiB messages, 64 MiB of unfinished ones, 4096
	 * calls; 5 s for the handshake, a question after 10 s of silence, given up after 30
	 * s; up to five frames are sent eagerly; 1 KiB of metadata; 256 KiB per stream.
	 */
	public static final ChannelOptions DEFAULTS = new ChannelOptions(8192, MIN_CREDITS, 128, 16 << 20, 64 << 20, 4096,
			Duration.ofSeconds(5).toNanos(), Duration.ofSeconds(10).toNanos(), Duration.ofSeconds(30).toNanos(),
			40 * 1024, 1024, 256 * 1024);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public ChannelOptions {
		check("frame size", frameBytes, MIN_FRAME_BYTES, MAX_FRAME_BYTES);
		if (frameBytes % 8 != 0) {
			throw new IllegalArgumentException("frame size " + frameBytes + " (expected: a multiple of 8)");
		}
		check("credits", credits, MIN_CREDITS, MAX_CREDITS);
		check("minimum of credits", minCredits, MIN_CREDITS, credits);
		check("maximum message size", maxMessageBytes, 1, Integer.MAX_VALUE / 2);
		check("maximum of unfinished messages", maxUnfinishedBytes, 1, Long.MAX_VALUE / 2);
		check("maximum calls", maxCalls, 1, MAX_CALLS);
		check("handshake timeout (ns)", handshakeTimeoutNanos, 1, Long.MAX_VALUE / 4);
		check("keep-alive interval (ns)", keepAliveNanos, 1, Long.MAX_VALUE / 4);
		check("dead peer timeout (ns)", deadPeerNanos, keepAliveNanos + 1, Long.MAX_VALUE / 4);
		check("eager limit", eagerBytes, 0, Integer.MAX_VALUE / 2);
		check("maximum metadata size", maxMetadataBytes, 0, mostMetadataBytes(frameBytes));
		check("window of a stream", streamWindowBytes, MIN_STREAM_WINDOW_BYTES, MAX_STREAM_WINDOW_BYTES);
	}

	/** Options without protection. */
	public ChannelOptions(int frameBytes, int minCredits, int credits, int maxMessageBytes, long maxUnfinishedBytes,
			int maxCalls, long handshakeTimeoutNanos, long keepAliveNanos, long deadPeerNanos, int eagerBytes,
			int maxMetadataBytes, int streamWindowBytes) {
		this(frameBytes, minCredits, credits, maxMessageBytes, maxUnfinishedBytes, maxCalls, handshakeTimeoutNanos,
				keepAliveNanos, deadPeerNanos, eagerBytes, maxMetadataBytes, streamWindowBytes, ChannelSecurity.NONE);
	}

	/** The most metadata that frames of a size can carry. */
	public static int mostMetadataBytes(int frameBytes) {
		return Math.min(MAX_METADATA_BYTES, frameBytes - BESIDE_METADATA_BYTES);
	}

	private static void check(String what, long value, long min, long max) {
		if (value < min || value > max) {
			throw new IllegalArgumentException(what + " " + value + " (expected: " + min + " to " + max + ")");
		}
	}

	/** These options with other frames, of which each peer may send so many at once. */
	public ChannelOptions withFrames(int bytes, int count) {
		return new ChannelOptions(bytes, Math.min(this.minCredits, count), count, this.maxMessageBytes,
				this.maxUnfinishedBytes, this.maxCalls, this.handshakeTimeoutNanos, this.keepAliveNanos,
				this.deadPeerNanos, this.eagerBytes, this.maxMetadataBytes, this.streamWindowBytes, this.security);
	}

	/** These options with other credits; as many at least as at most do not change. */
	public ChannelOptions withCredits(int least, int most) {
		return new ChannelOptions(this.frameBytes, least, most, this.maxMessageBytes, this.maxUnfinishedBytes,
				this.maxCalls, this.handshakeTimeoutNanos, this.keepAliveNanos, this.deadPeerNanos, this.eagerBytes,
				this.maxMetadataBytes, this.streamWindowBytes, this.security);
	}

	/** These options with other limits. */
	public ChannelOptions withLimits(int messageBytes, int calls) {
		return new ChannelOptions(this.frameBytes, this.minCredits, this.credits, messageBytes, this.maxUnfinishedBytes,
				calls, this.handshakeTimeoutNanos, this.keepAliveNanos, this.deadPeerNanos, this.eagerBytes,
				this.maxMetadataBytes, this.streamWindowBytes, this.security);
	}

	/** These options with another bound for unfinished messages. */
	public ChannelOptions withUnfinished(long bytes) {
		return new ChannelOptions(this.frameBytes, this.minCredits, this.credits, this.maxMessageBytes, bytes,
				this.maxCalls, this.handshakeTimeoutNanos, this.keepAliveNanos, this.deadPeerNanos, this.eagerBytes,
				this.maxMetadataBytes, this.streamWindowBytes, this.security);
	}

	/** These options with so much time at most for set-up, and the handshake after it. */
	public ChannelOptions withHandshakeWithin(Duration most) {
		return (this.handshakeTimeoutNanos <= most.toNanos()) ? this
				: withTimeouts(most, Duration.ofNanos(this.keepAliveNanos), Duration.ofNanos(this.deadPeerNanos));
	}

	/** These options with other time-outs. */
	public ChannelOptions withTimeouts(Duration handshake, Duration keepAlive, Duration deadPeer) {
		return new ChannelOptions(this.frameBytes, this.minCredits, this.credits, this.maxMessageBytes,
				this.maxUnfinishedBytes, this.maxCalls, handshake.toNanos(), keepAlive.toNanos(), deadPeer.toNanos(),
				this.eagerBytes, this.maxMetadataBytes, this.streamWindowBytes, this.security);
	}

	/** These options with another limit of what is sent in frames. */
	public ChannelOptions withEagerLimit(int bytes) {
		return new ChannelOptions(this.frameBytes, this.minCredits, this.credits, this.maxMessageBytes,
				this.maxUnfinishedBytes, this.maxCalls, this.handshakeTimeoutNanos, this.keepAliveNanos,
				this.deadPeerNanos, bytes, this.maxMetadataBytes, this.streamWindowBytes, this.security);
	}

	/** These options with another limit of metadata. */
	public ChannelOptions withMaxMetadata(int bytes) {
		return new ChannelOptions(this.frameBytes, this.minCredits, this.credits, this.maxMessageBytes,
				this.maxUnfinishedBytes, this.maxCalls, this.handshakeTimeoutNanos, this.keepAliveNanos,
				this.deadPeerNanos, this.eagerBytes, bytes, this.streamWindowBytes, this.security);
	}

	/** These options with another window of each stream. */
	public ChannelOptions withStreamWindow(int bytes) {
		return new ChannelOptions(this.frameBytes, this.minCredits, this.credits, this.maxMessageBytes,
				this.maxUnfinishedBytes, this.maxCalls, this.handshakeTimeoutNanos, this.keepAliveNanos,
				this.deadPeerNanos, this.eagerBytes, this.maxMetadataBytes, bytes, this.security);
	}

	/** These options with other protection. */
	public ChannelOptions withSecurity(ChannelSecurity other) {
		return new ChannelOptions(this.frameBytes, this.minCredits, this.credits, this.maxMessageBytes,
				this.maxUnfinishedBytes, this.maxCalls, this.handshakeTimeoutNanos, this.keepAliveNanos,
				this.deadPeerNanos, this.eagerBytes, this.maxMetadataBytes, this.streamWindowBytes, other);
	}

}
