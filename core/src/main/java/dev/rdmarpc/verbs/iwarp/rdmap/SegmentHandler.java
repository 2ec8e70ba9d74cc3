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

import java.nio.ByteBuffer;

/**
 * Handles the DDP segments of one kind of message, in two steps around the placement of
 * their payload. Called with the reactor's lock held.
 */
interface SegmentHandler {

	/**
	 * Checks the header against all state and adds the payload's place to the placement.
	 * @param in holds at least the header
	 * @param ddpOffset where the DDP header begins
	 * @param ulpduBytes length of header and payload
	 * @throws ProtocolViolation if the segment may not be accepted; nothing was placed
	 */
	void begin(ByteBuffer in, int ddpOffset, int ulpduBytes) throws ProtocolViolation;

	/**
	 * Delivers: the payload was placed and the CRC is good.
	 * @throws ProtocolViolation if the message as a whole may not be accepted
	 */
	void end() throws ProtocolViolation;

	/** What to say when memory of an unfinished placement is not registered any more. */
	ProtocolViolation placementLost();

}
