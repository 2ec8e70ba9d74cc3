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

package dev.rdmarpc.benchmarks.compare.tls;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/**
 * A blocking socket with an {@link SSLEngine}, in the plainest way that is still fast:
 * records in arrays, where the JDK encrypts fastest, up to sixteen of them with each
 * system call. Used by one thread.
 */
final class TlsSocket implements Closeable {

	private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

	private static final int RECORDS = 16;

	private final SocketChannel channel;

	private final SSLEngine engine;

	private final ByteBuffer in;

	private final ByteBuffer out;

	/** What was decrypted of a record that did not fit where it was asked for. */
	private final ByteBuffer rest;

	private final int mostRecordBytes;

	private final int mostPlainBytes;

	TlsSocket(SocketChannel channel, SSLEngine engine) {
		this.channel = channel;
		this.engine = engine;
		this.mostRecordBytes = engine.getSession().getPacketBufferSize();
		this.mostPlainBytes = engine.getSession().getApplicationBufferSize();
		this.in = ByteBuffer.allocate(RECORDS * this.mostRecordBytes).flip();
		this.out = ByteBuffer.allocate(RECORDS * this.mostRecordBytes);
		this.rest = ByteBuffer.allocate(this.mostPlainBytes).flip();
	}

	/** Makes the handshake. */
	void handshake() throws IOException {
		this.engine.beginHandshake();
		HandshakeStatus status = this.engine.getHandshakeStatus();
		while (status != HandshakeStatus.FINISHED && status != HandshakeStatus.NOT_HANDSHAKING) {
			status = switch (status) {
				case NEED_TASK -> compute();
				case NEED_WRAP -> {
					this.out.clear();
					SSLEngineResult result = checked(this.engine.wrap(NOTHING, this.out));
					send();
					yield result.getHandshakeStatus();
				}
				default -> hear();
			};
		}
	}

	private HandshakeStatus compute() {
		for (Runnable task = this.engine.getDelegatedTask(); task != null; task = this.engine.getDelegatedTask()) {
			task.run();
		}
		return this.engine.getHandshakeStatus();
	}

	private HandshakeStatus hear() throws IOException {
		SSLEngineResult result = this.engine.unwrap(this.in, NOTHING);
		while (result.getStatus() == Status.BUFFER_UNDERFLOW) {
			receive();
			result = this.engine.unwrap(this.in, NOTHING);
		}
		return checked(result).getHandshakeStatus();
	}

	private static SSLEngineResult checked(SSLEngineResult result) throws SSLException {
		if (result.getStatus() != Status.OK) {
			throw new SSLException("TLS: " + result.getStatus());
		}
		return result;
	}

	private void receive() throws IOException {
		this.in.compact();
		int read = this.channel.read(this.in);
		this.in.flip();
		if (read < 0) {
			throw new EOFException("peer closed the connection");
		}
	}

	private void send() throws IOException {
		this.out.flip();
		while (this.out.hasRemaining()) {
			this.channel.write(this.out);
		}
	}

	/** Sends all of it. */
	void write(ByteBuffer source) throws IOException {
		while (source.hasRemaining()) {
			this.out.clear();
			while (source.hasRemaining() && this.out.remaining() >= this.mostRecordBytes) {
				checked(this.engine.wrap(source, this.out));
			}
			send();
		}
	}

	/** Receives as much as fits. */
	void readFully(ByteBuffer target) throws IOException {
		while (target.hasRemaining()) {
			if (this.rest.hasRemaining()) {
				int piece = Math.min(this.rest.remaining(), target.remaining());
				target.put(target.position(), this.rest, this.rest.position(), piece);
				target.position(target.position() + piece);
				this.rest.position(this.rest.position() + piece);
			}
			else {
				boolean fits = target.remaining() >= this.mostPlainBytes;
				SSLEngineResult result = this.engine.unwrap(this.in, fits ? target : this.rest.clear());
				if (!fits) {
					this.rest.flip();
				}
				if (result.getStatus() == Status.BUFFER_UNDERFLOW) {
					receive();
				}
				else if (checked(result).getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
					compute();
				}
			}
		}
	}

	@Override
	public void close() throws IOException {
		this.channel.close();
	}

}
