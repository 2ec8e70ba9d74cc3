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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairState;

/**
 * The queue pair of a channel, and the frames and Reads that are posted to it.
 *
 * <p>
 * Confined to the loop's driver. There is none before the connection is begun and after
 * it was disposed of. What was posted belongs to the device until it has completed or the
 * queue pair is closed, so an end has two steps: {@link #end()} gives back what the
 * device has not seen, {@link #dispose()} the rest.
 */
final class ChannelQueuePair {

	private final OutboundQueue outbound;

	private final Rendezvous rendezvous;

	private @Nullable QueuePair queuePair;

	ChannelQueuePair(OutboundQueue outbound, Rendezvous rendezvous) {
		this.outbound = outbound;
		this.rendezvous = rendezvous;
	}

	/** Takes the queue pair, which it owns from now on. */
	void attach(QueuePair created) {
		this.queuePair = created;
		this.rendezvous.attach(created);
	}

	QueuePair get() {
		QueuePair pair = this.queuePair;
		if (pair == null) {
			throw new IllegalStateException("channel without a queue pair");
		}
		return pair;
	}

	/**
	 * Posts what credits and queue depth allow, then rings the doorbell.
	 * @param handshaking whether only the handshake may be sent
	 */
	void post(boolean handshaking) {
		QueuePair pair = this.queuePair;
		if (pair == null) {
			return;
		}
		boolean posted = this.outbound.post(pair, handshaking);
		if (this.rendezvous.post(pair) || posted) {
			pair.ringDoorbell();
		}
	}

	/** Whether there may be more to post now that something has completed. */
	boolean canPost() {
		return this.outbound.hasWaiting() || this.rendezvous.canPost();
	}

	/** Leaves the connection and forgets what was not posted yet. */
	void end() {
		QueuePair pair = this.queuePair;
		try {
			if (pair != null) {
				pair.disconnect();
			}
		}
		finally {
			forget();
		}
	}

	private void forget() {
		try {
			this.outbound.dropUnposted();
		}
		finally {
			this.rendezvous.close();
		}
	}

	/**
	 * Whether the connection is over and the device has given all posted buffers back.
	 */
	boolean isQuiet() {
		QueuePair pair = this.queuePair;
		boolean over = pair == null || pair.state() == QueuePairState.ERROR;
		return over && this.outbound.isEmpty() && this.rendezvous.isQuiet();
	}

	/** Closes the queue pair and releases whatever it still held. May be repeated. */
	void dispose() {
		QueuePair pair = this.queuePair;
		if (pair != null) {
			pair.close();
			this.queuePair = null;
		}
		forget();
		this.outbound.dropPosted();
		this.rendezvous.dropPosted();
	}

}
