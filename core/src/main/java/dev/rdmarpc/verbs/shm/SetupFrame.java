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

package dev.rdmarpc.verbs.shm;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * What the sides tell each other over the socket before they share memory, in the byte
 * order of the host. Each sends one frame: who connects a {@link Kind#REQUEST}, who
 * listens its answer. Who has connected then maps the memory and sends one byte.
 *
 * <pre>
 *  0             8      12      16      20          24          28
 *  +-------------+------+-------+-------+-----------+-----------+
 *  | RDMASHM1    | kind | reads | serves| port or   | length of |
 *  |             |      |       |       | ring size | private   |
 *  +-------------+------+-------+-------+-----------+-----------+
 *  | private data (56)                                          |
 *  +------------------------------------------------------------+ 84
 *  | length of the name (4), name (40)                          |
 *  +------------------------------------------------------------+ 128
 * </pre>
 *
 * @param kind what is said
 * @param readDepth Reads that the sender wants outstanding
 * @param responderResources Reads that it serves at once
 * @param number of a request, the port it comes from; of an acceptance, the capacity of a
 * ring
 * @param privateData for the user
 * @param name of an acceptance, the file of the memory; of a request, the address that it
 * wants to reach, or nothing for any
 */
record SetupFrame(Kind kind, int readDepth, int responderResources, int number, byte[] privateData, String name) {

	static final int BYTES = 128;

	private static final long MAGIC = 0x52444d41_53484d31L;

	private static final int PRIVATE_DATA = 28;

	private static final int NAME = PRIVATE_DATA + ConnectOptions.MAX_PRIVATE_DATA_BYTES;

	private static final Kind[] KINDS = Kind.values();

	private static final int MAX_NAME_BYTES = BYTES - NAME - Integer.BYTES;

	/** Writes a frame to a socket that has sent nothing before. */
	void write(SocketChannel socket) throws IOException {
		ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.nativeOrder());
		byte[] nameBytes = this.name.getBytes(StandardCharsets.US_ASCII);
		bytes.putLong(MAGIC)
			.putInt(this.kind.code)
			.putInt(this.readDepth)
			.putInt(this.responderResources)
			.putInt(this.number)
			.putInt(this.privateData.length)
			.put(this.privateData)
			.position(NAME)
			.putInt(nameBytes.length)
			.put(nameBytes);
		if (socket.write(bytes.clear()) != BYTES) {
			throw new IOException("socket does not take a frame");
		}
	}

	/** How a request names an address. */
	static String nameOf(InetAddress address) {
		return address.isAnyLocalAddress() ? "" : HexFormat.of().formatHex(address.getAddress());
	}

	/** Reads a frame of all its bytes. */
	static SetupFrame read(ByteBuffer bytes) {
		bytes.order(ByteOrder.nativeOrder());
		int kind = bytes.getInt(8);
		int privateLength = bytes.getInt(24);
		int nameLength = bytes.getInt(NAME);
		boolean valid = bytes.getLong(0) == MAGIC && kind >= 0 && kind < KINDS.length && privateLength >= 0
				&& privateLength <= ConnectOptions.MAX_PRIVATE_DATA_BYTES && nameLength >= 0
				&& nameLength <= MAX_NAME_BYTES && bytes.getInt(12) >= 0 && bytes.getInt(16) >= 0;
		if (!valid) {
			throw new VerbsException(VerbsError.PROTOCOL_ERROR, "peer sends what is no frame of this protocol");
		}
		byte[] privateData = new byte[privateLength];
		bytes.get(PRIVATE_DATA, privateData);
		byte[] name = new byte[nameLength];
		bytes.get(NAME + Integer.BYTES, name);
		return new SetupFrame(KINDS[kind], bytes.getInt(12), bytes.getInt(16), bytes.getInt(20), privateData,
				new String(name, StandardCharsets.US_ASCII));
	}

	/** What a frame says. */
	enum Kind {

		/** Asks for a connection. */
		REQUEST(0),

		/** Grants it. */
		ACCEPTANCE(1),

		/** Denies it, with the reason as private data. */
		REJECTION(2);

		/** The place in {@link Kind#values()}. */
		private final int code;

		Kind(int code) {
			this.code = code;
		}

	}

}
