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

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestCertificates;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.TlsOptions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Strangers who reach the port of a server, with and without TLS: each is closed in a
 * bounded time, gets no memory beyond that of a newcomer, and is seen with the reason.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StrangersTests {

	private static final String ADDRESS = "127.0.0.2";

	private static final Duration HANDSHAKE = TestEnvironment.scaled(Duration.ofMillis(700));

	/** So long that nobody is given up for time where there is another reason. */
	private static final Duration PATIENCE = TestEnvironment.patience(Duration.ofSeconds(20));

	private static final int HALF_OPEN = 300;

	@ParameterizedTest
	@EnumSource(Stranger.class)
	void isClosedInTimeAndSeen(Stranger stranger) throws Exception {
		meet(stranger, false, stranger.plainReason);
	}

	@ParameterizedTest
	@EnumSource(Stranger.class)
	void isClosedInTimeAndSeenWhereThereIsTls(Stranger stranger) throws Exception {
		meet(stranger, true, stranger.tlsReason);
	}

	private static void meet(Stranger stranger, boolean tls, String reason) throws Exception {
		try (Server server = new Server(tls, stranger.idle() ? HANDSHAKE : PATIENCE)) {
			long before = server.memory.metrics().outstanding();
			try (Socket socket = server.connect()) {
				socket.getOutputStream().write(stranger.words());
				if (!tls && stranger.second().length > 0) {
					assertThat(socket.getInputStream().readNBytes(20)).as("the reply of MPA").hasSize(20);
					socket.getOutputStream().write(stranger.second());
				}
				awaitEnd(socket);
			}
			Await.until(() -> !server.listener.suspects().isEmpty());
			assertThat(server.listener.suspects()).singleElement().satisfies((suspect) -> {
				assertThat(suspect.address()).isEqualTo(InetAddress.getByName(ADDRESS));
				assertThat(suspect.givenUp()).isOne();
				assertThat(suspect.lastReason()).contains(reason);
			});
			assertThat(server.listener.givenUp()).isOne();
			server.serves();
			Await.until(() -> server.memory.metrics().outstanding() <= before);
		}
	}

	@Test
	void whoOnlyTalksTlsIsGivenUp() throws Exception {
		inTls((socket) -> {
			for (int i = 0; i < 200; i++) {
				socket.startHandshake(); // a key update, once TLS is open
			}
		}, "too many TLS records without data, the last one of ");
	}

	@Test
	void whoOnlyTalksTlsOnAConnectionIsGivenUp() throws Exception {
		inTls((socket) -> {
			for (int i = 0; i < 5; i++) {
				socket.startHandshake();
			}
			socket.getOutputStream().write(mpa(0, 1, 0, new byte[0]));
			assertThat(socket.getInputStream().readNBytes(20)).as("the reply of MPA").hasSize(20);
			for (int i = 0; i < 200; i++) {
				socket.startHandshake();
			}
		}, "too many TLS records without data, the last one of ");
	}

	@Test
	void whoBeginsWithALongRecordIsGivenUp() throws Exception {
		inTls((socket) -> socket.getOutputStream().write(new byte[4000]), "first TLS record of 40");
	}

	private static void inTls(Talk talk, String reason) throws Exception {
		try (Server server = new Server(true, PATIENCE)) {
			long before = server.memory.metrics().outstanding();
			try (SSLSocket socket = (SSLSocket) TestCertificates.trusting(TestCertificates.server())
				.getSocketFactory()
				.createSocket(server.connect(), "localhost", server.listener.localAddress().getPort(), true)) {
				SSLParameters parameters = socket.getSSLParameters();
				parameters.setApplicationProtocols(new String[] { TlsOptions.APPLICATION_PROTOCOL });
				socket.setSSLParameters(parameters);
				socket.startHandshake();
				talk.with(socket);
				socket.getInputStream().readAllBytes();
			}
			catch (SSLException | SocketException ex) {
				assertThat(ex).as("the end, but not an orderly one")
					.hasMessageMatching("(?i).*(reset|broken pipe|closed).*");
			}
			Await.until(() -> !server.listener.suspects().isEmpty());
			assertThat(server.listener.suspects()).singleElement()
				.satisfies((suspect) -> assertThat(suspect.lastReason()).contains(reason));
			server.serves();
			Await.until(() -> server.memory.metrics().outstanding() <= before);
		}
	}

	@Test
	void manyWithHalfAHandshakeGetNoMemory() throws Exception {
		manyWithHalfAHandshake(false, new byte[] { 'M', 'P', 'A' });
	}

	@Test
	void manyWithHalfAHandshakeOfTlsGetNoMemory() throws Exception {
		manyWithHalfAHandshake(true, new byte[] { 22, 3, 1, 2, 0, 1 });
	}

	private static void manyWithHalfAHandshake(boolean tls, byte[] words) throws Exception {
		try (Server server = new Server(tls, HANDSHAKE)) {
			long before = server.memory.metrics().allocatedBytes();
			List<Socket> strangers = new ArrayList<>();
			for (int i = 0; i < HALF_OPEN; i++) {
				Socket socket = server.connect();
				strangers.add(socket);
				socket.getOutputStream().write(words);
			}
			assertThat(server.memory.metrics().allocatedBytes()).as("memory while they wait")
				.isLessThanOrEqualTo(before);
			server.serves();
			for (Socket socket : strangers) {
				awaitEnd(socket);
				socket.close();
			}
			Await.until(() -> server.listener.givenUp() >= HALF_OPEN);
			assertThat(server.listener.suspects().get(0).lastReason()).contains("its handshake was not done");
		}
	}

	/** Waits until the server has ended a connection; the socket bounds the time. */
	private static void awaitEnd(Socket socket) throws IOException {
		try {
			socket.getInputStream().readAllBytes();
		}
		catch (SocketException ex) {
			assertThat(ex).as("the end, but not an orderly one").hasMessageContaining("reset");
		}
	}

	private static byte[] mpa(int flags, int revision, int privateDataBytes, byte[] privateData) {
		ByteBuffer request = ByteBuffer.allocate(20 + privateData.length);
		request.put("MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII));
		request.put((byte) flags).put((byte) revision).putShort((short) privateDataBytes).put(privateData);
		return request.array();
	}

	/** A Send without CRC. */
	private static byte[] send(int sequence, byte[] payload) {
		int length = 18 + payload.length;
		ByteBuffer frame = ByteBuffer.allocate((2 + length + 3) / 4 * 4 + 4);
		frame.putShort((short) length).put((byte) 0x41).put((byte) 0x43).putInt(0).putInt(0);
		return frame.putInt(sequence).putInt(0).put(payload).array();
	}

	/** A Read Request that guesses where memory is. */
	private static byte[] guess() {
		ByteBuffer frame = ByteBuffer.allocate((2 + 18 + 28 + 3) / 4 * 4 + 4);
		frame.putShort((short) 46).put((byte) 0x41).put((byte) 0x41).putInt(0).putInt(1);
		frame.putInt(1).putInt(0);
		return frame.putInt(7).putLong(0).putInt(4096).putInt(0x1234_5678).putLong(0x7F00_0000_0000L).array();
	}

	/** What somebody does once TLS is open. */
	private interface Talk {

		void with(SSLSocket socket) throws IOException;

	}

	/** Who knocks, what it says, and why it is given up. */
	private enum Stranger {

		/** Speaks HTTP. */
		BROWSER("does not speak MPA", "TLS failed") {

			@Override
			byte[] words() {
				return "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
			}

		},

		/** Says nothing. */
		MUTE("handshake was not done in time", "handshake was not done in time") {

			@Override
			byte[] words() {
				return new byte[0];
			}

		},

		/** Begins a record of TLS that is too long. */
		TLS_GARBAGE("peer speaks TLS", "TLS failed") {

			@Override
			byte[] words() {
				return HexFormat.of().parseHex("160301ffff" + "01".repeat(60));
			}

		},

		/** Announces more private data than there may be. */
		ABSURD_PRIVATE_DATA("private data of 65535 bytes", "private data of 65535 bytes") {

			@Override
			byte[] words() {
				return mpa(0, 1, 0xFFFF, new byte[0]);
			}

		},

		/** Announces private data and does not send it. */
		MISSING_PRIVATE_DATA("handshake was not done in time", "handshake was not done in time") {

			@Override
			byte[] words() {
				return mpa(0, 1, 512, new byte[3]);
			}

		},

		/** Speaks a revision of the future. */
		FUTURE("MPA revision 9", "MPA revision 9") {

			@Override
			byte[] words() {
				return mpa(0, 9, 0, new byte[0]);
			}

		},

		/** Wants markers. */
		MARKERS("markers are not supported", "TLS is required here") {

			@Override
			byte[] words() {
				return mpa(0x80, 1, 0, new byte[0]);
			}

		},

		/** Connects and does not say HELLO. */
		SILENT("no handshake within", "TLS is required here") {

			@Override
			byte[] words() {
				return mpa(0, 1, 0, new byte[0]);
			}

		},

		/** Calls without having said HELLO. */
		RUDE("instead of a handshake", "TLS is required here") {

			@Override
			byte[] words() {
				return mpa(0, 1, 0, new byte[0]);
			}

			@Override
			byte[] second() {
				return send(1, Frames.request(0, 0, 1, 1, Integer.MAX_VALUE, new byte[64]));
			}

		},

		/** Guesses the key of memory. */
		THIEF("from STag 0x12345678", "TLS is required here") {

			@Override
			byte[] words() {
				return mpa(0, 1, 0, new byte[0]);
			}

			@Override
			byte[] second() {
				return guess();
			}

		};

		private final String plainReason;

		private final String tlsReason;

		Stranger(String plainReason, String tlsReason) {
			this.plainReason = plainReason;
			this.tlsReason = tlsReason;
		}

		/** What it says as soon as it is connected. */
		abstract byte[] words();

		/** Whether it is given up for nothing but the time that it takes. */
		boolean idle() {
			return this == MUTE || this == MISSING_PRIVATE_DATA || this == SILENT;
		}

		/** What it says after the reply of MPA, if it gets one. */
		byte[] second() {
			return new byte[0];
		}

	}

	/** A server that answers each request; nothing is outstanding at its end. */
	private static final class Server implements AutoCloseable {

		private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(64L << 20)
			.withInitialBytes(0)
			.withLeakDetection(LeakDetection.PARANOID));

		private final RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, this.memory);

		private final ChannelListener listener;

		private final boolean tls;

		Server(boolean tls, Duration handshake) {
			this.tls = tls;
			ChannelOptions options = ChannelOptions.DEFAULTS
				.withTimeouts(handshake, Duration.ofSeconds(10), Duration.ofSeconds(30))
				.withSecurity(ChannelSecurity.NONE
					.withTls(tls ? TlsOptions.of(() -> TestCertificates.server().context()) : null));
			ChannelLoop loop = this.transport.startLoop("server", options.frameBytes());
			this.listener = this.transport.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
					List.of(loop), 1024, options, RecordingHandler::new);
		}

		Socket connect() throws IOException {
			InetSocketAddress at = this.listener.localAddress();
			Socket socket = new Socket(at.getAddress(), at.getPort(), InetAddress.getByName(ADDRESS), 0);
			socket.setSoTimeout((int) TestEnvironment.patience(Duration.ofSeconds(20)).toMillis());
			return socket;
		}

		/** A good client is let in, at once unless it is held up for long. */
		void serves() {
			ChannelOptions options = ChannelOptions.DEFAULTS.withSecurity(ChannelSecurity.NONE
				.withTls(this.tls ? TlsOptions.of(() -> TestCertificates.trusting(TestCertificates.server()))
					.withVerifyHostName(false) : null));
			ChannelLoop loop = this.transport.startLoop("client", options.frameBytes());
			Await.until(() -> isLetIn(loop, options));
			loop.close();
		}

		private boolean isLetIn(ChannelLoop loop, ChannelOptions options) {
			RpcChannel channel = this.transport.newChannel(loop, options, new RecordingHandler());
			this.transport.connect(channel, this.listener.localAddress());
			Await
				.until(() -> channel.state() != ChannelState.CONNECTING && channel.state() != ChannelState.HANDSHAKING);
			return channel.isOpen();
		}

		@Override
		public void close() {
			this.listener.close();
			this.transport.close();
			assertThat(this.memory.metrics().outstanding()).isZero();
			this.memory.close();
		}

	}

}
