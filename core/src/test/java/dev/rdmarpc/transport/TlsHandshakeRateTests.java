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
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestCertificates;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ChannelListener.Limit;
import dev.rdmarpc.verbs.TlsOptions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A stranger who begins TLS handshakes as fast as possible: beyond the rate of its
 * address, nothing is computed for it.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TlsHandshakeRateTests {

	private static final int HANDSHAKES = 200;

	private static final int PER_SECOND = 2;

	private final AtomicInteger engines = new AtomicInteger();

	private final SSLContext context = TestCertificates.server().context();

	@Test
	void handshakesBeyondTheRateAreNeverBegun() throws Exception {
		RegisteredMemory memory = memory();
		try (RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, memory)) {
			ChannelLoop loop = transport.startLoop("server", ChannelOptions.DEFAULTS.frameBytes());
			long began = System.nanoTime();
			try (ChannelListener listener = transport.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
					List.of(loop), 16, new PeerLimits(16, PER_SECOND), secured(TlsOptions.of(this::counted)),
					RecordingHandler::new)) {
				List<Socket> strangers = flood(listener.localAddress());
				Await.until(() -> this.engines.get() + listener.rejected(Limit.RATE_OF_ADDRESS) == HANDSHAKES);
				long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
				assertThat(this.engines).as("%d per second, after as many at once, for %d s", PER_SECOND, seconds)
					.hasValueBetween(1, (int) Math.min(HANDSHAKES - 1, PER_SECOND * (seconds + 2)));
				assertThat(isOpen(transport, listener)).as("a client of another address").isTrue();
				for (Socket stranger : strangers) {
					stranger.close();
				}
			}
		}
		assertThat(memory.metrics().outstanding()).isZero();
		memory.close();
	}

	private SSLContext counted() {
		this.engines.incrementAndGet();
		return this.context;
	}

	/** Sends the first message of a handshake, all of it, on many connections. */
	private static List<Socket> flood(InetSocketAddress server) throws IOException {
		byte[] hello = clientHello();
		InetAddress from = InetAddress.getByName("127.0.0.2");
		List<Socket> sockets = new ArrayList<>();
		for (int i = 0; i < HANDSHAKES; i++) {
			Socket socket = new Socket(server.getAddress(), server.getPort(), from, 0);
			sockets.add(socket);
			try {
				socket.getOutputStream().write(hello);
			}
			catch (IOException ex) {
				// the server has closed it already
			}
		}
		return sockets;
	}

	private static byte[] clientHello() throws IOException {
		SSLEngine engine = TestCertificates.trusting(TestCertificates.server()).createSSLEngine();
		engine.setUseClientMode(true);
		SSLParameters parameters = engine.getSSLParameters();
		parameters.setProtocols(new String[] { "TLSv1.3" });
		parameters.setApplicationProtocols(new String[] { TlsOptions.APPLICATION_PROTOCOL });
		engine.setSSLParameters(parameters);
		ByteBuffer record = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
		engine.wrap(ByteBuffer.allocate(0), record);
		byte[] bytes = new byte[record.flip().remaining()];
		record.get(bytes);
		return bytes;
	}

	private static boolean isOpen(RdmaTransport transport, ChannelListener listener) {
		ChannelOptions options = secured(
				TlsOptions.of(() -> TestCertificates.trusting(TestCertificates.server())).withVerifyHostName(false));
		ChannelLoop loop = transport.startLoop("client", options.frameBytes());
		RpcChannel channel = transport.newChannel(loop, options, new RecordingHandler());
		transport.connect(channel, listener.localAddress());
		Await.until(() -> channel.state() != ChannelState.CONNECTING && channel.state() != ChannelState.HANDSHAKING);
		return channel.isOpen();
	}

	private static ChannelOptions secured(TlsOptions tls) {
		return ChannelOptions.DEFAULTS.withSecurity(ChannelSecurity.NONE.withTls(tls));
	}

	private static RegisteredMemory memory() {
		return RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(64L << 20)
			.withInitialBytes(0)
			.withLeakDetection(LeakDetection.PARANOID));
	}

}
