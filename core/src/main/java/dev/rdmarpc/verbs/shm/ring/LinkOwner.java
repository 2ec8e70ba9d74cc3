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

package dev.rdmarpc.verbs.shm.ring;

import dev.rdmarpc.verbs.WorkStatus;

/** What a link tells the connection that it belongs to. */
public interface LinkOwner {

	/** Whether the completion queue has room for a completion. */
	boolean hasRoom();

	/** A Send has arrived; there is room for the completion of its receive. */
	void received(long id, long bytes, int invalidatedKey, boolean solicited);

	/** The peer sleeps and waits for what was just published. */
	void wakePeer();

	/**
	 * The peer has ended the connection, and all that it sent before was consumed.
	 * @param status {@link WorkStatus#FLUSHED} if in order
	 */
	void peerEnded(WorkStatus status, String detail);

}
