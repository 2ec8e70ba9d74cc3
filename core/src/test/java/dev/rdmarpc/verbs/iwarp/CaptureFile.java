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
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

import dev.rdmarpc.verbs.iwarp.wire.FpduFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

/**
 * Writes a {@link Recording} as the file that a capture on the wire would have made: pcap
 * with Ethernet, IPv4 and TCP headers, each connection from SYN to FIN. No TCP segment
 * ends with fewer than {@value #LEAST_FPDU_BYTES} bytes of an FPDU: Wireshark's dissector
 * of MPA refuses them, and then takes what follows in the next segment for an FPDU. Such
 * bytes go with the next segment.
 *
 * <pre>
 *  0                14           34            54         62
 * +----------------+------------+-------------+----------+---------+
 * | Ethernet II    | IPv4       | TCP         | options, | payload |
 * |                |            |             | SYN only |         |
 * +----------------+------------+-------------+----------+---------+
 * </pre>
 */
final class CaptureFile {

	/** The port that all servers have in the file. */
	static final int SERVER_PORT = 61999;

	/** What fits a TCP segment on Ethernet that has time stamps. */
	static final int ETHERNET_SEGMENT_BYTES = 1448;

	/** What fits an IPv4 packet, as where the adapter cuts segments. */
	static final int LARGEST_SEGMENT_BYTES = 65535 - 40;

	/** The port of the first client, followed by those of the next. */
	static final int FIRST_CLIENT_PORT = 61000;

	/**
	 * What is shorter cannot be an FPDU: its length, no ULPDU, two bytes padding, CRC.
	 */
	private static final int LEAST_FPDU_BYTES = 8;

	private static final int ETHERNET_BYTES = 14;

	private static final int IPV4_BYTES = 20;

	private static final int TCP_BYTES = 20;

	private static final int FIN = 0x01;

	private static final int SYN = 0x02;

	private static final int PUSH = 0x08;

	private static final int ACK = 0x10;

	private static final byte[] NOTHING = new byte[0];

	/** Maximum segment size 1460, no operation, window scale 7. */
	private static final byte[] SYN_OPTIONS = { 2, 4, 0x05, (byte) 0xB4, 1, 3, 3, 7 };

	private final FileChannel file;

	private final Map<Integer, Conversation> conversations = new HashMap<>();

	private int packets;

	private CaptureFile(FileChannel file) {
		this.file = file;
	}

	/**
	 * Writes a file.
	 * @param recording what was sent
	 * @param path the file to be made
	 * @param segmentBytes payload of a TCP segment at most
	 */
	static void write(Recording recording, Path path, int segmentBytes) throws IOException {
		try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
			ByteBuffer header = ByteBuffer.allocate(24);
			header.putInt(0xA1B2C3D4).putShort((short) 2).putShort((short) 4).putLong(0).putInt(262_144).putInt(1);
			file.write(header.flip());
			new CaptureFile(file).writeAll(recording, segmentBytes);
		}
	}

	private void writeAll(Recording recording, int segmentBytes) throws IOException {
		for (Recording.Chunk chunk : recording.chunks()) {
			Conversation conversation = this.conversations.get(chunk.connection());
			if (conversation == null) {
				conversation = new Conversation(chunk.connection(), recording);
				this.conversations.put(chunk.connection(), conversation);
				conversation.open();
			}
			boolean fromClient = chunk.fromClient();
			Direction direction = conversation.direction(fromClient);
			direction.add(chunk);
			for (ByteBuffer segment = direction.next(segmentBytes); segment
				.hasRemaining(); segment = direction.next(segmentBytes)) {
				conversation.send(fromClient, PUSH | ACK, NOTHING, segment);
			}
			if (chunk.isEnd()) {
				conversation.send(fromClient, FIN | ACK, NOTHING, ByteBuffer.allocate(0));
			}
			conversation.send(!fromClient, ACK, NOTHING, ByteBuffer.allocate(0));
		}
	}

	private void writePacket(ByteBuffer packet) throws IOException {
		this.packets++;
		int micros = this.packets * 10;
		int length = packet.remaining();
		ByteBuffer header = ByteBuffer.allocate(16);
		header.putInt(1_700_000_000 + micros / 1_000_000).putInt(micros % 1_000_000).putInt(length).putInt(length);
		this.file.write(header.flip());
		this.file.write(packet);
	}

	/** The internet checksum (RFC 1071) over a part of a packet, begun with a sum. */
	private static short checksum(ByteBuffer packet, int from, int to, long sum) {
		long total = sum;
		for (int i = from; i < to; i++) {
			int value = Byte.toUnsignedInt(packet.get(i));
			total += ((i - from) % 2 == 0) ? value << 8 : value;
		}
		while (total > 0xFFFF) {
			total = (total & 0xFFFF) + (total >>> 16);
		}
		return (short) ~total;
	}

	/** The two ends of a connection and how far each has sent. */
	private final class Conversation {

		private final int clientPort;

		private final Direction client;

		private final Direction server;

		private int clientNext;

		private int serverNext;

		Conversation(int connection, Recording recording) {
			this.client = new Direction(recording.stream(connection, true));
			this.server = new Direction(recording.stream(connection, false));
			this.clientPort = FIRST_CLIENT_PORT + connection;
			this.clientNext = 0xFFFF_0000 + connection;
			this.serverNext = 0x1000 * (connection + 1);
		}

		Direction direction(boolean fromClient) {
			return fromClient ? this.client : this.server;
		}

		void open() throws IOException {
			send(true, SYN, SYN_OPTIONS, ByteBuffer.allocate(0));
			send(false, SYN | ACK, SYN_OPTIONS, ByteBuffer.allocate(0));
			send(true, ACK, NOTHING, ByteBuffer.allocate(0));
		}

		void send(boolean fromClient, int flags, byte[] options, ByteBuffer payload) throws IOException {
			int tcpBytes = TCP_BYTES + options.length + payload.remaining();
			int consumed = payload.remaining() + (((flags & (SYN | FIN)) != 0) ? 1 : 0);
			ByteBuffer packet = ByteBuffer.allocate(ETHERNET_BYTES + IPV4_BYTES + tcpBytes);
			byte client = 1;
			byte server = 2;
			putEthernet(packet, fromClient ? server : client, fromClient ? client : server);
			putIpv4(packet, fromClient ? client : server, fromClient ? server : client, tcpBytes);
			packet.putShort((short) (fromClient ? this.clientPort : SERVER_PORT));
			packet.putShort((short) (fromClient ? SERVER_PORT : this.clientPort));
			packet.putInt(fromClient ? this.clientNext : this.serverNext);
			packet.putInt(((flags & ACK) == 0) ? 0 : fromClient ? this.serverNext : this.clientNext);
			packet.put((byte) (((TCP_BYTES + options.length) / 4) << 4)).put((byte) flags);
			packet.putShort((short) 0xFFFF).putInt(0).put(options).put(payload);
			int tcp = ETHERNET_BYTES + IPV4_BYTES;
			long pseudoHeader = 2 * 0x0A00L + client + server + 6 + tcpBytes;
			packet.putShort(tcp + 16, checksum(packet, tcp, tcp + tcpBytes, pseudoHeader));
			writePacket(packet.flip());
			if (fromClient) {
				this.clientNext += consumed;
			}
			else {
				this.serverNext += consumed;
			}
		}

		private void putEthernet(ByteBuffer packet, byte target, byte source) {
			byte[] locallyAdministered = { 0x02, 0, 0, 0, 0 };
			packet.put(locallyAdministered).put(target).put(locallyAdministered).put(source).putShort((short) 0x0800);
		}

		private void putIpv4(ByteBuffer packet, byte source, byte target, int tcpBytes) {
			int start = packet.position();
			packet.putShort((short) 0x4500).putShort((short) (IPV4_BYTES + tcpBytes));
			packet.putShort((short) CaptureFile.this.packets).putShort((short) 0x4000);
			packet.putShort((short) 0x4006).putShort((short) 0);
			packet.put(new byte[] { 10, 0, 0, source }).put(new byte[] { 10, 0, 0, target });
			packet.putShort(start + 10, checksum(packet, start, start + IPV4_BYTES, 0));
		}

	}

	/** What one end of a connection sends, and where its FPDUs begin. */
	private static final class Direction {

		private final byte[] stream;

		private final NavigableSet<Integer> fpdus = new TreeSet<>();

		private int recorded;

		private int sent;

		private boolean ended;

		Direction(byte[] stream) {
			this.stream = stream;
			ByteBuffer in = ByteBuffer.wrap(stream);
			int position = MpaFrameFlyweight.HEADER_BYTES;
			if (stream.length >= position) {
				position += MpaFrameFlyweight.privateDataLength(in, 0);
			}
			while (position + FpduFlyweight.ULPDU_OFFSET <= stream.length) {
				this.fpdus.add(position);
				position += FpduFlyweight.totalBytes(FpduFlyweight.ulpduLength(in, position));
			}
		}

		void add(Recording.Chunk chunk) {
			this.recorded += chunk.bytes().length;
			this.ended |= chunk.isEnd();
		}

		/** The next segment of so many bytes at most, empty if there is none yet. */
		ByteBuffer next(int segmentBytes) {
			int end = Math.min(this.recorded, this.sent + segmentBytes);
			Integer fpdu = this.fpdus.lower(end);
			boolean last = this.ended && end == this.recorded;
			if (!last && fpdu != null && fpdu >= this.sent && end - fpdu < LEAST_FPDU_BYTES) {
				end = fpdu;
			}
			ByteBuffer segment = ByteBuffer.wrap(this.stream, this.sent, end - this.sent);
			this.sent = end;
			return segment;
		}

	}

}
