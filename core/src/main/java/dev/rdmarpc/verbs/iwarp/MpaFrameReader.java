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

package dev.rdmarpc.verbs.iwarp;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrame;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

/**
 * Reads one MPA frame from a stream, never a byte beyond its end, because what follows
 * belongs to the established stream. A wrong key is refused at its first wrong byte.
 */
final class MpaFrameReader {

	/** The first byte of a connection with TLS. */
	private static final byte TLS_HANDSHAKE = 22;

	private final boolean request;

	private final ByteBuffer buffer = ByteBuffer.allocate(MpaFrameFlyweight.MAX_BYTES)
		.limit(MpaFrameFlyweight.HEADER_BYTES);

	MpaFrameReader(boolean request) {
		this.request = request;
	}

	/** Whether no byte has come yet. */
	boolean isUntouched() {
		return this.buffer.position() == 0;
	}

	/**
	 * Reads what is there.
	 * @return the frame, or {@code null} if it is not complete
	 * @throws EOFException if the peer has closed
	 * @throws VerbsException with {@link VerbsError#PROTOCOL_ERROR} if it is no MPA frame
	 */
	@Nullable MpaFrame read(ReadableByteChannel bytes) throws IOException {
		while (true) {
			if (this.buffer.hasRemaining()) {
				int read = bytes.read(this.buffer);
				if (read < 0) {
					throw new EOFException("peer closed the connection during the MPA handshake");
				}
				checkKey();
				if (this.buffer.hasRemaining()) {
					return null;
				}
			}
			int length = MpaFrameFlyweight.privateDataLength(this.buffer, 0);
			if (length > MpaFrameFlyweight.MAX_PRIVATE_DATA_BYTES) {
				throw new VerbsException(VerbsError.PROTOCOL_ERROR, "MPA frame with private data of " + length
						+ " bytes (expected: at most " + MpaFrameFlyweight.MAX_PRIVATE_DATA_BYTES + ")");
			}
			int total = MpaFrameFlyweight.HEADER_BYTES + length;
			if (this.buffer.limit() == total) {
				return MpaFrame.decode(this.buffer);
			}
			this.buffer.limit(total);
		}
	}

	private void checkKey() {
		int available = this.buffer.position();
		boolean good = this.request ? MpaFrameFlyweight.beginsRequest(this.buffer, 0, available)
				: MpaFrameFlyweight.beginsReply(this.buffer, 0, available);
		if (!good && this.request && this.buffer.get(0) == TLS_HANDSHAKE) {
			throw new VerbsException(VerbsError.PROTOCOL_ERROR, "peer speaks TLS, which this listener does not");
		}
		if (!good) {
			throw new VerbsException(VerbsError.PROTOCOL_ERROR, "peer does not speak MPA: no "
					+ (this.request ? "request key" : "reply key (expected: an RDMA server at that port)"));
		}
	}

}
