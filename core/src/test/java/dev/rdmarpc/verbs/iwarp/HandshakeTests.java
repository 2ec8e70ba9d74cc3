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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrame;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.ReadyToReceive;

import static org.assertj.core.api.Assertions.assertThat;

/** Both sides of the MPA handshake against a peer on a plain socket. */
class HandshakeTests {

	private static final byte[] HELLO = "hello".getBytes(StandardCharsets.US_ASCII);

	private final BlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();

	private VerbsDevice device;

	private Endpoint endpoint;

	@BeforeEach
	void open() {
		this.device = new IwarpProvider().openDevice(null);
		this.endpoint = new Endpoint(this.device);
	}

	@AfterEach
	void close() {
		this.endpoint.close();
		this.device.close();
	}

	private ConnectionListener listen(ListenOptions options) {
		return this.device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), options,
				this.requests::add);
	}

	private static ListenOptions shortListen(int pending, int connections, Duration timeout) {
		return new ListenOptions(16, pending, connections, timeout.toNanos());
	}

	private CompletableFuture<ConnectionInfo> acceptNext(ConnectOptions options) throws InterruptedException {
		ConnectionRequest request = this.requests.poll(10, TimeUnit.SECONDS);
		assertThat(request).isNotNull();
		return request.accept(this.endpoint.queuePair, options);
	}

	private static ConnectOptions reads(int readDepth, int responderResources) {
		return new ConnectOptions(HELLO, readDepth, responderResources, Endpoint.DEADLINE.toNanos());
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void requestWithoutEnhancedDataIsAnsweredInItsRevision(int revision) throws Exception {
		try (ConnectionListener listener = listen(ListenOptions.DEFAULTS);
				RawPeer peer = new RawPeer(listener.localAddress())) {
			peer.write(MpaFrameFlyweight.encode(true, 0, revision, new byte[] { 1, 2, 3 }));
			CompletableFuture<ConnectionInfo> accepted = acceptNext(reads(3, 4));
			MpaFrame reply = peer.readMpaFrame();
			assertThat(reply.revision()).isEqualTo(revision);
			assertThat(reply.flags()).isZero();
			assertThat(reply.privateData()).isEqualTo(HELLO);
			ConnectionInfo info = ConnectedPair.get(accepted);
			assertThat(info.privateData()).containsExactly(1, 2, 3);
			assertThat(info.readDepth()).isEqualTo(3);
			assertThat(info.responderResources()).isEqualTo(4);
		}
	}

	@Test
	void depthsAreLimitedByTheOtherSide() throws Exception {
		try (ConnectionListener listener = listen(ListenOptions.DEFAULTS);
				RawPeer peer = new RawPeer(listener.localAddress())) {
			peer.write(MpaFrameFlyweight.encodeEnhanced(true, MpaFrameFlyweight.FLAG_CRC, 2, 100, HELLO));
			CompletableFuture<ConnectionInfo> accepted = acceptNext(reads(8, 16));
			MpaFrame reply = peer.readMpaFrame();
			assertThat(reply.enhanced()).isTrue();
			assertThat(reply.crc()).isTrue();
			assertThat(reply.peerToPeer()).isFalse();
			assertThat(reply.outboundReads()).isEqualTo(2);
			assertThat(reply.inboundReads()).isEqualTo(16);
			ConnectionInfo info = ConnectedPair.get(accepted);
			assertThat(info.readDepth()).isEqualTo(2);
			assertThat(info.responderResources()).isEqualTo(16);
			assertThat(info.privateData()).isEqualTo(HELLO);
		}
	}

	@Test
	void depthsLeftOpenAreThisSidesOwn() throws Exception {
		try (ConnectionListener listener = listen(ListenOptions.DEFAULTS);
				RawPeer peer = new RawPeer(listener.localAddress())) {
			int open = MpaFrameFlyweight.DEPTH_NOT_NEGOTIATED;
			peer.write(MpaFrameFlyweight.encodeEnhanced(true, 0, open, open, HELLO));
			CompletableFuture<ConnectionInfo> accepted = acceptNext(reads(8, 16));
			peer.readMpaFrame();
			assertThat(ConnectedPair.get(accepted).readDepth()).isEqualTo(8);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "WRITE", "READ", "SEND" })
	void responderSendsNothingBeforeTheReadyToReceiveFrame(ReadyToReceive kind) throws Exception {
		int ird = 16 | MpaFrameFlyweight.IRD_PEER_TO_PEER
				| ((kind == ReadyToReceive.SEND) ? MpaFrameFlyweight.IRD_RTR_SEND : 0);
		int ord = 16 | ((kind == ReadyToReceive.WRITE) ? MpaFrameFlyweight.ORD_RTR_WRITE : 0)
				| ((kind == ReadyToReceive.READ) ? MpaFrameFlyweight.ORD_RTR_READ : 0);
		try (ConnectionListener listener = listen(ListenOptions.DEFAULTS);
				RawPeer peer = new RawPeer(listener.localAddress())) {
			peer.write(MpaFrameFlyweight.encodeEnhanced(true, 0, ird, ord, new byte[0]));
			CompletableFuture<ConnectionInfo> accepted = acceptNext(ConnectOptions.DEFAULTS);
			MpaFrame reply = peer.readMpaFrame();
			assertThat(reply.peerToPeer()).isTrue();
			assertThat(reply.ird() & ~MpaFrameFlyweight.DEPTH_MASK).isEqualTo(ird & ~MpaFrameFlyweight.DEPTH_MASK);
			assertThat(reply.ord() & ~MpaFrameFlyweight.DEPTH_MASK).isEqualTo(ord & ~MpaFrameFlyweight.DEPTH_MASK);
			ConnectedPair.get(accepted);
			this.endpoint.send(this.endpoint.request.send(9).addSegment(this.endpoint.register(4), 0, 4));
			for (int i = 0; i < 1000; i++) {
				this.endpoint.poll();
			}
			assertThat(this.endpoint.completions).isEmpty();
			assertThat(peer.socket().getInputStream().available()).isZero();
			peer.segment(readyToReceive(kind));
			Endpoint.pollUntil(() -> this.endpoint.has(9), this.endpoint);
			int opcode = DdpControl.opcode(DdpUntaggedFlyweight.control(peer.readSegment(), 0));
			int second = (kind == ReadyToReceive.READ)
					? DdpControl.opcode(DdpUntaggedFlyweight.control(peer.readSegment(), 0)) : opcode;
			assertThat(List.of(opcode, second)).contains(DdpControl.OPCODE_SEND);
			assertThat(this.endpoint.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
			this.endpoint.receive(10, this.endpoint.register(4));
			peer.segment(Fpdu.send((kind == ReadyToReceive.SEND) ? 2 : 1, new byte[4]));
			Endpoint.pollUntil(() -> this.endpoint.has(10), this.endpoint);
		}
	}

	/**
	 * A Read that is not to be outstanding, or not to be served, cannot be the first
	 * frame.
	 */
	@ParameterizedTest
	@CsvSource({ "0, 16", "16, 0" })
	void aReadIsTheReadyToReceiveFrameOnlyWhereThereMayBeOne(int outbound, int served) throws Exception {
		int ird = 16 | MpaFrameFlyweight.IRD_PEER_TO_PEER | MpaFrameFlyweight.IRD_RTR_SEND;
		int ord = outbound | MpaFrameFlyweight.ORD_RTR_READ;
		try (ConnectionListener listener = listen(ListenOptions.DEFAULTS);
				RawPeer peer = new RawPeer(listener.localAddress())) {
			peer.write(MpaFrameFlyweight.encodeEnhanced(true, 0, ird, ord, new byte[0]));
			CompletableFuture<ConnectionInfo> accepted = acceptNext(reads(16, served));
			MpaFrame reply = peer.readMpaFrame();
			assertThat(reply.ord() & MpaFrameFlyweight.ORD_RTR_READ).isZero();
			assertThat(reply.ird() & MpaFrameFlyweight.IRD_RTR_SEND).isNotZero();
			ConnectedPair.get(accepted);
			peer.segment(readyToReceive(ReadyToReceive.SEND));
			this.endpoint.send(this.endpoint.request.send(9).addSegment(this.endpoint.register(4), 0, 4));
			Endpoint.pollUntil(() -> this.endpoint.has(9), this.endpoint);
		}
	}

	private static byte[] readyToReceive(ReadyToReceive kind) {
		return switch (kind) {
			case WRITE -> Fpdu.write(1, 0, new byte[0]);
			case READ -> Fpdu.readRequest(1, 1, 0, 0, 0, 0);
			case SEND -> Fpdu.send(1, new byte[0]);
			case NONE -> throw new IllegalArgumentException();
		};
	}

	@Test
	void peerThatRequiresMarkersIsRejected() throws Exception {
		try (ConnectionListener listener = listen(ListenOptions.DEFAULTS);
				RawPeer peer = new RawPeer(listener.localAddress())) {
			peer.write(MpaFrameFlyweight.encode(true, MpaFrameFlyweight.FLAG_MARKERS | MpaFrameFlyweight.FLAG_CRC, 1,
					new byte[0]));
			MpaFrame reply = peer.readMpaFrame();
			assertThat(reply.rejected()).isTrue();
			assertThat(reply.markers()).isFalse();
			assertThat(reply.revision()).isEqualTo(1);
			assertThat(peer.readToEnd()).isZero();
			assertThat(this.requests).isEmpty();
		}
	}

	@Test
	void rejectionCarriesPrivateData() throws Exception {
		try (ConnectionListener listener = listen(ListenOptions.DEFAULTS);
				RawPeer peer = new RawPeer(listener.localAddress())) {
			peer.write(MpaFrameFlyweight.encodeEnhanced(true, 0, 1, 1, new byte[0]));
			this.requests.take().reject(HELLO);
			MpaFrame reply = peer.readMpaFrame();
			assertThat(reply.rejected()).isTrue();
			assertThat(reply.privateData()).isEqualTo(HELLO);
			assertThat(peer.readToEnd()).isZero();
		}
	}

	@Test
	void whatIsNoRequestIsCutOffAtOnce() throws Exception {
		List<ByteBuffer> wrong = new ArrayList<>();
		wrong.add(StandardCharsets.US_ASCII.encode("GET / HTTP/1.1"));
		wrong.add(StandardCharsets.US_ASCII.encode("MPA ID Rep"));
		wrong.add(MpaFrameFlyweight.encode(false, 0, 1, new byte[0]));
		wrong.add(MpaFrameFlyweight.encode(true, 0, 3, new byte[0]));
		wrong.add(MpaFrameFlyweight.encode(true, MpaFrameFlyweight.FLAG_REJECT, 1, new byte[0]));
		wrong.add(MpaFrameFlyweight.encode(true, MpaFrameFlyweight.FLAG_ENHANCED, 2, new byte[3]));
		ByteBuffer oversize = MpaFrameFlyweight.encode(true, 0, 1, new byte[512]);
		wrong.add(oversize.putShort(MpaFrameFlyweight.PRIVATE_DATA_LENGTH_OFFSET, (short) 513));
		try (ConnectionListener listener = listen(ListenOptions.DEFAULTS)) {
			for (ByteBuffer bytes : wrong) {
				try (RawPeer peer = new RawPeer(listener.localAddress())) {
					peer.write(bytes);
					assertThat(peer.isCutOff()).isTrue();
				}
			}
		}
		assertThat(this.requests).isEmpty();
	}

	@Test
	void requestMayComeByteByByte() throws Exception {
		try (ConnectionListener listener = listen(ListenOptions.DEFAULTS);
				RawPeer peer = new RawPeer(listener.localAddress())) {
			ByteBuffer request = MpaFrameFlyweight.encodeEnhanced(true, 0, 16, 16, HELLO);
			while (request.hasRemaining()) {
				peer.write(new byte[] { request.get() });
			}
			assertThat(ConnectedPair.get(acceptNext(ConnectOptions.DEFAULTS)).privateData()).isEqualTo(HELLO);
			assertThat(peer.readMpaFrame().rejected()).isFalse();
		}
	}

	@Test
	void peerThatDribblesIsCutOffInTime() throws Exception {
		Duration timeout = Duration.ofMillis(200);
		try (ConnectionListener listener = listen(shortListen(4, 4, timeout));
				RawPeer peer = new RawPeer(listener.localAddress())) {
			long start = System.nanoTime();
			peer.write("MPA ID".getBytes(StandardCharsets.US_ASCII));
			assertThat(peer.isCutOff()).isTrue();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(timeout.minusMillis(20),
					Duration.ofSeconds(8));
		}
	}

	@Test
	void unansweredRequestIsRejectedInTimeAndTakesNoPlace() throws Exception {
		Duration timeout = TestEnvironment.scaled(Duration.ofSeconds(1));
		try (ConnectionListener listener = listen(shortListen(4, 1, timeout))) {
			for (int i = 0; i < 3; i++) {
				try (RawPeer peer = new RawPeer(listener.localAddress())) {
					peer.write(MpaFrameFlyweight.encode(true, 0, 1, new byte[0]));
					assertThat(peer.readMpaFrame().rejected()).isTrue();
				}
				ConnectionRequest late = this.requests.take();
				assertThat(catchError(() -> late.accept(this.endpoint.queuePair, ConnectOptions.DEFAULTS)))
					.isEqualTo(VerbsError.INVALID_STATE);
				assertThat(this.endpoint.queuePair.state()).isEqualTo(QueuePairState.INITIALIZED);
			}
		}
	}

	private static VerbsError catchError(Runnable action) {
		try {
			action.run();
		}
		catch (VerbsException ex) {
			return ex.error();
		}
		throw new AssertionError("no exception");
	}

	@Test
	void dataBeforeTheReplyIsAProtocolError() throws Exception {
		try (ConnectionListener listener = listen(ListenOptions.DEFAULTS);
				RawPeer peer = new RawPeer(listener.localAddress())) {
			peer.write(MpaFrameFlyweight.encode(true, 0, 1, new byte[0]));
			ConnectionRequest request = this.requests.take();
			peer.write(new byte[] { 0 });
			assertThat(peer.isCutOff()).isTrue();
			assertThat(catchError(() -> request.accept(this.endpoint.queuePair, ConnectOptions.DEFAULTS)))
				.isEqualTo(VerbsError.INVALID_STATE);
		}
	}

	@Test
	void halfOpenConnectionsMakeRoomForNewerOnes() throws Exception {
		try (ConnectionListener listener = listen(shortListen(2, 100, Duration.ofSeconds(20)));
				RawPeer first = new RawPeer(listener.localAddress());
				RawPeer second = new RawPeer(listener.localAddress());
				RawPeer third = new RawPeer(listener.localAddress())) {
			assertThat(first.isCutOff()).isTrue();
			third.write(MpaFrameFlyweight.encode(true, 0, 1, new byte[0]));
			second.write(MpaFrameFlyweight.encode(true, 0, 1, new byte[0]));
			assertThat(ConnectedPair.get(acceptNext(ConnectOptions.DEFAULTS))).isNotNull();
			this.requests.take().reject(new byte[0]);
		}
	}

	@Test
	void establishedConnectionsAreBoundedAndGivenBack() throws Exception {
		try (ConnectionListener listener = listen(shortListen(8, 1, Duration.ofSeconds(20)))) {
			for (int i = 0; i < 3; i++) {
				Endpoint accepting = new Endpoint(this.device);
				try (RawPeer peer = new RawPeer(listener.localAddress());
						RawPeer excess = new RawPeer(listener.localAddress())) {
					peer.write(MpaFrameFlyweight.encode(true, 0, 1, new byte[0]));
					ConnectedPair.get(this.requests.take().accept(accepting.queuePair, ConnectOptions.DEFAULTS));
					excess.write(MpaFrameFlyweight.encode(true, 0, 1, new byte[0]));
					assertThat(excess.readMpaFrame().rejected()).isTrue();
					peer.socket().close();
					Endpoint.pollUntil(() -> !accepting.faults.isEmpty(), accepting);
				}
				accepting.close();
			}
			assertThat(this.requests).isEmpty();
		}
	}

}
