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
 * Reports completed work requests, in order per queue and direction. It is also the unit
 * of progress: polling or awaiting it advances the queue pairs attached to it.
 */
public interface CompletionQueue extends AutoCloseable {

	/**
	 * Takes completions without blocking.
	 * @param completions filled from index 0; all elements non-null
	 * @return the number of completions, possibly 0
	 * @throws VerbsException with {@link VerbsError#CLOSED} after {@link #close()}
	 */
	int poll(WorkCompletion[] completions);

	/**
	 * Whether the last poll, even if it found no completion, moved bytes of work in
	 * progress: a reason to continue polling instead of awaiting. For the polling thread.
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
	 * is closed, the thread is interrupted, or the timeout elapses. One thread at a time
	 * may await. An interrupted thread keeps its interrupt status. Posting, polling and
	 * awaiting on an interrupted thread do not affect connections. Java 17 may lose an
	 * interrupt that comes just when a thread begins to sleep in a selector: then it is
	 * noticed with whatever wakes the thread next.
	 * @return whether the notification fired
	 * @throws VerbsException with {@link VerbsError#CLOSED} if the queue is or gets
	 * closed
	 */
	boolean await(long timeoutNanos);

	/** Makes the current {@link #await}, or else the next one, return at once. */
	void wakeUp();

	/**
	 * Closes the queue. Queue pairs that are still attached go to error; their posted
	 * work is no longer reported. Idempotent.
	 */
	@Override
	void close();

}
