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

package dev.rdmarpc.rpc;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.Frames;

/**
 * A hostile peer on a plain socket, which writes MPA and DDP by hand and reads nothing
 * unless told to.
 */
final class HostileSocket implements AutoCloseable {

	private static final int READ_MILLIS = 2_000;

	private final Socket socket = new Socket();

	private int sequence;

	HostileSocket(int port) throws IOException {
		this.socket.connect(new InetSocketAddress(TestEnvironment.address(), port), READ_MILLIS);
		this.socket.setTcpNoDelay(true);
		this.socket.setSoTimeout(READ_MILLIS);
	}

	/** Sends bytes as they are. */
	HostileSocket write(byte[] bytes) throws IOException {
		OutputStream out = this.socket.getOutputStream();
		out.write(bytes);
		out.flush();
		return this;
	}

	/** The request to set up a connection. */
	static byte[] mpaRequest(boolean crc) {
		byte[] request = new byte[20];
		byte[] key = "MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII);
		System.arraycopy(key, 0, request, 0, key.length);
		request[16] = (byte) (crc ? 0x40 : 0);
		request[17] = 1;
		return request;
	}

	/** Sets a connection up. */
	HostileSocket connected(boolean crc) throws IOException {
		write(mpaRequest(crc));
		InputStream in = this.socket.getInputStream();
		byte[] reply = in.readNBytes(20);
		if (reply.length < 20) {
			throw new IOException("refused");
		}
		in.readNBytes(Byte.toUnsignedInt(reply[18]) * 256 + Byte.toUnsignedInt(reply[19]));
		return this;
	}

	/** Sets a connection up and shakes hands. */
	HostileSocket open() throws IOException {
		return connected(false).write(framed(Frames.hello(1, 32)));
	}

	/** The frame of a whole Send, without CRC. */
	byte[] framed(byte[] payload) {
		int length = 18 + payload.length;
		ByteBuffer frame = ByteBuffer.allocate((2 + length + 3) / 4 * 4 + 4);
		frame.putShort((short) length).put((byte) 0x41).put((byte) 0x43).putInt(0).putInt(0);
		frame.putInt(++this.sequence).putInt(0).put(payload);
		return frame.array();
	}

	/** A Send with bytes at random places overwritten. */
	byte[] mutated(byte[] payload, Random random) {
		byte[] frame = framed(payload);
		for (int i = random.nextInt(4); i >= 0; i--) {
			frame[random.nextInt(frame.length)] = (byte) random.nextInt();
		}
		return frame;
	}

	/** Goes without a word. */
	void reset() throws IOException {
		this.socket.setSoLinger(true, 0);
		this.socket.close();
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
