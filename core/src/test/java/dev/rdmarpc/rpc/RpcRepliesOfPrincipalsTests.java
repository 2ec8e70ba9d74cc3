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

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestCertificates;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.Frames;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.PeerShare;
import dev.rdmarpc.transport.RdmaAuthenticator;
import dev.rdmarpc.verbs.TlsOptions;
import dev.rdmarpc.verbs.TlsOptions.ClientAuthentication;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a principal has not read counts for it, whatever address it calls from, and not
 * for another principal at the same address.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcRepliesOfPrincipalsTests {

	private static final int LARGE = 1 << 20;

	private static final int LIMIT = 4 * LARGE;

	private static final long MEMORY = 64L << 20;

	private static final int CONNECTIONS = 2;

	/** Of each connection; those of both have more bytes in replies than the limit. */
	private static final int CALLS = 6;

	/** Frames that a peer takes, by what it says. */
	private static final int CREDITS = 8;

	private static final ServiceDescriptor LARDER = ServiceDescriptor.of(Larder.class.getName(), Larder.class,
			new FlatBuffersCodec());

	private static final byte[] REPORTS = bytes("token of reports");

	private static final byte[] BATCH = bytes("token of batch");

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	@BeforeEach
	void strangersAreBorne() {
		TestEnvironment.assumeStrangersAreBorne();
	}

	@Test
	void aPrincipalIsKnownByItsToken() throws Exception {
		ChannelSecurity guard = ChannelSecurity.NONE
			.withAuthenticator(RdmaAuthenticator.ofTokens(Map.of("reports", REPORTS, "batch", BATCH)));
		besiege(guard, "reports", ChannelSecurity.NONE.withToken(REPORTS::clone),
				ChannelSecurity.NONE.withToken(BATCH::clone), (peer) -> peer.connected(false)
					.write(peer.framed(Frames.withToken(Frames.hello(1, CREDITS), REPORTS))));
	}

	@Test
	void aPrincipalIsKnownByItsCertificate() throws Exception {
		TestEnvironment.assumeTcp();
		TestCertificates server = TestCertificates.server();
		TestCertificates reports = TestCertificates.client();
		TestCertificates batch = TestCertificates.elsewhere();
		ChannelSecurity guard = ChannelSecurity.NONE
			.withTls(TlsOptions.of(() -> server.context(reports, batch))
				.withClientAuthentication(ClientAuthentication.NEED))
			.withAuthenticator(RdmaAuthenticator
				.ofCertificates((credentials) -> credentials.certificates().get(0).getSubjectX500Principal()));
		besiege(guard, reports.certificate().getSubjectX500Principal().getName(),
				ChannelSecurity.NONE.withTls(TlsOptions.of(() -> reports.context(server))),
				ChannelSecurity.NONE.withTls(TlsOptions.of(() -> batch.context(server))),
				(peer) -> peer.secured(reports.context(server))
					.connected(false)
					.write(peer.framed(Frames.hello(1, CREDITS))));
	}

	/**
	 * Has connections of a principal ask and read nothing.
	 * @param name of that principal
	 * @param same what else shows that it is the principal
	 * @param other what shows that it is another one
	 * @param handshake of the principal, by hand
	 */
	private static void besiege(ChannelSecurity guard, String name, ChannelSecurity same, ChannelSecurity other,
			Handshake handshake) throws Exception {
		RpcServerOptions options = RpcFixture.serverOptions(0).withPeers(PeerLimits.DEFAULTS.withMaxReplyBytes(LIMIT));
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), UnaryOperator.identity(), MEMORY);
				RpcServer server = fixture.startServer(options.withChannel(options.channel().withSecurity(guard)),
						Larder.class, new Cellar());
				RpcClient ownClient = fixture.newClient(server, securedWith(same));
				RpcClient otherClient = fixture.newClient(server, securedWith(other))) {
			Larder own = ownClient.proxy(Larder.class);
			Larder others = otherClient.proxy(Larder.class);
			assertThat(own.large()).hasSize(LARGE);
			assertThat(others.large()).hasSize(LARGE);
			List<HostileSocket> deaf = new ArrayList<>();
			try {
				for (int i = 0; i < CONNECTIONS; i++) {
					deaf.add(ask(new HostileSocket(server.port(), InetAddress.getLoopbackAddress()), handshake));
				}
				AtomicReference<RpcException> refused = new AtomicReference<>();
				RpcFixture.awaitTrue(() -> {
					refused.set(RpcFixture.failureOf(own::small));
					return refused.get() != null;
				});
				assertThat(refused.get().status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
				assertThat(refused.get()).hasMessageContaining(
						"too many bytes in replies to '" + name + "' that have not been read (limit " + LIMIT + ")");
				assertThat(server.metrics().callsLimited().get(PeerShare.Limit.REPLY_BYTES)).isPositive();
				for (int i = 0; i < CALLS; i++) {
					assertThat(others.large()).hasSize(LARGE);
					assertThat(others.small()).isNotEmpty();
				}
			}
			finally {
				for (HostileSocket peer : deaf) {
					peer.close();
				}
			}
			RpcFixture.awaitTrue(() -> RpcFixture.failureOf(own::large) == null);
			RpcFixture.awaitTrue(() -> server.channels().size() == 2 && server.activeCalls() == 0);
		}
	}

	private static UnaryOperator<RpcClientOptions> securedWith(ChannelSecurity security) {
		return (options) -> options.withChannel(options.channel().withSecurity(security));
	}

	private static HostileSocket ask(HostileSocket peer, Handshake handshake) throws IOException {
		handshake.shake(peer);
		assertThat(peer.read()).as("its last word is that of the handshake").isNotNull();
		long large = LARDER.methods()
			.stream()
			.filter((candidate) -> candidate.name().equals("large"))
			.findFirst()
			.orElseThrow()
			.id();
		for (int call = 0; call < CALLS; call++) {
			peer.write(peer.framed(Frames.request(0, call, large, 0, 0, new byte[0])));
		}
		return peer;
	}

	/** Has things to give away. */
	interface Larder {

		byte[] large();

		byte[] small();

	}

	/** Gives them. */
	private static final class Cellar implements Larder {

		@Override
		public byte[] large() {
			return new byte[LARGE];
		}

		@Override
		public byte[] small() {
			return new byte[100];
		}

	}

	/** How a peer sets a connection up. */
	private interface Handshake {

		void shake(HostileSocket peer) throws IOException;

	}

}
