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

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * The messages of a channel that the peer is Reading: from the posting of the frame that
 * describes them until the peer says that it is done. A message whose call is given up
 * stays open a little longer, so that an honest peer can finish the Reads it has posted
 * instead of losing the connection to an access error.
 *
 * <p>
 * The peer may go without progress for as long as it may be silent. Progress is what it
 * says to have read, of whichever message, for it reads one after the other; but so many
 * bytes are worth no more time than {@value #LEAST_BYTES_PER_SECOND} bytes per second
 * take. And a message stays open no longer than the peer may take at that speed for all
 * that was open when it was opened. So who claims what is not so, or reads byte by byte,
 * gains no more than who is slow.
 *
 * <p>
 * Confined to the loop's driver. Shares the messages with the {@link OutboundQueue}; a
 * message is given back when both are done with it.
 */
final class Exposures {

	/** How long a message stays open at least whose call was given up. */
	private static final long GRACE_NANOS = 1_000_000_000;

	/** Which part of the limit it stays open if that is longer: for slow networks. */
	private static final int GRACE_FRACTION = 30;

	private static final int LEAST_BYTES_PER_SECOND = 32 * 1024;

	private static final long NANOS_PER_BYTE = 1_000_000_000 / LEAST_BYTES_PER_SECOND;

	private final Map<Integer, OutgoingMessage> open = new HashMap<>();

	private final long limitNanos;

	private final long graceNanos;

	/** How many there are of each class. */
	private final int[] openOfClass = new int[Classes.COUNT];

	private long openBytes;

	private long progressNanos;

	private boolean late;

	/**
	 * Creates the collection.
	 * @param limitNanos how long the peer may go without progress
	 */
	Exposures(long limitNanos) {
		this.limitNanos = limitNanos;
		this.graceNanos = Math.max(GRACE_NANOS, limitNanos / GRACE_FRACTION);
	}

	/** The frame that describes a message has been posted. */
	void add(OutgoingMessage message, long nowNanos) {
		if (this.open.isEmpty()) {
			this.progressNanos = nowNanos;
		}
		OutgoingMessage before = this.open.put(message.requestId(), message);
		if (before != null) {
			revoke(before);
		}
		this.openBytes += message.exposedBytes();
		this.openOfClass[message.priority()]++;
		message.exposed(nowNanos, nowNanos + this.limitNanos + this.openBytes * NANOS_PER_BYTE);
	}

	/** The peer has read so much of a message. */
	void progress(int requestId, int readBytes, long nowNanos) {
		OutgoingMessage message = this.open.get(requestId);
		if (message != null) {
			credit(message.read(readBytes), nowNanos);
		}
	}

	/** The peer has read a message, or does not want it. */
	void done(int requestId, long nowNanos) {
		OutgoingMessage message = this.open.remove(requestId);
		if (message != null) {
			credit(message.read(message.exposedBytes()), nowNanos);
			revoke(message);
		}
	}

	private void credit(int bytes, long nowNanos) {
		this.progressNanos += Math.min(nowNanos - this.progressNanos, bytes * NANOS_PER_BYTE);
	}

	private void revoke(OutgoingMessage message) {
		this.openBytes -= message.exposedBytes();
		this.openOfClass[message.priority()]--;
		message.revoke();
	}

	/** What the peer has not read was not sent. */
	private void revokeUnread(OutgoingMessage message) {
		message.withdrawn(message.exposedUntil());
		revoke(message);
	}

	/** Nobody is interested any more in the message of a call. */
	void withdraw(int requestId, long nowNanos) {
		OutgoingMessage message = this.open.get(requestId);
		if (message != null) {
			message.withdrawn(nowNanos + this.graceNanos);
		}
	}

	/**
	 * Revokes what has been open for too long.
	 * @return whether the peer has ever failed to read something that was still wanted
	 */
	boolean expire(long nowNanos) {
		for (Iterator<OutgoingMessage> messages = this.open.values().iterator(); messages.hasNext();) {
			OutgoingMessage message = messages.next();
			if (isOver(message, nowNanos)) {
				messages.remove();
				this.late |= !message.isWithdrawn();
				revokeUnread(message);
			}
		}
		return this.late;
	}

	private boolean isOver(OutgoingMessage message, long nowNanos) {
		long idleNanos = Math.min(nowNanos - this.progressNanos, nowNanos - message.since());
		return idleNanos >= this.limitNanos || nowNanos - message.exposedUntil() >= 0;
	}

	/** Whether there are any of a class or of less urgent ones. */
	boolean anyUpTo(int priority) {
		int count = 0;
		for (int i = 0; i <= priority; i++) {
			count += this.openOfClass[i];
		}
		return count > 0;
	}

	/** Whether there are none; a hint for threads other than the driver. */
	boolean isEmpty() {
		return this.open.isEmpty();
	}

	/** Revokes everything. */
	void close() {
		this.open.values().forEach(this::revokeUnread);
		this.open.clear();
	}

}
