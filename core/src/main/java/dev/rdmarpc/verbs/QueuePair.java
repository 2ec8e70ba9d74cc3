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
 * A send queue and a receive queue, one end of a reliable connection.
 */
public interface QueuePair extends AutoCloseable {

	/** A number that is unique among the open queue pairs of the device. */
	int number();

	/**
	 * The listener it was created with, by which the user of a completion can find its
	 * own object for the queue pair.
	 */
	QueuePairListener listener();

	/** The state at this instant. */
	QueuePairState state();

	/** The cause of the error state, or {@code null} if there is none. */
	@Nullable QueuePairFault fault();

	/**
	 * Posts work to the send queue. The device gets it no later than with
	 * {@link #ringDoorbell()} or the next poll of the completion queue, whichever comes
	 * first. In {@link QueuePairState#ERROR} it is accepted and flushed.
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} for a receive,
	 * {@link VerbsError#LIMIT_EXCEEDED} for too many segments,
	 * {@link VerbsError#INVALID_STATE} before the connection is established,
	 * {@link VerbsError#CLOSED}
	 */
	PostResult postSend(WorkRequest request);

	/**
	 * Posts a receive. Allowed from {@link QueuePairState#INITIALIZED} on; in
	 * {@link QueuePairState#ERROR} it is accepted and flushed.
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} for a request that
	 * is not a receive or a queue pair that uses a shared receive queue,
	 * {@link VerbsError#LIMIT_EXCEEDED} for too many segments, {@link VerbsError#CLOSED}
	 */
	PostResult postReceive(WorkRequest request);

	/**
	 * Lets the peer use additional receives of the shared receive queue. From the first
	 * call on, a Send beyond the sum ends this connection as if no receive were posted,
	 * so that one peer cannot use up receives posted for others. Devices that do not
	 * count per queue pair ignore this, as do queue pairs with their own receives.
	 * @param count receives; negative to revoke receives that no peer knows of yet
	 */
	default void allowReceives(int count) {
		// not counted
	}

	/**
	 * Says whether small messages are not to wait for the large ones beside which they
	 * travel for now: the device then moves less of these at a time, which costs some of
	 * their throughput. A hint; devices on which the adapter decides ignore it.
	 */
	default void favorLatency(boolean favored) {
		// the same either way
	}

	/**
	 * Hands all posted requests to the device, as a batch. Does not block.
	 */
	void ringDoorbell();

	/**
	 * Ends the connection in order: posted work is sent if the peer still accepts it,
	 * then the queue pair goes to {@link QueuePairState#ERROR} and flushes. Idempotent.
	 */
	void disconnect();

	/**
	 * Ends the connection at once and releases the queue pair. Its posted work is no
	 * longer reported, and the memory is free when this returns. Idempotent.
	 *
	 * <p>
	 * Some devices still report receives that it has taken from a shared receive queue
	 * and that were not polled yet, as completions of this queue pair; others lose them,
	 * as the verbs allow. To get all of them back from any device, a caller closes the
	 * queue pair only after it was seen in {@link QueuePairState#ERROR} with all its
	 * Sends and Reads completed, and after a later poll returned fewer completions than
	 * it had room for.
	 */
	@Override
	void close();

}
