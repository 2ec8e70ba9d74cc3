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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A peer that sends, byte for byte, what the Linux kernel's software iWARP (siw) sends,
 * and the bytes that it gets. Nothing here is made or read by the classes under test.
 */
class SiwPeerTests {

	/** {@code MPA ID Req Frame} */
	private static final String REQUEST = "4d504120 49442052 65712046 72616d65 ";

	/** {@code MPA ID Rep Frame} */
	private static final String REPLY = "4d504120 49442052 65702046 72616d65 ";

	/** Revision 2, enhanced data, 128 Reads each way, no peer-to-peer set-up. */
	private static final String PLAIN_REQUEST = REQUEST + "10 02 0004 0080 0080";

	private static final String PLAIN_REPLY = REPLY + "10 02 0004 0010 0010";

	private static final String PING = "ping-payload!";

	/** A Send of {@link #PING}, the first of its direction. */
	private static final String SEND = "001f 4143 00000000 00000000 00000001 00000000 70696e67 2d706179 6c6f6164 21 000000";

	/** The zero-length Write to STag 1. */
	private static final String READY_TO_RECEIVE = "000e c140 00000001 00000000 00000000 ";

	private static final String TERMINATE = "4147 00000000 00000002 00000001 00000000 ";

	private static final String NO_CRC = "00000000";

	private VerbsDevice device = new IwarpProvider().openDevice(null);

	private Endpoint endpoint = new Endpoint(this.device);

	@AfterEach
	void close() {
		this.endpoint.close();
		this.device.close();
	}

	private void reopen(IwarpOptions options) {
		close();
		this.device = new IwarpProvider(options).openDevice(null);
		this.endpoint = new Endpoint(this.device);
	}

	private static byte[] bytes(String hex) {
		return HexFormat.of().parseHex(hex.replace(" ", ""));
	}

	private static void assertNext(RawPeer peer, String hex) throws IOException {
		byte[] expected = bytes(hex);
		byte[] read = peer.socket().getInputStream().readNBytes(expected.length);
		assertThat(HexFormat.of().formatHex(read)).isEqualTo(HexFormat.of().formatHex(expected));
	}

	private static int available(RawPeer peer) {
		try {
			return peer.socket().getInputStream().available();
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

	private static String hex(int value) {
		return HexFormat.of().toHexDigits(value);
	}

	private static String hex(long value) {
		return HexFormat.of().toHexDigits(value);
	}

	private CompletableFuture<ConnectionInfo> connect(ServerSocket server) {
		return this.device.connect(this.endpoint.queuePair, (InetSocketAddress) server.getLocalSocketAddress(),
				ConnectOptions.DEFAULTS);
	}

	private static ServerSocket serverSocket() throws IOException {
		ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
		server.setSoTimeout((int) Endpoint.DEADLINE.toMillis());
		return server;
	}

	/** Our first Send, and one of the peer. */
	private void exchangePings(RawPeer peer, String crc) throws IOException {
		MemoryRegion memory = this.endpoint.register(64);
		this.endpoint.receive(1, memory);
		peer.write(bytes(SEND + crc));
		Endpoint.pollUntil(() -> this.endpoint.has(1), this.endpoint);
		assertThat(this.endpoint.completion(1).status()).isEqualTo(WorkStatus.SUCCESS);
		assertThat(this.endpoint.completion(1).bytes()).isEqualTo(PING.length());
		assertThat(memory.memory().slice(0, PING.length())).isEqualTo(StandardCharsets.US_ASCII.encode(PING));
		this.endpoint.send(this.endpoint.request.send(2).addSegment(memory, 0, PING.length()));
		Endpoint.pollUntil(() -> this.endpoint.has(2), this.endpoint);
		assertNext(peer, SEND + crc);
	}

	@ParameterizedTest
	@CsvSource({ "AUTO, 10, 00000000, 00000000", "REQUIRED, 50, ebd34c5f, 5fc50d3c" })
	void siwAcceptsAndIsToldThatItMaySend(CrcMode mode, String flags, String writeCrc, String sendCrc)
			throws Exception {
		reopen(IwarpOptions.DEFAULTS.withCrc(mode));
		try (ServerSocket server = serverSocket()) {
			CompletableFuture<ConnectionInfo> connected = connect(server);
			try (RawPeer peer = new RawPeer(server.accept())) {
				assertNext(peer, REQUEST + flags + "02 0004 8010 8010");
				assertThat(available(peer)).isZero();
				peer.write(bytes(REPLY + flags + "02 0004 8010 8010"));
				assertThat(ConnectedPair.get(connected).readDepth()).isEqualTo(16);
				assertNext(peer, READY_TO_RECEIVE + writeCrc);
				exchangePings(peer, sendCrc);
			}
		}
	}

	@Test
	void siwThatInsistsOnNoCrcRejectsUs() throws Exception {
		reopen(IwarpOptions.DEFAULTS.withCrc(CrcMode.REQUIRED));
		try (ServerSocket server = serverSocket()) {
			CompletableFuture<ConnectionInfo> connected = connect(server);
			try (RawPeer peer = new RawPeer(server.accept())) {
				assertNext(peer, REQUEST + "50 02 0004 8010 8010");
				peer.write(bytes(REPLY + "30 02 0004 0000 0000"));
				assertThatThrownBy(() -> connected.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(VerbsException.class)
					.satisfies((ex) -> assertThat(((VerbsException) ex.getCause()).error())
						.isEqualTo(VerbsError.CONNECTION_REJECTED));
			}
		}
	}

	/**
	 * siw offers no peer-to-peer set-up, so nothing may be sent before it has sent; it
	 * may set a bit of its own, reserved elsewhere.
	 */
	@ParameterizedTest
	@CsvSource({ "10, 10, 00000000", "18, 10, 00000000", "50, 50, 5fc50d3c", "58, 50, 5fc50d3c" })
	void siwConnects(String asked, String answered, String crc) throws Exception {
		try (RawPeer peer = accept(REQUEST + asked + "02 0004 0080 0080", REPLY + answered + "02 0004 0010 0010")) {
			for (int i = 0; i < 100; i++) {
				this.endpoint.poll();
			}
			assertThat(available(peer)).isZero();
			exchangePings(peer, crc);
		}
	}

	@Test
	void siwConnectsInRevision1() throws Exception {
		try (RawPeer peer = accept(REQUEST + "00 01 0000", REPLY + "00 01 0000")) {
			exchangePings(peer, NO_CRC);
		}
	}

	@Test
	void siwConnectsAndSaysThatWeMaySend() throws Exception {
		try (RawPeer peer = accept(REQUEST + "10 02 0004 8080 c080", REPLY + "10 02 0004 8010 8010")) {
			peer.write(bytes(READY_TO_RECEIVE + NO_CRC));
			MemoryRegion memory = this.endpoint.register(64);
			memory.memory().put(0, PING.getBytes(StandardCharsets.US_ASCII));
			this.endpoint.send(this.endpoint.request.send(2).addSegment(memory, 0, PING.length()));
			Endpoint.pollUntil(() -> this.endpoint.has(2), this.endpoint);
			assertNext(peer, SEND + NO_CRC);
		}
	}

	@Test
	void siwSaysThatWeMaySendByAReadOfNothing() throws Exception {
		try (RawPeer peer = accept(REQUEST + "10 02 0004 8080 4080", REPLY + "10 02 0004 8010 4010")) {
			peer.write(bytes("002e 4141 00000000 00000001 00000001 00000000"
					+ "00000000 00000000 00000000 00000000 00000001 00000000 00000000" + NO_CRC));
			Endpoint.pollUntil(() -> available(peer) >= 20, this.endpoint);
			assertNext(peer, "000e c142 00000000 00000000 00000000" + NO_CRC);
			exchangePings(peer, NO_CRC);
		}
	}

	/** Accepts an initiator that asks so; it must be answered so. */
	private RawPeer accept(String request, String answer) throws IOException {
		CompletableFuture<CompletableFuture<ConnectionInfo>> accepted = new CompletableFuture<>();
		try (ConnectionListener listener = this.device.listen(
				new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ListenOptions.DEFAULTS,
				(asked) -> accepted.complete(asked.accept(this.endpoint.queuePair, ConnectOptions.DEFAULTS)))) {
			RawPeer peer = new RawPeer(listener.localAddress());
			peer.write(bytes(request));
			ConnectedPair.get(ConnectedPair.get(accepted));
			assertNext(peer, answer);
			return peer;
		}
	}

	@Test
	void siwWritesOurMemoryAndReadsIt() throws Exception {
		MemoryRegion memory = this.endpoint.register(64);
		String place = hex(memory.remoteKey()) + hex(memory.remoteAddress());
		String sink = "0a0b0c0d 00000000 00002000";
		String ping = HexFormat.of().formatHex(PING.getBytes(StandardCharsets.US_ASCII));
		try (RawPeer peer = accept(PLAIN_REQUEST, PLAIN_REPLY)) {
			peer.write(bytes("001b c140" + place + ping + "000000" + NO_CRC));
			peer.write(bytes("002e 4141 00000000 00000001 00000001 00000000" + sink + "0000000d" + place + NO_CRC));
			Endpoint.pollUntil(() -> available(peer) >= 36, this.endpoint);
			assertNext(peer, "001b c142" + sink + ping + "000000" + NO_CRC);
			exchangePings(peer, NO_CRC);
		}
	}

	/** As when its queue pair is taken down, its memory fails or a CRC is wrong. */
	@ParameterizedTest
	@ValueSource(strings = { "00ff", "2002", "2005" })
	void siwTerminatesWithoutAHeader(String error) throws Exception {
		QueuePairFault fault = terminated("0016" + TERMINATE + error + "0000" + NO_CRC);
		assertThat(fault.status()).isEqualTo(WorkStatus.REMOTE_OPERATION_ERROR);
	}

	@Test
	void siwTerminatesForASendWithoutAReceive() throws Exception {
		QueuePairFault fault = terminated(
				"002a" + TERMINATE + "1202 c000" + "000d 4143 00000000 00000000 00000001 00000000" + NO_CRC);
		assertThat(fault.status()).isEqualTo(WorkStatus.REMOTE_INVALID_REQUEST);
		assertThat(fault.detail()).contains("1/2/0x02");
	}

	@Test
	void siwTerminatesForAWriteToNowhere() throws Exception {
		QueuePairFault fault = terminated(
				"0026" + TERMINATE + "1100 c000" + "000d c140 00001234 00000000 00000000" + NO_CRC);
		assertThat(fault.status()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
	}

	/**
	 * As captured: siw has the bits of each field of the control word the other way
	 * round, so layer and type are swapped, and the header flags are at the other end.
	 */
	@ParameterizedTest
	@CsvSource({ "2102 0300 0000 4143 00000000 00000000 00000001 00000000, 1/2/0x02, REMOTE_INVALID_REQUEST",
			"2103 0300 0010 4143 00000000 00000000 00000002 00000000, 1/2/0x03, REMOTE_INVALID_REQUEST",
			"1100 0300 0010 c140 00000000 00000000 00000000, 1/1/0x00, REMOTE_ACCESS_ERROR",
			"0100 0300 0010 c142 00000001 00000000 00000000, 1/0/0x00, REMOTE_OPERATION_ERROR",
			"2009 0300 0010 4144 12345678 00000000 00000001 00000000, 0/2/0x09, REMOTE_ACCESS_ERROR",
			"2106 0000, 1/2/0x06, REMOTE_INVALID_REQUEST", "1104 0000, 1/1/0x04, REMOTE_INVALID_REQUEST",
			"0202 0000, 2/0/0x02, REMOTE_OPERATION_ERROR" })
	void siwTerminatesWithTheBitsMirrored(String body, String error, WorkStatus status) throws Exception {
		byte[] ulpdu = bytes(TERMINATE + body);
		QueuePairFault fault = terminated(HexFormat.of().formatHex(Fpdu.frame(ulpdu, false)));
		assertThat(fault.detail()).contains("(" + error + ")");
		assertThat(fault.status()).isEqualTo(status);
	}

	/** siw says that a Read Request header is included also where it was a Send. */
	@Test
	void siwTerminatesForAnInvalidationAndAnnouncesAHeaderThatIsNotThere() throws Exception {
		QueuePairFault fault = terminated(
				"002a" + TERMINATE + "0100 e000" + "0000 4144 00001234 00000000 00000001 00000000" + NO_CRC);
		assertThat(fault.status()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
	}

	/** The Terminate of a connection on which a Send was posted. */
	private QueuePairFault terminated(String frame) throws Exception {
		try (RawPeer peer = accept(PLAIN_REQUEST, PLAIN_REPLY)) {
			exchangePings(peer, NO_CRC);
			peer.write(bytes(frame));
			Endpoint.pollUntil(() -> !this.endpoint.faults.isEmpty(), this.endpoint);
			assertThat(this.endpoint.queuePair.state()).isEqualTo(QueuePairState.ERROR);
			assertThat(peer.readToEnd()).isZero();
			QueuePairFault fault = this.endpoint.faults.get(0);
			assertThat(fault.origin()).isEqualTo(Origin.REMOTE);
			return fault;
		}
	}

	/**
	 * siw refuses a Read when it comes to answering it and then shows a header that it
	 * has put together, with the length in place of the message sequence number.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "0100 e000", "1000 0700" })
	void siwTerminatesForAReadFromNowhere(String error) throws Exception {
		try (RawPeer peer = accept(PLAIN_REQUEST, PLAIN_REPLY)) {
			exchangePings(peer, NO_CRC);
			MemoryRegion sink = this.endpoint.register(64);
			this.endpoint.send(this.endpoint.request.read(5, 0x2000, 0x1234).addSegment(sink, 0, 16));
			Endpoint.pollUntil(() -> available(peer) >= 52, this.endpoint);
			byte[] request = peer.socket().getInputStream().readNBytes(52);
			String sinkAndSource = HexFormat.of().formatHex(request, 20, 48);
			assertThat(sinkAndSource).endsWith("00000010" + "00001234" + "0000000000002000");
			peer.write(bytes("0046" + TERMINATE + error + "0000 4141 00000000 00000001 00000010 00000000"
					+ sinkAndSource + NO_CRC));
			Endpoint.pollUntil(() -> this.endpoint.has(5), this.endpoint);
			assertThat(this.endpoint.completion(5).status()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
		}
	}

}
