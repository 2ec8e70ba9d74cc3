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

import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;

/**
 * Handles the DDP segments of one kind of message, in two steps around the placement of
 * their payload. Called with the reactor's lock held.
 */
interface SegmentHandler {

	/**
	 * Checks that an untagged segment is the one expected on its queue (RFC 5041, section
	 * 5.3).
	 * @param kind of message, as the violation calls it
	 */
	static void checkExpected(ByteBuffer in, int ddpOffset, String kind, int queue, int msn, long offset)
			throws ProtocolViolation {
		int actualQueue = DdpUntaggedFlyweight.queueNumber(in, ddpOffset);
		if (actualQueue != queue) {
			throw ProtocolViolation.of(TerminateError.DDP_UNTAGGED_INVALID_QUEUE,
					kind + " on untagged queue " + Integer.toUnsignedString(actualQueue));
		}
		int actualMsn = DdpUntaggedFlyweight.messageSequenceNumber(in, ddpOffset);
		if (actualMsn != msn) {
			throw ProtocolViolation.of(TerminateError.DDP_UNTAGGED_MSN_RANGE, kind + " with message sequence number "
					+ Integer.toUnsignedString(actualMsn) + " (expected: " + Integer.toUnsignedString(msn) + ")");
		}
		long actualOffset = Integer.toUnsignedLong(DdpUntaggedFlyweight.messageOffset(in, ddpOffset));
		if (actualOffset != offset) {
			throw ProtocolViolation.of(TerminateError.DDP_UNTAGGED_INVALID_OFFSET,
					kind + " with message offset " + actualOffset + " (expected: " + offset + ")");
		}
	}

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
