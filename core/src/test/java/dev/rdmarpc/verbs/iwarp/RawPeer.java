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

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;

import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrame;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A peer on a plain blocking socket that sends what it is told, byte by byte if need be.
 */
final class RawPeer implements AutoCloseable {

	private final Socket socket;

	private final DataInputStream in;

	private boolean crcEnabled;

	RawPeer(InetSocketAddress address) throws IOException {
		this(new Socket(address.getAddress(), address.getPort()));
	}

	RawPeer(Socket socket) throws IOException {
		this.socket = socket;
		this.socket.setTcpNoDelay(true);
		this.socket.setSoTimeout((int) Endpoint.DEADLINE.toMillis());
		this.in = new DataInputStream(socket.getInputStream());
	}

	Socket socket() {
		return this.socket;
	}

	/** Whether frames carry a CRC from here on. */
	RawPeer crcEnabled(boolean enabled) {
		this.crcEnabled = enabled;
		return this;
	}

	RawPeer write(byte[] bytes) throws IOException {
		this.socket.getOutputStream().write(bytes);
		return this;
	}

	RawPeer write(ByteBuffer bytes) throws IOException {
		byte[] array = new byte[bytes.remaining()];
		bytes.get(array);
		return write(array);
	}

	/** Sends a segment in a good frame. */
	RawPeer segment(byte[] ulpdu) throws IOException {
		return write(Fpdu.frame(ulpdu, this.crcEnabled));
	}

	/** Reads an MPA frame. */
	MpaFrame readMpaFrame() throws IOException {
		ByteBuffer frame = ByteBuffer.allocate(MpaFrameFlyweight.MAX_BYTES);
		this.in.readFully(frame.array(), 0, MpaFrameFlyweight.HEADER_BYTES);
		this.in.readFully(frame.array(), MpaFrameFlyweight.HEADER_BYTES, MpaFrameFlyweight.privateDataLength(frame, 0));
		return MpaFrame.decode(frame);
	}

	/** Reads a frame, checks its CRC and returns its segment. */
	ByteBuffer readSegment() throws IOException {
		int length = this.in.readUnsignedShort();
		ByteBuffer frame = ByteBuffer.allocate(FpduFlyweight.totalBytes(length));
		FpduFlyweight.ulpduLength(frame, 0, length);
		this.in.readFully(frame.array(), FpduFlyweight.ULPDU_OFFSET, frame.capacity() - FpduFlyweight.ULPDU_OFFSET);
		int end = frame.capacity() - FpduFlyweight.CRC_BYTES;
		assertThat(FpduFlyweight.crc(frame, end)).as("CRC").isEqualTo(this.crcEnabled ? Fpdu.crcOf(frame, end) : 0);
		return frame.slice(FpduFlyweight.ULPDU_OFFSET, length);
	}

	/**
	 * Polls an endpoint until it has sent something, and reads a segment: what it waits
	 * for may not be there when it is polled first.
	 */
	ByteBuffer awaitSegment(Endpoint endpoint) throws IOException {
		Endpoint.pollUntil(this::hasBytes, endpoint);
		return readSegment();
	}

	private boolean hasBytes() {
		try {
			return this.in.available() > 0;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Reads segments up to the Terminate and returns that. */
	ByteBuffer readTerminate() throws IOException {
		while (true) {
			ByteBuffer segment = readSegment();
			if (DdpControl.opcode(DdpUntaggedFlyweight.control(segment, 0)) == DdpControl.OPCODE_TERMINATE) {
				return segment;
			}
		}
	}

	/** Reads to the end of the stream; a reset is a failure. */
	int readToEnd() throws IOException {
		int count = 0;
		while (this.in.read() >= 0) {
			count++;
		}
		return count;
	}

	/**
	 * Whether the other side has closed without sending anything more, orderly or not.
	 */
	boolean isCutOff() throws IOException {
		try {
			return this.in.read() < 0;
		}
		catch (EOFException | java.net.SocketException ex) {
			return true;
		}
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
