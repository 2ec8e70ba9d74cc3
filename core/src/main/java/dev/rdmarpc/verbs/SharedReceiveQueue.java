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
