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

package dev.rdmarpc.transport;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A peer that speaks iWARP by hand, so that it can stop where it likes: it has connected
 * without CRC and sends segments of Sends. Used by one thread.
 */
final class RawSender implements AutoCloseable {

	private static final int DDP_LAST = 0x4000;

	/** Untagged, versions 1 of DDP and RDMAP, Send. */
	private static final int DDP_SEND = 0x0143;

	private static final int DDP_HEADER_BYTES = 18;

	private static final int CRC_BYTES = 4;

	private static final int REJECTED = 0x20;

	private final Socket socket;

	private final DataInputStream in;

	private final @Nullable String rejection;

	/** Connects, with MPA of revision 1. */
	RawSender(InetSocketAddress server) throws IOException {
		this(server, server.getAddress());
	}

	/** The same from another address of this host. */
	RawSender(InetSocketAddress server, InetAddress from) throws IOException {
		this.socket = new Socket(server.getAddress(), server.getPort(), from, 0);
		this.socket.setTcpNoDelay(true);
		this.socket.setSoTimeout(20_000);
		this.in = new DataInputStream(this.socket.getInputStream());
		ByteBuffer request = ByteBuffer.allocate(20);
		request.put("MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII)).put((byte) 0).put((byte) 1);
		this.socket.getOutputStream().write(request.array());
		byte[] reply = new byte[20];
		this.in.readFully(reply);
		assertThat(new String(reply, 0, 16, StandardCharsets.US_ASCII)).isEqualTo("MPA ID Rep Frame");
		byte[] told = this.in.readNBytes(ByteBuffer.wrap(reply).getShort(18) & 0xFFFF);
		this.rejection = ((reply[16] & REJECTED) != 0) ? new String(told, StandardCharsets.US_ASCII) : null;
		assertThat(reply[16] & ~REJECTED).as("no CRC").isZero();
	}

	/** Why the server has rejected it, or {@code null}. */
	@Nullable String rejection() {
		return this.rejection;
	}

	/** Sends the first part of the first Send. */
	void begin(byte[] part) throws IOException {
		write(1, false, 1, part);
	}

	/** Sends the first so many Sends, all the same, in one piece. */
	void send(int count, byte[] message) throws IOException {
		write(count, true, 1, message);
	}

	private void write(int count, boolean last, int firstNumber, byte[] payload) throws IOException {
		int length = DDP_HEADER_BYTES + payload.length;
		int frameBytes = (2 + length + 3) / 4 * 4 + CRC_BYTES;
		ByteBuffer stream = ByteBuffer.allocate(count * frameBytes);
		for (int i = 0; i < count; i++) {
			int at = i * frameBytes;
			stream.putShort(at, (short) length);
			stream.putShort(at + 2, (short) (DDP_SEND | (last ? DDP_LAST : 0)));
			stream.putInt(at + 12, firstNumber + i);
			stream.put(at + 2 + DDP_HEADER_BYTES, payload);
		}
		this.socket.getOutputStream().write(stream.array());
	}

	/** Waits until the other side has ended the connection. */
	void awaitEnd() throws IOException {
		try {
			while (this.in.read() >= 0) {
				Thread.onSpinWait();
			}
		}
		catch (SocketException ex) {
			assertThat(ex).as("the end, but not an orderly one").hasMessageContaining("reset");
		}
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
