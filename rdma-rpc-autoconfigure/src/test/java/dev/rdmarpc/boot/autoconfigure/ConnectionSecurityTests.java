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

package dev.rdmarpc.boot.autoconfigure;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaServerCustomizer;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.RpcContext;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.PeerRejectedException;
import dev.rdmarpc.transport.RdmaAuthenticator;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Connections protected as properties and beans say. */
@ExtendWith(OutputCaptureExtension.class)
class ConnectionSecurityTests {

	private static final String TOKEN = "correct-horse-battery-staple";

	@TempDir
	private Path directory;

	private final ApplicationContextRunner runner = RdmaContextRunner.create().withUserConfiguration(WhoCalls.class);

	private static String call(ApplicationContext context) {
		return context.getBean(RdmaClients.class).proxy("peer", Who.class).calls();
	}

	private static RpcException refusal(ApplicationContext context) {
		return catchThrowableOfType(RpcException.class, () -> call(context));
	}

	/** The certificate of a bundle, its key, and whom it trusts. */
	private String[] pem(String bundle, TestCertificates own, TestCertificates trusted)
			throws IOException, GeneralSecurityException {
		String prefix = "spring.ssl.bundle.pem." + bundle + ".";
		var files = own.writePem(this.directory);
		var others = trusted.writePem(this.directory);
		return new String[] { prefix + "keystore.certificate=" + files.get(0).toUri(),
				prefix + "keystore.private-key=" + files.get(1).toUri(),
				prefix + "truststore.certificate=" + others.get(0).toUri() };
	}

	private ApplicationContextRunner withTls() throws IOException, GeneralSecurityException {
		return this.runner.withPropertyValues(pem("server", TestCertificates.server(), TestCertificates.client()))
			.withPropertyValues(pem("client", TestCertificates.client(), TestCertificates.server()))
			.withPropertyValues("rdma.rpc.server.ssl.bundle=server", "rdma.rpc.client.peer.ssl.bundle=client");
	}

	private static void assertFails(AssertableApplicationContext context, String property, String... texts) {
		assertThat(context).hasFailed();
		assertThat(NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure()))
			.isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class, (invalid) -> {
				assertThat(invalid.getName()).isEqualTo(property);
				assertThat(invalid.getValue() + ": " + invalid.getReason()).contains(texts).doesNotContain("xxx");
			});
	}

	@Test
	void nobodyIsAskedByDefault() {
		this.runner.run((context) -> assertThat(call(context)).isEqualTo("nobody known"));
	}

	@Test
	void bundlesOfPemProtectConnections() throws Exception {
		withTls().run((context) -> {
			assertThat(context.getBean(RpcServer.class).options().channel().security().tls()).isNotNull();
			assertThat(call(context)).isEqualTo("nobody known");
		});
	}

	@Test
	void bundlesOfKeyStoresProtectConnections() throws Exception {
		Path store = TestCertificates.server().writeKeyStore(this.directory);
		this.runner.withPropertyValues(pem("client", TestCertificates.client(), TestCertificates.server()))
			.withPropertyValues("spring.ssl.bundle.jks.server.keystore.location=" + store.toUri(),
					"spring.ssl.bundle.jks.server.keystore.type=PKCS12",
					"spring.ssl.bundle.jks.server.keystore.password=changeit", "rdma.rpc.server.ssl.bundle=server",
					"rdma.rpc.client.default.ssl.bundle=client")
			.run((context) -> assertThat(call(context)).isEqualTo("nobody known"));
	}

	@Test
	void aClientWithoutTlsIsToldSo() throws Exception {
		withTls().withPropertyValues("rdma.rpc.client.peer.ssl.bundle=")
			.run((context) -> assertThat(refusal(context)).hasMessageContaining("TLS is required here"));
	}

	@Test
	void certificatesSayWhoCalls() throws Exception {
		withTls().withPropertyValues("rdma.rpc.server.ssl.client-auth=need").run((context) -> {
			String subject = TestCertificates.client().certificate().getSubjectX500Principal().toString();
			assertThat(call(context)).isEqualTo(subject);
		});
		withTls()
			.withPropertyValues("rdma.rpc.server.ssl.client-auth=need", "rdma.rpc.server.ssl.principal=common-name")
			.run((context) -> assertThat(call(context)).isEqualTo("client"));
		withTls().withPropertyValues("rdma.rpc.server.ssl.client-auth=need", "rdma.rpc.server.ssl.principal=dns-name")
			.run((context) -> assertThat(call(context)).isEqualTo("client.example"));
	}

	@Test
	void whoeverIsAskedButNotObligedMayBeAnonymous() throws Exception {
		withTls()
			.withPropertyValues("rdma.rpc.server.ssl.client-auth=want", "rdma.rpc.server.ssl.principal=common-name")
			.withPropertyValues(pem("trusting", TestCertificates.client(), TestCertificates.server())[2])
			.withPropertyValues("rdma.rpc.client.another.ssl.bundle=trusting")
			.run((context) -> {
				assertThat(call(context)).isEqualTo("client");
				assertThat(context.getBean(RdmaClients.class).proxy("another", Who.class).calls())
					.isEqualTo("nobody known");
			});
		withTls()
			.withPropertyValues("rdma.rpc.server.ssl.client-auth=want", "rdma.rpc.server.address=0.0.0.0",
					"rdma.rpc.security.required=true")
			.run((context) -> assertFails(context, "rdma.rpc.security.required", "without authentication"));
	}

	@Test
	void reloadedBundlesAreThoseOfNewConnections() throws Exception {
		withTls().withPropertyValues(pem("changing", TestCertificates.stranger(), TestCertificates.client()))
			.withPropertyValues("rdma.rpc.server.ssl.bundle=changing")
			.run((context) -> {
				assertThat(refusal(context)).hasMessageContaining("TLS");
				context.getBean(SslBundleRegistry.class)
					.updateBundle("changing", context.getBean(SslBundles.class).getBundle("server"));
				Awaitility.await().until(() -> refusal(context) == null);
			});
	}

	/** Those of adapters and of shared memory cannot; the latter is there without one. */
	@Test
	void providersThatCannotHaveTlsRefuseIt() throws Exception {
		withTls().withPropertyValues("rdma.rpc.provider=shm", "rdma.rpc.shm.directory=" + this.directory)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("provider shm cannot protect connections with TLS (expected: provider iwarp"));
	}

	@Test
	void aBundleThatDoesNotExistIsNamed() throws Exception {
		withTls().withPropertyValues("rdma.rpc.server.ssl.bundle=sevrer")
			.run((context) -> assertFails(context, "rdma.rpc.server.ssl.bundle", "sevrer"));
		withTls().withPropertyValues("rdma.rpc.client.peer.ssl.bundle=cleint")
			.run((context) -> assertFails(context, "rdma.rpc.client.peer.ssl.bundle", "cleint"));
	}

	@Test
	void certificatesOfClientsNeedTls() {
		this.runner.withPropertyValues("rdma.rpc.server.ssl.client-auth=need")
			.run((context) -> assertFails(context, "rdma.rpc.server.ssl.client-auth", "none"));
	}

	@Test
	void tokensSayWhoCalls() {
		this.runner.withPropertyValues("rdma.rpc.server.tokens.reports=" + TOKEN, "rdma.rpc.client.peer.token=" + TOKEN)
			.run((context) -> assertThat(call(context)).isEqualTo("reports"));
	}

	@Test
	void wrongTokensAreRefusedAndNeverShown(CapturedOutput output) {
		this.runner
			.withPropertyValues("rdma.rpc.server.tokens.reports=" + TOKEN,
					"rdma.rpc.client.peer.token=not-" + TOKEN + "-at-all")
			.run((context) -> {
				RpcException refused = refusal(context);
				assertThat(refused.status()).isEqualTo(RpcStatus.UNAUTHENTICATED);
				assertThat(refused).hasMessageNotContaining(TOKEN);
				assertThat(context.getBean(RdmaRpcProperties.class).toString()).doesNotContain(TOKEN);
				SanitizingFunction hiding = context.getBean("rdmaTokenSanitizingFunction", SanitizingFunction.class);
				assertThat(hiding.apply(new SanitizableData(null, "rdma.rpc.client.peer.token", TOKEN)).getValue())
					.isEqualTo(SanitizableData.SANITIZED_VALUE);
				assertThat(hiding.apply(new SanitizableData(null, "RDMA_RPC_SERVER_TOKENS_REPORTS", TOKEN)).getValue())
					.isEqualTo(SanitizableData.SANITIZED_VALUE);
				assertThat(hiding.apply(new SanitizableData(null, "rdma.rpc.client.peer.host", "h")).getValue())
					.isEqualTo("h");
			});
		assertThat(output).doesNotContain(TOKEN);
	}

	@Test
	void aTokenThatIsTooLongFailsAndIsNotShown() {
		this.runner.withPropertyValues("rdma.rpc.server.tokens.reports=" + "x".repeat(1025))
			.run((context) -> assertFails(context, "rdma.rpc.server.tokens.reports", "not shown"));
	}

	@Test
	void oneTokenIsNotThatOfTwo() {
		this.runner.withPropertyValues("rdma.rpc.server.tokens.a=xxx", "rdma.rpc.server.tokens.b=xxx")
			.run((context) -> assertFails(context, "rdma.rpc.server.tokens.b",
					"another token than 'rdma.rpc.server.tokens.a' has"));
	}

	/** Of which the binder makes a name of its own, with the same token. */
	@Test
	void aTokenThatAnEnvironmentVariableOverridesKeepsItsName() {
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource("systemEnvironment",
						Map.of("RDMA_RPC_SERVER_TOKENS_ORDERSERVICE", TOKEN))))
			.withPropertyValues("rdma.rpc.server.tokens.order-service=of-the-file",
					"rdma.rpc.client.peer.token=" + TOKEN)
			.run((context) -> assertThat(call(context)).isEqualTo("order-service"));
	}

	@Test
	void anAuthenticatorOfTheApplicationDecides() {
		this.runner
			.withBean(RdmaAuthenticator.class,
					() -> (credentials) -> (credentials.token() != null)
							? CompletableFuture.completedFuture(new Somebody("decided"))
							: CompletableFuture.failedFuture(new PeerRejectedException("say something")))
			.withPropertyValues("rdma.rpc.client.peer.token=anything")
			.run((context) -> {
				assertThat(call(context)).isEqualTo("decided");
				RpcException refused = catchThrowableOfType(RpcException.class,
						() -> context.getBean(RdmaClients.class).proxy("another", Who.class).calls());
				assertThat(refused.status()).isEqualTo(RpcStatus.UNAUTHENTICATED);
				assertThat(refused).hasMessageContaining("say something");
			});
	}

	@Test
	void servicesAreForThePrincipalsThatPropertiesName() {
		ApplicationContextRunner guarded = this.runner.withPropertyValues("rdma.rpc.server.tokens.reports=" + TOKEN,
				"rdma.rpc.server.tokens.batch=of-the-batch", "rdma.rpc.client.peer.token=" + TOKEN,
				"rdma.rpc.client.another.token=of-the-batch");
		guarded.withBean(SimpleMeterRegistry.class)
			.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class))
			.withPropertyValues("rdma.rpc.server.services.who.allow=auditors,reports")
			.run((context) -> {
				assertThat(call(context)).isEqualTo("reports");
				RpcException denied = catchThrowableOfType(RpcException.class,
						() -> context.getBean(RdmaClients.class).proxy("another", Who.class).calls());
				assertThat(denied.status()).isEqualTo(RpcStatus.PERMISSION_DENIED);
				assertThat(context.getBean(SimpleMeterRegistry.class).get("rdma.server.calls.denied").functionCounter())
					.satisfies((counter) -> assertThat(counter.count()).isEqualTo(1));
			});
		guarded.withPropertyValues("rdma.rpc.server.services[" + Who.class.getName() + "].allow=*")
			.run((context) -> assertThat(call(context)).isEqualTo("reports"));
	}

	@Test
	void whoMayCallServicesIsCheckedAtTheStart() {
		ApplicationContextRunner guarded = this.runner.withPropertyValues("rdma.rpc.server.tokens.reports=" + TOKEN);
		guarded.withPropertyValues("rdma.rpc.server.services.woh.allow=reports")
			.run((context) -> assertFails(context, "rdma.rpc.server.services.woh", "probably 'Who'"));
		guarded.withPropertyValues("rdma.rpc.server.services.who.allow=")
			.run((context) -> assertFails(context, "rdma.rpc.server.services.who.allow", "names of principals"));
		this.runner.withPropertyValues("rdma.rpc.server.services.who.allow=reports")
			.run((context) -> assertFails(context, "rdma.rpc.server.services.who.allow", "no value"));
	}

	/** It would not know them. */
	@Test
	void whoMayCallServicesIsNotForAServerOfTheApplication() {
		this.runner.withUserConfiguration(OwnServer.class)
			.withPropertyValues("rdma.rpc.server.tokens.reports=" + TOKEN, "rdma.rpc.server.services.who.allow=reports")
			.run((context) -> assertFails(context, "rdma.rpc.server.services.who.allow", "@RdmaService beans only",
					"a server of the application"));
	}

	@Test
	void aServerThatOthersCanReachSaysWhatItLacks(CapturedOutput output) throws Exception {
		this.runner.withPropertyValues("rdma.rpc.server.address=0.0.0.0").run((context) -> call(context));
		assertThat(output).contains("can be reached by others without TLS and without authentication");
	}

	@Test
	void aServerOnLoopbackLacksNothing(CapturedOutput output) {
		this.runner.withPropertyValues("rdma.rpc.security.required=true").run((context) -> call(context));
		assertThat(output).doesNotContain("can be reached by others");
	}

	@Test
	void protectionCanBeRequired() throws Exception {
		this.runner.withPropertyValues("rdma.rpc.server.address=0.0.0.0", "rdma.rpc.security.required=true")
			.run((context) -> assertFails(context, "rdma.rpc.security.required", "without TLS"));
		withTls()
			.withPropertyValues("rdma.rpc.server.address=0.0.0.0", "rdma.rpc.security.required=true",
					"rdma.rpc.server.tokens.reports=" + TOKEN, "rdma.rpc.client.peer.token=" + TOKEN)
			.run((context) -> assertThat(call(context)).isEqualTo("reports"));
	}

	/** Whoever has made the server, or changed what it listens on. */
	@Test
	void protectionIsRequiredOfTheServerAsItIsAtLast() {
		ApplicationContextRunner required = this.runner.withPropertyValues("rdma.rpc.security.required=true");
		InetSocketAddress everywhere = new InetSocketAddress("0.0.0.0", 0);
		required.withUserConfiguration(OwnServer.class)
			.run((context) -> assertFails(context, "rdma.rpc.security.required", "without TLS"));
		required
			.withBean(RdmaServerCustomizer.class,
					() -> (server) -> server.options((options) -> options.withAddress(everywhere)))
			.run((context) -> assertFails(context, "rdma.rpc.security.required", "without TLS"));
		this.runner.withPropertyValues("rdma.rpc.server.services.who.allow=reports")
			.withBean(RdmaServerCustomizer.class,
					() -> (server) -> server.options((options) -> options.withChannel(options.channel()
						.withSecurity(ChannelSecurity.NONE.withAuthenticator(
								(credentials) -> CompletableFuture.completedFuture(new Somebody("reports")))))))
			.run((context) -> assertThat(call(context)).isEqualTo("reports"));
	}

	@Test
	void thePropertyThatIsSetIsNamed() throws Exception {
		withTls()
			.withPropertyValues("rdma.rpc.client.default.ssl.bundle=cleint", "rdma.rpc.client.another.host=localhost")
			.run((context) -> assertFails(context, "rdma.rpc.client.default.ssl.bundle", "cleint"));
		this.runner
			.withPropertyValues("rdma.rpc.client.default.token=" + "x".repeat(1025),
					"rdma.rpc.client.another.host=localhost")
			.run((context) -> assertFails(context, "rdma.rpc.client.default.token", "not shown"));
	}

	/** Environment variables have no dashes. */
	@Test
	void targetsHaveTheSettingsOfEnvironmentVariables() {
		this.runner.withPropertyValues("rdma.rpc.server.tokens.reports=" + TOKEN)
			.withUserConfiguration(ImportingDashes.class)
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource("systemEnvironment",
						Map.of("RDMA_RPC_CLIENT_ORDERSERVICE_TOKEN", TOKEN))))
			.run((context) -> {
				assertThat(context.getBean(RdmaClients.class).proxy("order-service", Who.class).calls())
					.isEqualTo("reports");
				assertThat(context.getBean(RdmaClients.class).clients()).containsOnlyKeys("order-service");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "rdma.rpc.client[my.target].token", "rdma.rpc.client.peer.token",
			"rdma.rpc.server.tokens.reports", "rdma.rpc.server.tokens[some.body]", "RDMA_RPC_CLIENT_PEER_TOKEN" })
	void tokensAreHiddenInEveryForm(String property) {
		assertThat(Tokens.isNameOf(property)).isTrue();
		assertThat(Tokens.shown(property, TOKEN)).isEqualTo("(not shown)");
		assertThat(Tokens.shown("rdma.rpc.client.peer.host", "h")).isEqualTo("h");
	}

	@Test
	void tokensWithoutNamesAreNotShown(CapturedOutput output) {
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> new SpringApplicationBuilder(WhoCalls.class,
				RdmaTransportAutoConfiguration.class, RdmaServerAutoConfiguration.class)
			.web(WebApplicationType.NONE)
			.run("--rdma.rpc.server.tokens=" + TOKEN));
		assertThat(output).contains("rdma.rpc.server.tokens.reports").doesNotContain(TOKEN);
	}

	/** Says who calls it. */
	public interface Who {

		String calls();

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "order-service", types = Who.class)
	static class ImportingDashes {

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnServer {

		@Bean
		RpcServer ownServer(RdmaTransport transport) {
			return RpcServer.builder()
				.transport(transport)
				.options((options) -> options.withAddress(new InetSocketAddress("0.0.0.0", 0)))
				.service(Who.class, new WhoCalls())
				.build();
		}

	}

	/** Knows what the server knows. */
	@RdmaService
	static class WhoCalls implements Who {

		@Override
		public String calls() {
			Principal principal = RpcContext.current().principal();
			return (principal != null) ? principal.toString() : "nobody known";
		}

	}

	/** Who an authenticator has decided it is. */
	private record Somebody(String getName) implements Principal {

		@Override
		public String toString() {
			return this.getName;
		}

	}

}
