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
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestCertificates;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.TlsOptions;
import dev.rdmarpc.verbs.TlsOptions.ClientAuthentication;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrame;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

/** Connections with TLS, and peers that do something else. */
class TlsConnectionTests {

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20261123L);

	private static final TlsOptions SERVER = TlsProvider.options(TestCertificates.server().context());

	private static final TlsOptions CLIENT = TlsProvider.options(TestCertificates.trusting(TestCertificates.server()));

	private VerbsDevice clientDevice;

	private VerbsDevice serverDevice;

	private Endpoint client;

	private Endpoint server;

	private final CompletableFuture<CompletableFuture<ConnectionInfo>> accepted = new CompletableFuture<>();

	private ConnectionListener listener;

	@BeforeEach
	void open() {
		this.clientDevice = new IwarpProvider().openDevice(null);
		this.serverDevice = new IwarpProvider().openDevice(null);
		this.client = new Endpoint(this.clientDevice);
		this.server = new Endpoint(this.serverDevice);
	}

	@AfterEach
	void close() {
		this.client.close();
		this.server.close();
		if (this.listener != null) {
			this.listener.close();
		}
		this.clientDevice.close();
		this.serverDevice.close();
	}

	private void listen(TlsOptions tls) {
		listen(ListenOptions.DEFAULTS.withTls(tls));
	}

	private void listen(ListenOptions options) {
		this.listener = this.serverDevice.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), options,
				(request) -> this.accepted.complete(request.accept(this.server.queuePair, ConnectOptions.DEFAULTS)));
	}

	private CompletableFuture<ConnectionInfo> connect(TlsOptions tls) {
		return connect(tls, this.listener.localAddress());
	}

	private CompletableFuture<ConnectionInfo> connect(TlsOptions tls, InetSocketAddress remote) {
		return this.clientDevice.connect(this.client.queuePair, remote,
				ConnectOptions.DEFAULTS.withTimeout(Endpoint.DEADLINE).withTls(tls));
	}

	private String failure(CompletableFuture<ConnectionInfo> future) throws Exception {
		try {
			future.get(Endpoint.DEADLINE.toSeconds() + 5, TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			assertThat(this.client.queuePair.state()).isEqualTo(QueuePairState.INITIALIZED);
			VerbsException cause = (VerbsException) ex.getCause();
			return cause.error() + ": " + cause.getMessage() + " "
					+ new String(cause.privateData(), StandardCharsets.US_ASCII);
		}
		throw new AssertionError("connected");
	}

	private static ListenOptions shortly(TlsOptions tls) {
		return new ListenOptions(16, 16, 16, Duration.ofMillis(700).toNanos()).withTls(tls);
	}

	/** The engine would ask for ever for the task that has not ended. */
	@Test
	void anErrorOfATrustManagerEndsItsHandshakeAndNothingElse() throws Exception {
		listen(SERVER);
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(null, new TrustManager[] { new BrokenTrust() }, null);
		assertThat(failure(connect(TlsProvider.options(context)))).startsWith("PROTOCOL_ERROR")
			.contains("handshake cannot be computed: java.lang.NoClassDefFoundError: on purpose");
		assertThat(this.accepted).isNotDone();
		connect(CLIENT).get(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS);
	}

	@Test
	void carriesMessagesOfAnyLength() {
		listen(SERVER);
		ConnectedPair.get(connect(CLIENT));
		ConnectedPair.get(ConnectedPair.get(this.accepted));
		Random random = new Random(SEED);
		int[] lengths = { 1, 64, 16_383, 16_384, 16_385, 1 << 20 };
		for (int i = 0; i < lengths.length; i++) {
			MemoryRegion from = this.client.register(lengths[i]);
			MemoryRegion to = this.server.register(lengths[i]);
			byte[] bytes = new byte[lengths[i]];
			random.nextBytes(bytes);
			from.memory().put(0, bytes);
			this.server.receive(i, to);
			this.client.send(this.client.request.send(i).addSegment(from, 0, lengths[i]));
			int count = i + 1;
			Endpoint.pollUntil(() -> this.server.completions.size() == count, this.client, this.server);
			byte[] received = new byte[lengths[i]];
			to.memory().get(0, received);
			assertThat(received).as("seed " + SEED).isEqualTo(bytes);
		}
	}

	@Test
	void showsThePlainTextToNobody() throws Exception {
		listen(SERVER);
		byte[] secret = "a sentence that nobody on the way may read".getBytes(StandardCharsets.US_ASCII);
		try (RecordingProxy proxy = new RecordingProxy(this.listener.localAddress())) {
			ConnectedPair.get(connect(CLIENT, proxy.address()));
			ConnectedPair.get(ConnectedPair.get(this.accepted));
			MemoryRegion from = this.client.register(secret.length);
			from.memory().put(0, secret);
			this.server.receive(1, this.server.register(secret.length));
			this.client.send(this.client.request.send(1).addSegment(from, 0, secret.length));
			Endpoint.pollUntil(() -> !this.server.completions.isEmpty(), this.client, this.server);
			String wire = new String(proxy.recording().stream(0, true), StandardCharsets.ISO_8859_1);
			assertThat(wire).isNotEmpty().doesNotContain("nobody on the way").doesNotContain("MPA ID");
		}
	}

	@Test
	void knowsWhoseCertificateThePeerHas() {
		TestCertificates own = TestCertificates.client();
		listen(TlsProvider.options(TestCertificates.server().context(own))
			.withClientAuthentication(ClientAuthentication.NEED));
		ConnectionInfo atClient = ConnectedPair
			.get(connect(TlsProvider.options(own.context(TestCertificates.server()))));
		ConnectionInfo atServer = ConnectedPair.get(ConnectedPair.get(this.accepted));
		assertThat(atClient.peerCertificates()).containsExactly(TestCertificates.server().certificate());
		assertThat(atServer.peerCertificates()).containsExactly(own.certificate());
	}

	@Test
	void refusesAServerThatIsNotTrusted() throws Exception {
		listen(TlsProvider.options(TestCertificates.stranger().context()));
		assertThat(failure(connect(CLIENT))).startsWith("PROTOCOL_ERROR: TLS with").contains("certif");
	}

	@Test
	void refusesAServerThatHasAnotherName() throws Exception {
		TestCertificates elsewhere = TestCertificates.elsewhere();
		listen(TlsProvider.options(elsewhere.context()));
		TlsOptions options = TlsProvider.options(TestCertificates.trusting(elsewhere));
		assertThat(failure(connect(options))).contains("No subject alternative");
		ConnectedPair.get(connect(options.withVerifyHostName(false)));
	}

	@Test
	void tellsAClientThatItHasToShowACertificate() throws Exception {
		listen(SERVER.withClientAuthentication(ClientAuthentication.NEED));
		assertThat(failure(connect(CLIENT))).contains("certificate");
		assertThat(this.accepted).isNotDone();
	}

	@Test
	void tellsAClientThatItsCertificateIsNotTrusted() throws Exception {
		listen(TlsProvider.options(TestCertificates.server().context(TestCertificates.client()))
			.withClientAuthentication(ClientAuthentication.NEED));
		assertThat(
				failure(connect(TlsProvider.options(TestCertificates.stranger().context(TestCertificates.server())))))
			.contains("certificate");
		assertThat(this.accepted).isNotDone();
	}

	@Test
	void tellsAPlainClientThatTlsIsRequired() throws Exception {
		listen(SERVER);
		assertThat(failure(connect(null))).startsWith("CONNECTION_REJECTED").contains("TLS is required here");
		assertThat(this.accepted).isNotDone();
	}

	@Test
	void aClientWithTlsLearnsThatThePlainServerHasNone() throws Exception {
		listen((TlsOptions) null);
		assertThat(failure(connect(CLIENT))).containsAnyOf("may not be configured", "reset");
		assertThat(this.accepted).isNotDone();
	}

	@Test
	void refusesAPeerThatSpeaksAnotherProtocolInTls() throws Exception {
		listen(SERVER);
		try (SSLSocket socket = connectSocket(TestCertificates.trusting(TestCertificates.server()))) {
			SSLParameters parameters = socket.getSSLParameters();
			parameters.setApplicationProtocols(new String[] { "h2" });
			socket.setSSLParameters(parameters);
			assertThatIOException().isThrownBy(socket::startHandshake).withMessageContaining("no_application_protocol");
		}
	}

	@Test
	void refusesAPeerThatNamesNoProtocolInTls() throws Exception {
		listen(SERVER);
		try (SSLSocket socket = connectSocket(TestCertificates.trusting(TestCertificates.server()))) {
			socket.startHandshake();
			assertThat(isCutOff(socket)).isTrue();
		}
	}

	@Test
	void refusesOlderVersionsOfTls() throws Exception {
		listen(SERVER);
		try (SSLSocket socket = connectSocket(TestCertificates.trusting(TestCertificates.server()))) {
			socket.setEnabledProtocols(new String[] { "TLSv1.2" });
			assertThatIOException().isThrownBy(socket::startHandshake).withMessageContaining("protocol_version");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET / HTTP/1.1\r\n\r\n", "\u0016\u0003\u0001\u007f\u007f too long",
			"\u0016\u0003\u0001\u0000\u0004\u0001\u0000\u0000\u0000", "\u0017\u0003\u0003\u0000\u0001x" })
	void cutsOffWhoeverSendsWhatIsNoTls(String garbage) throws Exception {
		listen(SERVER);
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.listener.localAddress().getPort())) {
			socket.getOutputStream().write(garbage.getBytes(StandardCharsets.ISO_8859_1));
			assertThat(isCutOff(socket)).isTrue();
		}
		assertThat(this.accepted).isNotDone();
	}

	@Test
	void endsAHandshakeThatTrickles() throws Exception {
		listen(shortly(SERVER));
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.listener.localAddress().getPort())) {
			OutputStream out = socket.getOutputStream();
			out.write(new byte[] { 22, 3, 1, 1, 0, 1 });
			assertThat(isCutOff(socket)).isTrue();
		}
	}

	@Test
	void endsAHandshakeWithoutEnd() throws Exception {
		listen(SERVER);
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.listener.localAddress().getPort())) {
			socket.setSoTimeout((int) Endpoint.DEADLINE.toMillis());
			byte[] changes = new byte[60_000];
			for (int i = 0; i < changes.length; i += 6) {
				System.arraycopy(new byte[] { 20, 3, 3, 0, 1, 1 }, 0, changes, i, 6);
			}
			long deadline = System.nanoTime() + Endpoint.DEADLINE.toNanos();
			boolean cutOff = false;
			while (!cutOff && System.nanoTime() < deadline) {
				try {
					socket.getOutputStream().write(changes);
				}
				catch (IOException ex) {
					cutOff = true;
				}
			}
			assertThat(cutOff).isTrue();
		}
	}

	@Test
	void thoseThatSayNothingKeepNobodyOut() throws Exception {
		listen(new ListenOptions(1024, 256, 1024, Duration.ofMinutes(5).toNanos()).withTls(SERVER));
		List<Socket> silent = new ArrayList<>();
		try {
			for (int i = 0; i < 250; i++) {
				silent.add(new Socket(InetAddress.getLoopbackAddress(), this.listener.localAddress().getPort()));
			}
			ConnectedPair.get(connect(CLIENT));
		}
		finally {
			for (Socket socket : silent) {
				socket.close();
			}
		}
	}

	@Test
	void givesUpAServerThatSaysNothing() throws Exception {
		try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			CompletableFuture<ConnectionInfo> connecting = this.clientDevice.connect(this.client.queuePair,
					(InetSocketAddress) silent.getLocalSocketAddress(),
					ConnectOptions.DEFAULTS.withTimeout(Duration.ofMillis(300)).withTls(CLIENT));
			assertThat(failure(connecting)).startsWith("TIMED_OUT");
		}
	}

	@Test
	void newConnectionsUseTheNewCertificate() throws Exception {
		AtomicReference<SSLContext> current = new AtomicReference<>(TestCertificates.stranger().context());
		listen(TlsOptions.of(current::get));
		assertThat(failure(connect(CLIENT))).contains("certif");
		current.set(TestCertificates.server().context());
		ConnectedPair.get(connect(CLIENT));
	}

	@Test
	void noticesAChangedBit() throws Exception {
		listen(SERVER);
		int length = 100_000;
		MemoryRegion to = this.server.register(length);
		try (RecordingProxy proxy = new RecordingProxy(this.listener.localAddress(), 0, length / 2)) {
			ConnectedPair.get(connect(CLIENT, proxy.address()));
			ConnectedPair.get(ConnectedPair.get(this.accepted));
			this.server.receive(1, to);
			this.client.send(this.client.request.send(1).addSegment(this.client.register(length), 0, length));
			Endpoint.pollUntil(() -> !this.server.faults.isEmpty() && !this.client.faults.isEmpty(), this.client,
					this.server);
		}
		assertThat(this.server.faults.get(0).detail()).contains("connection lost");
		assertThat(this.server.completions).noneMatch((completion) -> completion.status() == WorkStatus.SUCCESS);
	}

	@Test
	@SuppressWarnings("try") // the proxy is closed before its block ends
	void takesAnEndThatTlsDoesNotKnowOfForACut() throws Exception {
		listen(SERVER);
		try (TcpProxy proxy = new TcpProxy(this.listener.localAddress())) {
			ConnectedPair.get(connect(CLIENT, proxy.address()));
			ConnectedPair.get(ConnectedPair.get(this.accepted));
		}
		Endpoint.pollUntil(() -> !this.server.faults.isEmpty() && !this.client.faults.isEmpty(), this.client,
				this.server);
		assertThat(this.server.faults.get(0).status()).isEqualTo(WorkStatus.CONNECTION_LOST);
	}

	@Test
	void anOrderlyEndIsKnownAsOne() {
		listen(SERVER);
		ConnectedPair.get(connect(CLIENT));
		ConnectedPair.get(ConnectedPair.get(this.accepted));
		this.client.queuePair.disconnect();
		Endpoint.pollUntil(() -> !this.server.faults.isEmpty(), this.client, this.server);
		assertThat(this.server.faults.get(0).origin()).isEqualTo(QueuePairFault.Origin.DISCONNECT);
	}

	@Test
	void resumesASessionWithoutAnotherCertificate() throws Exception {
		listen(SERVER);
		SSLContext context = TestCertificates.trusting(TestCertificates.server());
		TlsOptions options = TlsOptions.of(() -> context);
		ConnectedPair.get(connect(options));
		ConnectedPair.get(ConnectedPair.get(this.accepted));
		MemoryRegion region = this.client.register(8);
		this.client.receive(1, region);
		this.server.send(this.server.request.send(1).addSegment(this.server.register(8), 0, 8));
		Endpoint.pollUntil(() -> this.client.completions.size() == 1, this.client, this.server);
		int port = this.listener.localAddress().getPort();
		List<byte[]> sessions = Collections.list(context.getClientSessionContext().getIds());
		assertThat(sessions).isNotEmpty();
		long created = sessions.stream()
			.mapToLong((id) -> context.getClientSessionContext().getSession(id).getCreationTime())
			.min()
			.getAsLong();
		try (SSLSocket socket = (SSLSocket) context.getSocketFactory()
			.createSocket(new Socket(InetAddress.getLoopbackAddress(), port),
					this.listener.localAddress().getHostString(), port, true)) {
			SSLParameters parameters = socket.getSSLParameters();
			parameters.setApplicationProtocols(new String[] { TlsOptions.APPLICATION_PROTOCOL });
			socket.setSSLParameters(parameters);
			socket.startHandshake();
			assertThat(socket.getSession().getCreationTime()).isEqualTo(created);
		}
	}

	@Test
	void aPlainRejectionIsWellFormed() throws Exception {
		listen(SERVER);
		try (RawPeer peer = new RawPeer(this.listener.localAddress())) {
			peer.write(MpaFrameFlyweight.encodeEnhanced(true, 0, 1, 1, new byte[0]));
			MpaFrame reply = peer.readMpaFrame();
			assertThat(reply.rejected()).isTrue();
			assertThat(reply.privateData()).asString(StandardCharsets.US_ASCII).isEqualTo("TLS is required here");
		}
	}

	private SSLSocket connectSocket(SSLContext context) throws IOException {
		SSLSocket socket = (SSLSocket) context.getSocketFactory()
			.createSocket(InetAddress.getLoopbackAddress(), this.listener.localAddress().getPort());
		socket.setSoTimeout((int) Endpoint.DEADLINE.toMillis());
		return socket;
	}

	private static boolean isCutOff(Socket socket) throws IOException {
		socket.setSoTimeout((int) Endpoint.DEADLINE.toMillis());
		try {
			new DataInputStream(socket.getInputStream()).skipNBytes(1 << 20);
			return false;
		}
		catch (SocketTimeoutException ex) {
			return false;
		}
		catch (IOException ex) {
			return true;
		}
	}

	/** Trusts nobody, for want of a class. */
	private static final class BrokenTrust extends X509ExtendedTrustManager {

		@Override
		public void checkClientTrusted(X509Certificate[] chain, String type) {
			throw new NoClassDefFoundError("on purpose");
		}

		@Override
		public void checkServerTrusted(X509Certificate[] chain, String type) {
			throw new NoClassDefFoundError("on purpose");
		}

		@Override
		public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {
			throw new NoClassDefFoundError("on purpose");
		}

		@Override
		public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {
			throw new NoClassDefFoundError("on purpose");
		}

		@Override
		public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
			throw new NoClassDefFoundError("on purpose");
		}

		@Override
		public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
			throw new NoClassDefFoundError("on purpose");
		}

		@Override
		public X509Certificate[] getAcceptedIssuers() {
			return new X509Certificate[0];
		}

	}

}
