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
 * Where ended work requests are reported, in order per queue and direction. Also the unit
 * of progress: polling or awaiting it advances the queue pairs attached to it.
 */
public interface CompletionQueue extends AutoCloseable {

	/**
	 * Takes completions without blocking.
	 * @param completions filled from index 0; all elements non-null
	 * @return how many were filled, 0 if none was there
	 * @throws VerbsException with {@link VerbsError#CLOSED} after {@link #close()}
	 */
	int poll(WorkCompletion[] completions);

	/**
	 * Whether the last poll, though it may have found no completion, moved bytes of work
	 * under way: a reason to poll on instead of awaiting. For the thread that polled.
	 * Always {@code false} for devices that need no polling to move bytes.
	 */
	default boolean isMoving() {
		return false;
	}

	/**
	 * Arms the notification: the next completion (or, if asked, the next receive of a
	 * solicited Send or the next error) ends {@link #await}. Completions already in the
	 * queue do not count, so arm, poll once more, then await.
	 */
	void requestNotification(boolean solicitedOnly);

	/**
	 * Blocks until the armed notification fires, {@link #wakeUp()} is called, the queue
	 * is closed, the thread is interrupted, or the time is over. One thread at a time may
	 * await. An interrupted thread keeps its interrupt status, and neither posting,
	 * polling nor awaiting on such a thread harms a connection.
	 * @return whether the notification fired
	 * @throws VerbsException with {@link VerbsError#CLOSED} if the queue is or gets
	 * closed
	 */
	boolean await(long timeoutNanos);

	/** Makes the current or else the next {@link #await} return at once. */
	void wakeUp();

	/**
	 * Closes the queue. Queue pairs still attached go to error; what they had posted is
	 * not reported any more. Idempotent.
	 */
	@Override
	void close();

}
