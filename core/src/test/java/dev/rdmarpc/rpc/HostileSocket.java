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

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.Frames;
import dev.rdmarpc.verbs.TlsOptions;

/**
 * A hostile peer on a plain socket, which writes MPA and DDP by hand and reads nothing
 * unless told to.
 */
final class HostileSocket implements AutoCloseable {

	private static final int READ_MILLIS = 2_000;

	/** The code of the operation. */
	private static final int SEND = 3;

	private Socket socket = new Socket();

	private int sequence;

	HostileSocket(int port) throws IOException {
		this(port, null);
	}

	/** Connects from another address of this host, unless that is {@code null}. */
	HostileSocket(int port, @Nullable InetAddress from) throws IOException {
		if (from != null) {
			this.socket.bind(new InetSocketAddress(from, 0));
		}
		this.socket.connect(new InetSocketAddress(TestEnvironment.address(), port), READ_MILLIS);
		this.socket.setTcpNoDelay(true);
		this.socket.setSoTimeout(READ_MILLIS);
	}

	/** Goes on in TLS, as a client of this protocol. */
	HostileSocket secured(SSLContext context) throws IOException {
		SSLSocket secure = (SSLSocket) context.getSocketFactory()
			.createSocket(this.socket, "localhost", this.socket.getPort(), true);
		SSLParameters parameters = secure.getSSLParameters();
		parameters.setApplicationProtocols(new String[] { TlsOptions.APPLICATION_PROTOCOL });
		secure.setSSLParameters(parameters);
		secure.startHandshake();
		this.socket = secure;
		return this;
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

	/** Whether the other side has said something that was not read yet. */
	boolean hasMore() throws IOException {
		return this.socket.getInputStream().available() > 0;
	}

	/**
	 * Reads what the other side has sent next.
	 * @return the payload of a Send, or {@code null} if it was something else
	 * @throws EOFException if the other side has ended the connection
	 */
	byte @Nullable [] read() throws IOException {
		byte[] whole = readWhole();
		int length = ByteBuffer.wrap(whole).getShort() & 0xFFFF;
		return ((whole[3] & 0x0F) == SEND) ? Arrays.copyOfRange(whole, 20, 2 + length) : null;
	}

	/**
	 * Reads what the other side has sent next, from its length to its CRC.
	 * @throws EOFException if the other side has ended the connection
	 */
	byte[] readWhole() throws IOException {
		DataInputStream in = new DataInputStream(this.socket.getInputStream());
		int length = in.readUnsignedShort();
		ByteBuffer whole = ByteBuffer.allocate((2 + length + 3) / 4 * 4 + 4).putShort((short) length);
		in.readFully(whole.array(), 2, whole.remaining());
		return whole.array();
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
