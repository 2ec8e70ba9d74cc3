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

import java.time.Duration;

import dev.rdmarpc.verbs.iwarp.rdmap.StagingMemory;
import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

/**
 * The settings of a user-space iWARP provider; immutable, validated when made.
 *
 * @param crc when to ask peers for a CRC
 * @param maxUlpduBytes the longest DDP segment sent, or 0 to derive it per connection:
 * the longest possible on this host, elsewhere what fits a TCP segment of the interface
 * @param copyThresholdBytes pieces of a payload up to this long are copied behind their
 * header, longer ones are handed to the socket where they lie
 * @param directReceiveBytes when at least this much of a segment is still in the socket,
 * it is read straight to its place
 * @param sendBufferBytes socket send buffer, or 0 to leave it to the system
 * @param receiveBufferBytes socket receive buffer, or 0 to leave it to the system
 * @param peerToPeer whether to announce at once, as the connecting side, that the
 * listening side may send first (RFC 6581); otherwise it waits for our first message
 * @param maxQueuePairs queue pairs open at once on a device
 * @param maxReadDepth RDMA Reads outstanding in one direction of a connection
 * @param drainTimeout how long an orderly disconnect waits for posted work to leave
 * @param lingerTimeout how long the last words of a connection may take to reach the peer
 * @param frameTimeout how long a frame that a peer has begun may take to arrive, or 0 for
 * as long as it likes
 * @param stagingBytes memory of each completion queue for what peers have begun: parts of
 * frames whose rest has not come, and bytes that a socket does not take; when it is used
 * up, the connection ends that has held some for longest
 */
public record IwarpOptions(CrcMode crc, int maxUlpduBytes, int copyThresholdBytes, int directReceiveBytes,
		int sendBufferBytes, int receiveBufferBytes, boolean peerToPeer, int maxQueuePairs, int maxReadDepth,
		Duration drainTimeout, Duration lingerTimeout, Duration frameTimeout, int stagingBytes) {

	/** The least {@link #maxUlpduBytes()}. */
	public static final int MIN_ULPDU_BYTES = 128;

	/** The greatest {@link #maxUlpduBytes()}. */
	public static final int MAX_ULPDU_BYTES = FpduFlyweight.MAX_ULPDU_BYTES;

	/** The greatest {@link #maxReadDepth()}. */
	public static final int MAX_READ_DEPTH = MpaFrameFlyweight.MAX_READ_DEPTH;

	/** The least {@link #stagingBytes()}, of which it is a multiple. */
	public static final int MIN_STAGING_BYTES = StagingMemory.MOST_BYTES;

	/** The greatest {@link #stagingBytes()}. */
	public static final int MAX_STAGING_BYTES = 1 << 30;

	/** The default settings. */
	public static final IwarpOptions DEFAULTS = new IwarpOptions(CrcMode.AUTO, 0, 2048, 8192, 0, 0, true, 65536, 128,
			Duration.ofSeconds(5), Duration.ofSeconds(2), Duration.ofSeconds(10), 4 << 20);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public IwarpOptions {
		check(maxUlpduBytes == 0
				|| (maxUlpduBytes >= MIN_ULPDU_BYTES && maxUlpduBytes <= FpduFlyweight.MAX_ULPDU_BYTES),
				"maxUlpduBytes", maxUlpduBytes, "0 or " + MIN_ULPDU_BYTES + " to " + FpduFlyweight.MAX_ULPDU_BYTES);
		check(copyThresholdBytes >= 0 && copyThresholdBytes <= FpduFlyweight.MAX_ULPDU_BYTES, "copyThresholdBytes",
				copyThresholdBytes, "0 to " + FpduFlyweight.MAX_ULPDU_BYTES);
		check(directReceiveBytes >= 1, "directReceiveBytes", directReceiveBytes, "at least 1");
		check(sendBufferBytes >= 0, "sendBufferBytes", sendBufferBytes, "at least 0");
		check(receiveBufferBytes >= 0, "receiveBufferBytes", receiveBufferBytes, "at least 0");
		check(maxQueuePairs >= 1 && maxQueuePairs <= 1 << 24, "maxQueuePairs", maxQueuePairs, "1 to " + (1 << 24));
		check(maxReadDepth >= 1 && maxReadDepth <= MpaFrameFlyweight.MAX_READ_DEPTH, "maxReadDepth", maxReadDepth,
				"1 to " + MpaFrameFlyweight.MAX_READ_DEPTH);
		check(!drainTimeout.isNegative(), "drainTimeout", drainTimeout, "not negative");
		check(!lingerTimeout.isNegative(), "lingerTimeout", lingerTimeout, "not negative");
		check(!frameTimeout.isNegative(), "frameTimeout", frameTimeout, "not negative");
		check(stagingBytes >= MIN_STAGING_BYTES && stagingBytes <= MAX_STAGING_BYTES
				&& stagingBytes % MIN_STAGING_BYTES == 0, "stagingBytes", stagingBytes,
				"a multiple of " + MIN_STAGING_BYTES + " up to " + MAX_STAGING_BYTES);
	}

	private static void check(boolean valid, String name, Object value, String expected) {
		if (!valid) {
			throw new IllegalArgumentException(name + " of " + value + " (expected: " + expected + ")");
		}
	}

	/** These settings with another {@link #crc()}. */
	public IwarpOptions withCrc(CrcMode crc) {
		return new IwarpOptions(crc, this.maxUlpduBytes, this.copyThresholdBytes, this.directReceiveBytes,
				this.sendBufferBytes, this.receiveBufferBytes, this.peerToPeer, this.maxQueuePairs, this.maxReadDepth,
				this.drainTimeout, this.lingerTimeout, this.frameTimeout, this.stagingBytes);
	}

	/** These settings with another {@link #maxUlpduBytes()}. */
	public IwarpOptions withMaxUlpduBytes(int maxUlpduBytes) {
		return new IwarpOptions(this.crc, maxUlpduBytes, this.copyThresholdBytes, this.directReceiveBytes,
				this.sendBufferBytes, this.receiveBufferBytes, this.peerToPeer, this.maxQueuePairs, this.maxReadDepth,
				this.drainTimeout, this.lingerTimeout, this.frameTimeout, this.stagingBytes);
	}

	/**
	 * These settings with other {@link #copyThresholdBytes()} and
	 * {@link #directReceiveBytes()}.
	 */
	public IwarpOptions withCopyThresholds(int copyThresholdBytes, int directReceiveBytes) {
		return new IwarpOptions(this.crc, this.maxUlpduBytes, copyThresholdBytes, directReceiveBytes,
				this.sendBufferBytes, this.receiveBufferBytes, this.peerToPeer, this.maxQueuePairs, this.maxReadDepth,
				this.drainTimeout, this.lingerTimeout, this.frameTimeout, this.stagingBytes);
	}

	/** These settings with other socket buffers. */
	public IwarpOptions withSocketBuffers(int sendBufferBytes, int receiveBufferBytes) {
		return new IwarpOptions(this.crc, this.maxUlpduBytes, this.copyThresholdBytes, this.directReceiveBytes,
				sendBufferBytes, receiveBufferBytes, this.peerToPeer, this.maxQueuePairs, this.maxReadDepth,
				this.drainTimeout, this.lingerTimeout, this.frameTimeout, this.stagingBytes);
	}

	/** These settings with another {@link #peerToPeer()}. */
	public IwarpOptions withPeerToPeer(boolean peerToPeer) {
		return new IwarpOptions(this.crc, this.maxUlpduBytes, this.copyThresholdBytes, this.directReceiveBytes,
				this.sendBufferBytes, this.receiveBufferBytes, peerToPeer, this.maxQueuePairs, this.maxReadDepth,
				this.drainTimeout, this.lingerTimeout, this.frameTimeout, this.stagingBytes);
	}

	/** These settings with other limits of a device. */
	public IwarpOptions withLimits(int maxQueuePairs, int maxReadDepth) {
		return new IwarpOptions(this.crc, this.maxUlpduBytes, this.copyThresholdBytes, this.directReceiveBytes,
				this.sendBufferBytes, this.receiveBufferBytes, this.peerToPeer, maxQueuePairs, maxReadDepth,
				this.drainTimeout, this.lingerTimeout, this.frameTimeout, this.stagingBytes);
	}

	/** These settings with other time-outs for the end of a connection. */
	public IwarpOptions withTimeouts(Duration drainTimeout, Duration lingerTimeout) {
		return new IwarpOptions(this.crc, this.maxUlpduBytes, this.copyThresholdBytes, this.directReceiveBytes,
				this.sendBufferBytes, this.receiveBufferBytes, this.peerToPeer, this.maxQueuePairs, this.maxReadDepth,
				drainTimeout, lingerTimeout, this.frameTimeout, this.stagingBytes);
	}

	/** These settings with another {@link #frameTimeout()}. */
	public IwarpOptions withFrameTimeout(Duration frameTimeout) {
		return new IwarpOptions(this.crc, this.maxUlpduBytes, this.copyThresholdBytes, this.directReceiveBytes,
				this.sendBufferBytes, this.receiveBufferBytes, this.peerToPeer, this.maxQueuePairs, this.maxReadDepth,
				this.drainTimeout, this.lingerTimeout, frameTimeout, this.stagingBytes);
	}

	/** These settings with another {@link #stagingBytes()}. */
	public IwarpOptions withStagingBytes(int stagingBytes) {
		return new IwarpOptions(this.crc, this.maxUlpduBytes, this.copyThresholdBytes, this.directReceiveBytes,
				this.sendBufferBytes, this.receiveBufferBytes, this.peerToPeer, this.maxQueuePairs, this.maxReadDepth,
				this.drainTimeout, this.lingerTimeout, this.frameTimeout, stagingBytes);
	}

}
