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

package dev.rdmarpc.verbs.disni;

import dev.rdmarpc.verbs.DeviceLimits;

/**
 * What an adapter says of itself, and what the native library can make of it.
 *
 * @param iwarp whether it speaks iWARP and not InfiniBand's protocol
 * @param maxQueuePairs queue pairs
 * @param maxQueueDepth work requests of a send or receive queue
 * @param maxSegments scatter/gather elements of a request
 * @param maxReadSegments scatter/gather elements of a Read
 * @param maxCompletions entries of a completion queue
 * @param maxReadsServed Reads of a peer served at once
 * @param maxReadsStarted Reads outstanding
 * @param maxSharedReceives receives in a shared receive queue, 0 if there is none
 * @param maxSharedSegments scatter/gather elements of a shared receive
 * @param maxMessageBytes payload of a request
 * @param siw whether it is the kernel's siw, which has ways of its own
 */
record AdapterAttributes(boolean iwarp, int maxQueuePairs, int maxQueueDepth, int maxSegments, int maxReadSegments,
		int maxCompletions, int maxReadsServed, int maxReadsStarted, int maxSharedReceives, int maxSharedSegments,
		long maxMessageBytes, boolean siw) {

	private static final int MOST_SEGMENTS = 32;

	/** What the fields of the connection manager hold, and more than helps. */
	private static final int MOST_READS = 128;

	/** Whether a Read fills one segment, so that one which scatters is several. */
	boolean oneSegmentPerRead() {
		return this.iwarp || this.maxReadSegments <= 1;
	}

	/**
	 * Whether a completion queue that is to notify of solicited Sends only does so; siw
	 * never does.
	 */
	boolean solicitedEvents() {
		return !this.siw;
	}

	boolean sharedReceiveQueue() {
		return this.maxSharedReceives > 0;
	}

	/** The same for an adapter that has no shared receive queues. */
	AdapterAttributes withoutSharedReceiveQueue() {
		return new AdapterAttributes(this.iwarp, this.maxQueuePairs, this.maxQueueDepth, this.maxSegments,
				this.maxReadSegments, this.maxCompletions, this.maxReadsServed, this.maxReadsStarted, 0, 0,
				this.maxMessageBytes, this.siw);
	}

	/**
	 * What the peer sent along: InfiniBand fills private data up to a fixed size, so
	 * trailing zeros are not told.
	 */
	byte[] privateDataOf(ConnectionEvent event) {
		return this.iwarp ? event.privateData() : event.unpaddedPrivateData();
	}

	/** The same in the words of the SPI. */
	DeviceLimits toLimits() {
		int segments = Math.min(this.maxSegments, MOST_SEGMENTS);
		int receiveSegments = sharedReceiveQueue() ? Math.min(segments, this.maxSharedSegments) : segments;
		int receives = sharedReceiveQueue() ? Math.min(this.maxQueueDepth, this.maxSharedReceives) : this.maxQueueDepth;
		int sends = oneSegmentPerRead() ? Math.max(1, this.maxQueueDepth / segments) : this.maxQueueDepth;
		int reads = Math.min(MOST_READS, Math.min(this.maxReadsServed, this.maxReadsStarted));
		return new DeviceLimits(this.maxQueuePairs, this.maxCompletions / 2, sends, receives, segments, receiveSegments,
				Math.max(1, reads), this.maxMessageBytes, sharedReceiveQueue(), false, false, true);
	}

}
