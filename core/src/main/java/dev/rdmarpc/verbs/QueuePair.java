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

package dev.rdmarpc.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A send queue and a receive queue: one end of a reliable connection.
 */
public interface QueuePair extends AutoCloseable {

	/** A number that is unique among the open queue pairs of the device. */
	int number();

	/**
	 * The listener it was created with; by it the user of a completion finds the object
	 * of its own that the queue pair belongs to.
	 */
	QueuePairListener listener();

	/** The state at this instant. */
	QueuePairState state();

	/** What put the queue pair into error, or {@code null} if nothing did. */
	@Nullable QueuePairFault fault();

	/**
	 * Posts work to the send queue. It is handed to the device at the latest by
	 * {@link #ringDoorbell()} or by the next poll of the completion queue, whichever
	 * comes first. In {@link QueuePairState#ERROR} it is taken and flushed.
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} for a receive,
	 * {@link VerbsError#LIMIT_EXCEEDED} for too many segments,
	 * {@link VerbsError#INVALID_STATE} before the connection is established,
	 * {@link VerbsError#CLOSED}
	 */
	PostResult postSend(WorkRequest request);

	/**
	 * Posts a receive. Allowed from {@link QueuePairState#INITIALIZED} on; in
	 * {@link QueuePairState#ERROR} it is taken and flushed.
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} for a request that
	 * is no receive or a queue pair that uses a shared receive queue,
	 * {@link VerbsError#LIMIT_EXCEEDED} for too many segments, {@link VerbsError#CLOSED}
	 */
	PostResult postReceive(WorkRequest request);

	/**
	 * Lets the peer use so many more receives of the shared receive queue. From the first
	 * call on, a Send beyond the sum ends this connection as if no receive were posted:
	 * one peer cannot use up what was posted for others. A device that does not count per
	 * queue pair ignores it, as does a queue pair with receives of its own.
	 * @param count receives; negative to take back what no peer knows of yet
	 */
	default void allowReceives(int count) {
		// not counted
	}

	/**
	 * Hands everything posted to the device, several requests at once. Does not block.
	 */
	void ringDoorbell();

	/**
	 * Ends the connection in order: what is posted is sent if the peer still takes it,
	 * then the queue pair goes to {@link QueuePairState#ERROR} and flushes. Idempotent.
	 */
	void disconnect();

	/**
	 * Ends the connection at once and releases the queue pair; what was posted to it is
	 * not reported any more and its memory is free when this returns. Idempotent.
	 *
	 * <p>
	 * Receives that it has taken from a shared receive queue and that were not polled
	 * yet: a device that can still reports them, as completions of this queue pair;
	 * another loses them, as verbs allow. Who wants all of them back from any device
	 * closes a queue pair once it was seen in {@link QueuePairState#ERROR} with all its
	 * Sends and Reads completed, and a later poll has brought less than it had room for.
	 */
	@Override
	void close();

}
