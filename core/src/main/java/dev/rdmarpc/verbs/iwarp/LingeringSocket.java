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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A socket whose connection is over: its last words are written, then it is half-closed
 * and read until the peer has closed too, so that no reset overtakes the last words.
 */
final class LingeringSocket extends SocketHandler {

	private static final Logger logger = LoggerFactory.getLogger(LingeringSocket.class);

	private static final int MAX_READS = 64;

	private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

	private final ConnectionThread thread;

	private final ByteStream bytes;

	private ByteBuffer lastWords;

	private boolean halfClosed;

	private LingeringSocket(ConnectionThread thread, ByteStream bytes, ByteBuffer lastWords, long deadlineNanos) {
		super(deadlineNanos);
		this.thread = thread;
		this.bytes = bytes;
		this.lastWords = lastWords;
	}

	/** Takes over a socket; on the connection thread. */
	static void start(ConnectionThread thread, ByteStream bytes, ByteBuffer lastWords, long deadlineNanos) {
		LingeringSocket socket = new LingeringSocket(thread, bytes, lastWords, deadlineNanos);
		try {
			if (!socket.advance()) {
				thread.register(bytes, socket.interest(), socket);
				thread.addLingering(socket);
			}
		}
		catch (Throwable ex) {
			socket.failed(ex);
		}
	}

	private int interest() {
		return SelectionKey.OP_READ | (this.halfClosed ? 0 : SelectionKey.OP_WRITE);
	}

	@Override
	void ready() throws IOException {
		if (!advance()) {
			this.bytes.interest(interest());
		}
	}

	/** Writes and reads what is possible; returns whether the socket is closed. */
	private boolean advance() throws IOException {
		if (!this.halfClosed) {
			write();
			if (!this.lastWords.hasRemaining()) {
				this.bytes.shutdownOutput();
				this.halfClosed = true;
			}
		}
		for (int i = 0; i < MAX_READS; i++) {
			int read = this.bytes.read(this.thread.buffer());
			if (read < 0) {
				close();
				return true;
			}
			if (read == 0) {
				break;
			}
		}
		return false;
	}

	/** Writes from a buffer that is there, which needs no memory. */
	private void write() throws IOException {
		ByteBuffer left = this.lastWords;
		boolean taken = true;
		while (taken && left.hasRemaining()) {
			ByteBuffer piece = this.thread.buffer();
			int length = Math.min(left.remaining(), piece.capacity());
			piece.put(0, left, left.position(), length).limit(length);
			int written = this.bytes.write(piece);
			left.position(left.position() + written);
			taken = written == length;
		}
	}

	int lastWordsBytes() {
		return this.lastWords.capacity();
	}

	@Override
	void timedOut() {
		close();
	}

	@Override
	void failed(Throwable cause) {
		logger.debug("Connection ended without a farewell: {}", cause.toString());
		close();
	}

	/** Closes the socket without waiting any longer. */
	void close() {
		finish();
		this.thread.removeLingering(this);
		this.lastWords = NOTHING; // they count no more
		closeQuietly(this.bytes);
	}

}
