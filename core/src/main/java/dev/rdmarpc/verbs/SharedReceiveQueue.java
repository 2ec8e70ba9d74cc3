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
 * A queue of receives from which many queue pairs take. Its completions appear in the
 * completion queue of the queue pair that took the receive.
 */
public interface SharedReceiveQueue extends AutoCloseable {

	/**
	 * Posts a receive.
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} for a request that
	 * is no receive, {@link VerbsError#LIMIT_EXCEEDED} for too many segments,
	 * {@link VerbsError#CLOSED}
	 */
	PostResult postReceive(WorkRequest request);

	/**
	 * Posts receives in order, in one step where the device can, until the queue is full.
	 * @param requests in an array that is borrowed, from index 0
	 * @param count how many of them
	 * @return how many were posted
	 * @throws VerbsException as {@link #postReceive}; those before the one at fault may
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
	 * Takes receives back that no queue pair has taken or was lent. They are not reported
	 * and their memory is free. A device that has them already cannot give them back.
	 * @param ids filled with the ids of those taken back, from index 0
	 * @param count how many at most
	 * @return how many, 0 from a device that cannot
	 */
	default int withdrawReceives(long[] ids, int count) {
		return 0;
	}

	/** Receives posted and not yet taken. */
	int posted();

	/**
	 * Closes the queue; posted receives are forgotten without a completion. Queue pairs
	 * using it must be closed before. Idempotent.
	 * @throws VerbsException with {@link VerbsError#BUSY} while queue pairs use it
	 */
	@Override
	void close();

}
