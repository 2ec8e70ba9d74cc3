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

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestCertificates;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.Frames;
import dev.rdmarpc.transport.PeerCredentials;
import dev.rdmarpc.transport.RdmaAuthenticator;
import dev.rdmarpc.verbs.TlsOptions;
import dev.rdmarpc.verbs.TlsOptions.ClientAuthentication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Who may connect, and what a server knows of who has. */
class RpcSecurityTests {

	private static final String TOKEN = "correct horse battery staple";

	private static final RdmaAuthenticator TOKENS = RdmaAuthenticator
		.ofTokens(Map.of("reports", bytes(TOKEN), "batch", bytes("another one")));

	private Duration serverHandshake = Duration.ofSeconds(5);

	private Duration clientHandshake = Duration.ofSeconds(5);

	private final AtomicReference<Principal> seen = new AtomicReference<>();

	private final EchoService service = new EchoService() {

		@Override
		public String echo(String text) {
			RpcSecurityTests.this.seen.set(RpcContext.current().principal());
			return super.echo(text);
		}

	};

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static ChannelSecurity showing(String token) {
		return ChannelSecurity.NONE.withToken(() -> bytes(token));
	}

	private void call(ChannelSecurity server, ChannelSecurity client, Consumer<Echo> test) {
		try (RpcFixture fixture = new RpcFixture()) {
			RpcServerOptions options = RpcFixture.serverOptions(0);
			ChannelOptions guard = within(this.serverHandshake, options.channel().withSecurity(server));
			try (RpcServer guarded = fixture.startServer(options.withChannel(guard), Echo.class, this.service);
					RpcClient caller = fixture.newClient(guarded,
							(defaults) -> defaults.withConnectTimeout(this.clientHandshake)
								.withChannel(within(this.clientHandshake, defaults.channel().withSecurity(client))))) {
				test.accept(caller.proxy(Echo.class));
			}
		}
	}

	private static ChannelOptions within(Duration handshake, ChannelOptions channel) {
		return channel.withTimeouts(handshake, Duration.ofSeconds(10), Duration.ofSeconds(30));
	}

	private static UnaryOperator<RpcClientOptions> securedWith(ChannelSecurity security) {
		return (options) -> options.withChannel(options.channel().withSecurity(security));
	}

	private RpcException refusal(ChannelSecurity server, ChannelSecurity client) {
		AtomicReference<RpcException> failure = new AtomicReference<>();
		call(server, client, (echo) -> failure.set(RpcFixture.failureOf(() -> echo.echo("in vain"))));
		assertThat(this.seen).hasNullValue();
		return failure.get();
	}

	@Test
	void aTokenSaysWhoCalls() {
		call(ChannelSecurity.NONE.withAuthenticator(TOKENS), showing(TOKEN), (echo) -> {
			assertThat(echo.echo("hello")).isEqualTo("hello");
			assertThat(this.seen.get().getName()).isEqualTo("reports");
		});
	}

	@Test
	void aWrongTokenIsUnauthenticated() {
		RpcException failure = refusal(ChannelSecurity.NONE.withAuthenticator(TOKENS), showing(TOKEN + "!"));
		assertThat(failure.status()).isEqualTo(RpcStatus.UNAUTHENTICATED);
		assertThat(failure).hasMessageContaining("the token is not known").hasMessageNotContaining(TOKEN);
	}

	@Test
	void noTokenIsUnauthenticated() {
		RpcException failure = refusal(ChannelSecurity.NONE.withAuthenticator(TOKENS), ChannelSecurity.NONE);
		assertThat(failure.status()).isEqualTo(RpcStatus.UNAUTHENTICATED);
		assertThat(failure).hasMessageContaining("a token is required");
	}

	@Test
	void whoIsRejectedByAllAddressesOfATargetIsUnauthenticated() {
		try (RpcFixture fixture = new RpcFixture()) {
			RpcServerOptions options = RpcFixture.serverOptions(0);
			RpcServerOptions guarded = options
				.withChannel(options.channel().withSecurity(ChannelSecurity.NONE.withAuthenticator(TOKENS)));
			InetSocketAddress nobody = RpcBalancingTests.nobody(fixture);
			try (RpcServer first = fixture.startServer(guarded, Echo.class, this.service);
					RpcServer second = fixture.startServer(guarded, Echo.class, this.service)) {
				RpcException rejected = refusal(fixture, first.address(), second.address());
				assertThat(rejected.status()).isEqualTo(RpcStatus.UNAUTHENTICATED);
				assertThat(rejected).hasMessageContaining("a token is required");
				assertThat(refusal(fixture, first.address(), nobody).status()).isEqualTo(RpcStatus.UNAVAILABLE);
			}
		}
	}

	private static RpcException refusal(RpcFixture fixture, InetSocketAddress... addresses) {
		try (RpcClient caller = RpcClient.builder()
			.transport(fixture.clientTransport)
			.addresses("places", List.of(addresses))
			.build()) {
			return RpcFixture.failureOf(() -> caller.proxy(Echo.class).echo("in vain"));
		}
	}

	@Test
	void aServerThatAsksNobodyIgnoresTokens() {
		call(ChannelSecurity.NONE, showing(TOKEN), (echo) -> {
			assertThat(echo.echo("hello")).isEqualTo("hello");
			assertThat(this.seen).hasNullValue();
		});
	}

	@Test
	void theNextConnectionShowsTheNextToken() {
		AtomicReference<String> current = new AtomicReference<>("expired");
		call(ChannelSecurity.NONE.withAuthenticator(TOKENS), ChannelSecurity.NONE.withToken(() -> bytes(current.get())),
				(echo) -> {
					assertThat(RpcFixture.failureOf(() -> echo.echo("early")).status())
						.isEqualTo(RpcStatus.UNAUTHENTICATED);
					current.set(TOKEN);
					RpcFixture.awaitTrue(() -> RpcFixture.failureOf(() -> echo.echo("late")) == null);
				});
	}

	@Test
	void aDecisionMayTakeItsTime() {
		CompletableFuture<Principal> decision = new CompletableFuture<>();
		AtomicReference<PeerCredentials> asked = new AtomicReference<>();
		RdmaAuthenticator slow = (credentials) -> {
			asked.set(credentials);
			RpcFixture.inThread(() -> decision.complete(() -> "somebody"));
			return decision;
		};
		call(ChannelSecurity.NONE.withAuthenticator(slow), showing(TOKEN), (echo) -> {
			assertThat(echo.echo("hello")).isEqualTo("hello");
			assertThat(this.seen.get().getName()).isEqualTo("somebody");
			assertThat(asked.get().token()).isEqualTo(bytes(TOKEN));
			assertThat(asked.get().remoteAddress()).isNotNull();
			assertThat(asked.get().toString()).doesNotContain(TOKEN);
		});
	}

	@Test
	void aDecisionThatNeverComesEndsWithTheHandshake() {
		this.serverHandshake = Duration.ofSeconds(2);
		RpcException failure = refusal(
				ChannelSecurity.NONE.withAuthenticator((credentials) -> new CompletableFuture<>()), showing(TOKEN));
		assertThat(failure.status()).isIn(RpcStatus.UNAVAILABLE, RpcStatus.DEADLINE_EXCEEDED);
	}

	@Test
	void whatFailsInTheDecisionIsNotTold() {
		RpcException failure = refusal(ChannelSecurity.NONE.withAuthenticator((credentials) -> {
			throw new IllegalStateException("ldap://internal:389 says no");
		}), showing(TOKEN));
		assertThat(failure.status()).isEqualTo(RpcStatus.UNAUTHENTICATED);
		assertThat(failure).hasMessageContaining("not authenticated").hasMessageNotContaining("ldap");
	}

	@Test
	void aTokenThatIsTooLongIsNotSent() {
		RpcException failure = refusal(ChannelSecurity.NONE.withAuthenticator(TOKENS), showing("x".repeat(1025)));
		assertThat(failure).hasMessageContaining("no token for the handshake").hasMessageNotContaining("xxx");
	}

	@Test
	void whoHasNotBeenLetInMaySayNothingElse() {
		CompletableFuture<Principal> decision = new CompletableFuture<>();
		try (RpcFixture fixture = new RpcFixture()) {
			RpcServerOptions options = RpcFixture.serverOptions(0);
			ChannelSecurity security = ChannelSecurity.NONE.withAuthenticator((credentials) -> decision);
			try (RpcServer guarded = fixture.startServer(options.withChannel(options.channel().withSecurity(security)),
					Echo.class, this.service); RawPeer peer = RawPeer.connect(guarded.port())) {
				peer.send(Frames.hello(1, 32));
				peer.send(Frames.hello(1, 32));
				peer.awaitEnd();
				assertThat(peer.receive()).as("frame for a peer that is not known").isNull();
				decision.complete(() -> "too late");
				RpcFixture.awaitTrue(() -> guarded.channels().isEmpty());
			}
		}
	}

	@Test
	void certificatesSayWhoCallsAndLargeMessagesPass() {
		TestEnvironment.assumeTcp();
		// The first handshake of a process takes seconds of a processor that others use,
		// too.
		this.serverHandshake = Duration.ofSeconds(30);
		this.clientHandshake = Duration.ofSeconds(30);
		TestCertificates own = TestCertificates.client();
		TlsOptions serverTls = TlsOptions.of(() -> TestCertificates.server().context(own))
			.withClientAuthentication(ClientAuthentication.NEED);
		TlsOptions clientTls = TlsOptions.of(() -> own.context(TestCertificates.server()));
		RdmaAuthenticator authenticator = RdmaAuthenticator
			.ofCertificates((credentials) -> credentials.certificates().get(0).getSubjectX500Principal());
		call(ChannelSecurity.NONE.withTls(serverTls).withAuthenticator(authenticator),
				ChannelSecurity.NONE.withTls(clientTls), (echo) -> {
					assertThat(echo.echo("hello")).isEqualTo("hello");
					assertThat(this.seen.get()).isEqualTo(own.certificate().getSubjectX500Principal());
					byte[] large = new byte[3 << 20];
					new Random(1).nextBytes(large);
					assertThat(echo.bytes(large)).isEqualTo(large);
				});
	}

	@Test
	void withoutACertificateNobodyIsKnown() {
		RdmaAuthenticator authenticator = RdmaAuthenticator
			.ofCertificates((credentials) -> credentials.certificates().get(0).getSubjectX500Principal());
		RpcException failure = refusal(ChannelSecurity.NONE.withAuthenticator(authenticator), ChannelSecurity.NONE);
		assertThat(failure.status()).isEqualTo(RpcStatus.UNAUTHENTICATED);
		assertThat(failure).hasMessageContaining("a certificate is required");
	}

	@Test
	void servicesAreForThoseWhoAreAllowed() {
		RdmaAuthenticator byWord = (credentials) -> CompletableFuture.completedFuture((credentials.token() != null)
				? named(new String(credentials.token(), StandardCharsets.UTF_8)) : RdmaAuthenticator.ANONYMOUS);
		try (RpcFixture fixture = new RpcFixture()) {
			RpcServerOptions options = RpcFixture.serverOptions(0);
			try (RpcServer guarded = fixture.startServer(
					options.withChannel(options.channel().withSecurity(ChannelSecurity.NONE.withAuthenticator(byWord))),
					(builder) -> builder.service(Echo.class, this.service)
						.service("known", Echo.class, this.service)
						.allow(Echo.class.getName(), Set.of("reports"))
						.allow("known", Set.of("*")));
					RpcClient reports = fixture.newClient(guarded, securedWith(showing("reports")));
					RpcClient batch = fixture.newClient(guarded, securedWith(showing("batch")));
					RpcClient nobody = fixture.newClient(guarded, securedWith(ChannelSecurity.NONE))) {
				assertThat(reports.proxy(Echo.class).echo("hello")).isEqualTo("hello");
				assertThat(reports.proxy("known", Echo.class).echo("hello")).isEqualTo("hello");
				assertThat(batch.proxy("known", Echo.class).echo("hello")).isEqualTo("hello");
				this.seen.set(null);
				RpcException denied = RpcFixture.failureOf(() -> batch.proxy(Echo.class).bytes(new byte[3 << 20]));
				assertThat(denied.status()).isEqualTo(RpcStatus.PERMISSION_DENIED);
				assertThat(denied).hasMessageContaining("access to " + Echo.class.getName() + "/bytes is denied");
				assertThat(RpcFixture.failureOf(() -> nobody.proxy(Echo.class).echo("in vain")).status())
					.isEqualTo(RpcStatus.UNAUTHENTICATED);
				assertThat(RpcFixture.failureOf(() -> nobody.proxy("known", Echo.class).echo("in vain")).status())
					.isEqualTo(RpcStatus.UNAUTHENTICATED);
				assertThat(this.seen).hasNullValue();
				assertThat(guarded.metrics().callsDenied()).isEqualTo(3);
				RpcFixture.awaitTrue(() -> guarded.activeCalls() == 0);
				assertThat(guarded.channels()).hasSize(3);
				assertThat(batch.metrics().losses()).isZero();
			}
		}
	}

	@Test
	void aServiceThatIsNotOfferedCannotBeAllowed() {
		try (RpcFixture fixture = new RpcFixture()) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> fixture.startServer(RpcFixture.serverOptions(0),
						(builder) -> builder.service(Echo.class, this.service).allow("ecco", Set.of("*"))))
				.withMessageContaining("ecco");
		}
	}

	@Test
	void aTokenIsOfOneOnly() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> RdmaAuthenticator.ofTokens(Map.of("reports", bytes(TOKEN), "batch", bytes(TOKEN))))
			.withMessageContainingAll("'reports'", "'batch'", "the same token")
			.withMessageNotContaining(TOKEN);
	}

	private static Principal named(String name) {
		return () -> name;
	}

	@Test
	void textsShowNoSecret() {
		assertThat(showing(TOKEN).withAuthenticator(TOKENS).toString()).doesNotContain(TOKEN);
		assertThat(TOKENS.toString()).doesNotContain(TOKEN);
	}

}
