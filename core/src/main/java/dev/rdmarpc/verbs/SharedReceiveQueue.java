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

/**
 * A queue of receives that many queue pairs share. A completion appears in the completion
 * queue of the queue pair that took the receive.
 */
public interface SharedReceiveQueue extends AutoCloseable {

	/**
	 * Posts a receive.
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} for a request that
	 * is not a receive, {@link VerbsError#LIMIT_EXCEEDED} for too many segments,
	 * {@link VerbsError#CLOSED}
	 */
	PostResult postReceive(WorkRequest request);

	/**
	 * Posts receives in order until the queue is full, as a batch if the device can.
	 * @param requests from index 0; the array is borrowed
	 * @param count number of requests
	 * @return the number of requests posted
	 * @throws VerbsException as {@link #postReceive}; requests before the invalid one may
	 * have been posted
	 */
	default int postReceives(WorkRequest[] requests, int count) {
		int done = 0;
		while (done < count && postReceive(requests[done]) == PostResult.POSTED) {
			done++;
		}
		return done;
	}

	/**
	 * Withdraws receives that no queue pair has taken or may count on. They are not
	 * reported, and their memory is free. A device cannot withdraw receives that it holds
	 * itself.
	 * @param ids filled with the ids of the withdrawn receives, from index 0
	 * @param count the maximum number
	 * @return the number withdrawn, 0 from a device that cannot
	 */
	default int withdrawReceives(long[] ids, int count) {
		return 0;
	}

	/** Receives posted and not yet taken. */
	int posted();

	/**
	 * Closes the queue; posted receives are dropped without a completion. Queue pairs
	 * that use it must be closed first. Idempotent.
	 * @throws VerbsException with {@link VerbsError#BUSY} while queue pairs use it
	 */
	@Override
	void close();

}
