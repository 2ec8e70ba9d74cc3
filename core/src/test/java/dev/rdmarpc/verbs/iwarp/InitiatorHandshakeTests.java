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
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrame;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;
import dev.rdmarpc.verbs.iwarp.wire.TerminateFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/** The connecting side of the MPA handshake against a listener on a plain socket. */
class InitiatorHandshakeTests {

	private static final ConnectOptions OPTIONS = new ConnectOptions(new byte[] { 9 }, 8, 4,
			Endpoint.DEADLINE.toNanos());

	private VerbsDevice device;

	private Endpoint endpoint;

	private ServerSocket server;

	@BeforeEach
	void open() throws IOException {
		this.device = new IwarpProvider().openDevice(null);
		this.endpoint = new Endpoint(this.device);
		this.server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
		this.server.setSoTimeout((int) Endpoint.DEADLINE.toMillis());
	}

	@AfterEach
	void close() throws IOException {
		this.endpoint.close();
		this.device.close();
		this.server.close();
	}

	private CompletableFuture<ConnectionInfo> connect(ConnectOptions options) {
		return this.device.connect(this.endpoint.queuePair, (InetSocketAddress) this.server.getLocalSocketAddress(),
				options);
	}

	private RawPeer accept() throws IOException {
		return new RawPeer(this.server.accept());
	}

	private VerbsError failure(CompletableFuture<ConnectionInfo> future) throws Exception {
		try {
			future.get(10, TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			assertThat(this.endpoint.queuePair.state()).isEqualTo(QueuePairState.INITIALIZED);
			return ((VerbsException) ex.getCause()).error();
		}
		throw new AssertionError("connected");
	}

	@Test
	void offersRevision2WithItsDepthsAndSaysReadyToReceive() throws Exception {
		CompletableFuture<ConnectionInfo> connected = connect(OPTIONS);
		try (RawPeer peer = accept()) {
			MpaFrame request = peer.readMpaFrame();
			assertThat(request.enhanced()).isTrue();
			assertThat(request.markers()).isFalse();
			assertThat(request.inboundReads()).isEqualTo(4);
			assertThat(request.outboundReads()).isEqualTo(8);
			assertThat(request.peerToPeer()).isTrue();
			assertThat(request.privateData()).containsExactly(9);
			peer.write(MpaFrameFlyweight.encodeEnhanced(false, 0, 6 | MpaFrameFlyweight.IRD_PEER_TO_PEER,
					3 | MpaFrameFlyweight.ORD_RTR_WRITE, new byte[] { 7 }));
			ConnectionInfo info = ConnectedPair.get(connected);
			assertThat(info.readDepth()).isEqualTo(6);
			assertThat(info.privateData()).containsExactly(7);
			byte[] first = peer.socket().getInputStream().readNBytes(20);
			assertThat(first).startsWith(0, 14, 0xc1, 0x40, 0, 0, 0, 1);
		}
	}

	@Test
	void sendsNothingByItselfWherePeerToPeerIsDeclined() throws Exception {
		CompletableFuture<ConnectionInfo> connected = connect(OPTIONS);
		try (RawPeer peer = accept()) {
			peer.readMpaFrame();
			peer.write(MpaFrameFlyweight.encodeEnhanced(false, 0, 8, 4, new byte[0]));
			ConnectedPair.get(connected);
			this.endpoint.send(this.endpoint.request.send(1).addSegment(this.endpoint.register(4), 0, 4));
			ByteBuffer segment = peer.readSegment();
			assertThat(DdpControl.opcode(DdpUntaggedFlyweight.control(segment, 0))).isEqualTo(DdpControl.OPCODE_SEND);
		}
	}

	@Test
	void triesRevision1WithAPeerThatHangsUp() throws Exception {
		CompletableFuture<ConnectionInfo> connected = connect(OPTIONS);
		try (RawPeer peer = accept()) {
			peer.readMpaFrame();
		}
		try (RawPeer peer = accept()) {
			checkRevision1(peer, connected);
		}
	}

	@Test
	void triesRevision1WithAPeerThatAnswersInRevision1() throws Exception {
		CompletableFuture<ConnectionInfo> connected = connect(OPTIONS);
		try (RawPeer peer = accept()) {
			peer.readMpaFrame();
			peer.write(MpaFrameFlyweight.encode(false, MpaFrameFlyweight.FLAG_REJECT, 1, new byte[0]));
			assertThat(peer.isCutOff()).isTrue();
		}
		try (RawPeer peer = accept()) {
			checkRevision1(peer, connected);
		}
	}

	private void checkRevision1(RawPeer peer, CompletableFuture<ConnectionInfo> connected) throws IOException {
		MpaFrame request = peer.readMpaFrame();
		assertThat(request.revision()).isEqualTo(1);
		assertThat(request.flags()).isZero();
		assertThat(request.privateData()).containsExactly(9);
		peer.write(MpaFrameFlyweight.encode(false, MpaFrameFlyweight.FLAG_CRC, 1, new byte[] { 5 }));
		ConnectionInfo info = ConnectedPair.get(connected);
		assertThat(info.privateData()).containsExactly(5);
		assertThat(info.readDepth()).isEqualTo(8);
		peer.crcEnabled(true);
		this.endpoint.send(this.endpoint.request.send(1).addSegment(this.endpoint.register(4), 0, 4));
		assertThat(peer.readSegment().remaining()).isEqualTo(DdpUntaggedFlyweight.HEADER_BYTES + 4);
		this.endpoint.receive(2, this.endpoint.register(8));
		peer.segment(Fpdu.send(1, new byte[8]));
		Endpoint.pollUntil(() -> this.endpoint.has(2), this.endpoint);
	}

	@Test
	void hangingUpTwiceIsALostConnection() throws Exception {
		CompletableFuture<ConnectionInfo> connected = connect(OPTIONS);
		accept().close();
		accept().close();
		assertThat(failure(connected)).isEqualTo(VerbsError.CONNECTION_LOST);
	}

	@Test
	void rejectionIsReported() throws Exception {
		CompletableFuture<ConnectionInfo> connected = connect(OPTIONS);
		try (RawPeer peer = accept()) {
			peer.readMpaFrame();
			peer.write(MpaFrameFlyweight.encodeEnhanced(false, MpaFrameFlyweight.FLAG_REJECT, 0, 0,
					"no".getBytes(StandardCharsets.US_ASCII)));
			assertThat(failure(connected)).isEqualTo(VerbsError.CONNECTION_REJECTED);
		}
	}

	@Test
	void wrongRepliesAreProtocolErrors() throws Exception {
		ByteBuffer oversize = MpaFrameFlyweight.encode(false, 0, 2, new byte[512])
			.putShort(MpaFrameFlyweight.PRIVATE_DATA_LENGTH_OFFSET, (short) 1000);
		ByteBuffer[] replies = { StandardCharsets.US_ASCII.encode("SSH-2.0-x"),
				MpaFrameFlyweight.encodeEnhanced(true, 0, 8, 4, new byte[0]),
				MpaFrameFlyweight.encode(false, 0, 2, new byte[0]), MpaFrameFlyweight.encode(false, 0, 3, new byte[0]),
				MpaFrameFlyweight.encode(false, MpaFrameFlyweight.FLAG_ENHANCED, 2, new byte[2]),
				MpaFrameFlyweight.encodeEnhanced(false, MpaFrameFlyweight.FLAG_MARKERS, 8, 4, new byte[0]), oversize };
		for (ByteBuffer reply : replies) {
			CompletableFuture<ConnectionInfo> connected = connect(OPTIONS);
			try (RawPeer peer = accept()) {
				peer.readMpaFrame();
				peer.write(reply);
				assertThat(failure(connected)).isEqualTo(VerbsError.PROTOCOL_ERROR);
				assertThat(peer.isCutOff()).isTrue();
			}
		}
	}

	@ParameterizedTest
	@CsvSource({ "MPA_INSUFFICIENT_IRD, false", "MPA_INSUFFICIENT_IRD, true", "MPA_NO_MATCHING_RTR, false",
			"MPA_NO_MATCHING_RTR, true" })
	void replyThatDoesNotMatchIsAnsweredByATerminate(TerminateError error, boolean crcEnabled) throws Exception {
		CompletableFuture<ConnectionInfo> connected = connect(OPTIONS);
		try (RawPeer peer = accept()) {
			peer.readMpaFrame();
			int flags = crcEnabled ? MpaFrameFlyweight.FLAG_CRC : 0;
			boolean reads = error == TerminateError.MPA_INSUFFICIENT_IRD;
			int ird = 8 | MpaFrameFlyweight.IRD_PEER_TO_PEER;
			int ord = reads ? (5 | MpaFrameFlyweight.ORD_RTR_WRITE) : (4 | MpaFrameFlyweight.ORD_RTR_READ);
			peer.write(MpaFrameFlyweight.encodeEnhanced(false, flags, ird, ord, new byte[0]));
			assertThat(failure(connected)).isEqualTo(VerbsError.PROTOCOL_ERROR);
			ByteBuffer terminate = peer.crcEnabled(crcEnabled).readSegment();
			assertThat(DdpControl.opcode(DdpUntaggedFlyweight.control(terminate, 0)))
				.isEqualTo(DdpControl.OPCODE_TERMINATE);
			int body = DdpUntaggedFlyweight.HEADER_BYTES;
			assertThat(TerminateError.of(TerminateFlyweight.layer(terminate, body),
					TerminateFlyweight.type(terminate, body), TerminateFlyweight.code(terminate, body)))
				.isEqualTo(error);
			assertThat(TerminateFlyweight.headerControl(terminate, body)).isZero();
			assertThat(peer.readToEnd()).isZero();
		}
	}

	@Test
	void silenceIsATimeOut() throws Exception {
		Duration timeout = TestEnvironment.scaled(Duration.ofSeconds(1));
		CompletableFuture<ConnectionInfo> connected = connect(OPTIONS.withTimeout(timeout));
		try (RawPeer peer = accept()) {
			assertThat(failure(connected)).isEqualTo(VerbsError.TIMED_OUT);
			peer.readMpaFrame();
			assertThat(peer.isCutOff()).isTrue();
		}
	}

	@Test
	void cancellingAbandonsTheAttempt() throws Exception {
		CompletableFuture<ConnectionInfo> connected = connect(OPTIONS);
		try (RawPeer peer = accept()) {
			peer.readMpaFrame();
			assertThat(connected.cancel(true)).isTrue();
			assertThat(peer.isCutOff()).isTrue();
		}
		CompletableFuture<ConnectionInfo> again = connect(OPTIONS);
		try (RawPeer peer = accept()) {
			peer.readMpaFrame();
			peer.write(MpaFrameFlyweight.encodeEnhanced(false, 0, 8, 4, new byte[0]));
			assertThat(ConnectedPair.get(again).readDepth()).isEqualTo(8);
		}
	}

	@Test
	void crcIsAskedForWhereRequired() throws Exception {
		VerbsDevice strict = new IwarpProvider(IwarpOptions.DEFAULTS.withCrc(CrcMode.REQUIRED)).openDevice(null);
		Endpoint strictEndpoint = new Endpoint(strict);
		CompletableFuture<ConnectionInfo> connected = strict.connect(strictEndpoint.queuePair,
				(InetSocketAddress) this.server.getLocalSocketAddress(), OPTIONS);
		try (RawPeer peer = accept()) {
			assertThat(peer.readMpaFrame().crc()).isTrue();
			peer.write(MpaFrameFlyweight.encodeEnhanced(false, 0, 8, 4, new byte[0]));
			ConnectedPair.get(connected);
			peer.crcEnabled(true);
			strictEndpoint.send(strictEndpoint.request.send(1).addSegment(strictEndpoint.register(4), 0, 4));
			assertThat(peer.readSegment().remaining()).isEqualTo(DdpUntaggedFlyweight.HEADER_BYTES + 4);
		}
		strictEndpoint.close();
		strict.close();
	}

}
