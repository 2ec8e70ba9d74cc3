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

package dev.rdmarpc.verbs.iwarp.rdmap;

import dev.rdmarpc.verbs.WorkStatus;

/**
 * Whose stream it is: is told what came in on the stream, and answers for what the stream
 * shares with others. Called with the reactor's lock held.
 */
public interface StreamOwner {

	/** Whether there is room for one more completion. No segment is begun without. */
	boolean hasRoom();

	/**
	 * A Send has filled a receive.
	 * @param id the receive's
	 * @param bytes how long the message is
	 * @param invalidatedKey the STag that it has invalidated, or 0
	 * @param solicited whether the peer asks for a notification
	 */
	void received(long id, long bytes, int invalidatedKey, boolean solicited);

	/**
	 * The peer has ended the stream.
	 * @param status how the work at fault ends
	 * @param failedSequence that work in the send queue, or -1
	 * @param detail what the peer has said
	 */
	void terminated(WorkStatus status, long failedSequence, String detail);

	/**
	 * Allocates memory for what the stream has begun and cannot finish.
	 * @throws ProtocolViolation if there is none, and it is this stream that ends
	 */
	StagingMemory.Block allocateStaging(int bytes) throws ProtocolViolation;

}
