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

package dev.rdmarpc.benchmarks.compare.aeron;

import java.nio.file.Path;

import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.logbuffer.BufferClaim;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The layout of a message's header, in the order of bytes of the host; a reply has its
 * request's slot.
 *
 * <pre>
 *  0       4       8       12
 *  +-------+-------+-------+----------------+
 *  | bytes | kind  | slot  | payload        |
 *  +-------+-------+-------+----------------+
 * </pre>
 *
 * A client says first where it wants its replies: a message without payload, with the
 * number of their stream in place of the slot.
 */
final class AeronMessage {

	static final String CHANNEL = "aeron:ipc";

	/** The stream of the requests of all clients. */
	static final int REQUESTS = 1001;

	/** The payload's size, i32. */
	static final int BYTES_OFFSET = 0;

	/** What the server shall do, i32. */
	static final int KIND_OFFSET = 4;

	/** Which of the client's outstanding calls, i32. */
	static final int SLOT_OFFSET = 8;

	static final int SIZE = 12;

	/** Send the payload back. */
	static final int ECHO = 1;

	/** Drop the payload, send its length back. */
	static final int UPLOAD = 2;

	/** Reply on this stream. */
	static final int HELLO = 3;

	private AeronMessage() {
	}

	/** Where the server of a number keeps what its driver shares with clients. */
	static Path directory(int port) {
		return Path.of("/dev/shm", "rdma-rpc-aeron-" + System.getProperty("user.name") + "-" + port);
	}

	static void header(MutableDirectBuffer buffer, int at, int bytes, int kind, int slot) {
		buffer.putInt(at + BYTES_OFFSET, bytes);
		buffer.putInt(at + KIND_OFFSET, kind);
		buffer.putInt(at + SLOT_OFFSET, slot);
	}

	/**
	 * Sends a message, in place if it fits into one frame; spins while there is no room.
	 * @throws IllegalStateException if there is nobody any more who takes it
	 */
	static void send(ExclusivePublication publication, BufferClaim claim, DirectBuffer message, int at, int length) {
		boolean inPlace = length <= publication.maxPayloadLength();
		while (true) {
			long result = inPlace ? publication.tryClaim(length, claim) : publication.offer(message, at, length);
			if (result > 0) {
				if (inPlace) {
					claim.buffer().putBytes(claim.offset(), message, at, length);
					claim.commit();
				}
				return;
			}
			if (result == Publication.CLOSED || result == Publication.NOT_CONNECTED
					|| result == Publication.MAX_POSITION_EXCEEDED) {
				throw new IllegalStateException("nothing can be sent: " + result);
			}
			Thread.onSpinWait();
		}
	}

}
