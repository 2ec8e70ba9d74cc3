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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

import javax.net.ssl.SSLContext;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslOptions;

import dev.rdmarpc.boot.autoconfigure.ClientSettings.Setting;
import dev.rdmarpc.boot.autoconfigure.ClientSettings.Source;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Client;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.ClientSsl;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Server;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.ServerSsl;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.RdmaAuthenticator;
import dev.rdmarpc.verbs.TlsOptions;
import dev.rdmarpc.verbs.TlsOptions.ClientAuthentication;

/**
 * How the connections of server and clients are protected, as properties and beans say.
 * Bundles that are reloaded take effect with the next connections.
 */
class ConnectionSecurity {

	private static final Logger logger = LoggerFactory.getLogger(ConnectionSecurity.class);

	private static final String SERVER = "rdma.rpc.server.";

	private final RdmaRpcProperties properties;

	private final ObjectProvider<SslBundles> bundles;

	private final ObjectProvider<RdmaAuthenticator> authenticators;

	private final Map<String, AtomicReference<SSLContext>> contexts = new ConcurrentHashMap<>();

	ConnectionSecurity(RdmaRpcProperties properties, ObjectProvider<SslBundles> bundles,
			ObjectProvider<RdmaAuthenticator> authenticators) {
		this.properties = properties;
		this.bundles = bundles;
		this.authenticators = authenticators;
	}

	/** What the server asks of callers. */
	ChannelSecurity server() {
		ServerSsl ssl = this.properties.server().ssl();
		TlsOptions tls = null;
		if (!ssl.bundle().isEmpty()) {
			tls = tls(SERVER + "ssl.bundle", ssl.bundle()).withClientAuthentication(ssl.clientAuth());
		}
		PropertyCheck.that(tls != null || ssl.clientAuth() == ClientAuthentication.NONE, SERVER + "ssl.client-auth",
				ssl.clientAuth(), "none, because there is no '" + SERVER + "ssl.bundle'");
		return ChannelSecurity.NONE.withTls(tls).withAuthenticator(authenticator());
	}

	private @Nullable RdmaAuthenticator authenticator() {
		RdmaAuthenticator own = this.authenticators.getIfAvailable();
		if (own != null) {
			return own;
		}
		ServerSsl ssl = this.properties.server().ssl();
		RdmaAuthenticator certificates = (ssl.clientAuth() != ClientAuthentication.NONE) ? certificates(ssl.principal())
				: null;
		Map<String, byte[]> tokens = tokens(this.properties.server());
		if (tokens.isEmpty()) {
			return (ssl.clientAuth() == ClientAuthentication.WANT) ? orAnonymous(certificates) : certificates;
		}
		RdmaAuthenticator byToken = RdmaAuthenticator.ofTokens(tokens);
		return (credentials) -> (certificates != null && credentials.token() == null
				&& !credentials.certificates().isEmpty()) ? certificates.authenticate(credentials)
						: byToken.authenticate(credentials);
	}

	/** The tokens of the server by their names, which are checked. */
	static Map<String, byte[]> tokens(Server server) {
		Map<String, byte[]> tokens = new LinkedHashMap<>();
		Map<String, String> names = new HashMap<>();
		server.tokens().forEach((name, token) -> {
			byte[] bytes = token.getBytes(StandardCharsets.UTF_8);
			String property = SERVER + "tokens." + name;
			PropertyCheck.that(bytes.length > 0 && bytes.length <= ChannelSecurity.MAX_TOKEN_BYTES, property,
					"(not shown)", "a token of 1 to " + ChannelSecurity.MAX_TOKEN_BYTES + " bytes");
			String other = names.get(token);
			if (other != null) {
				PropertyCheck.that(uniform(name).equals(uniform(other)), property, "(not shown)",
						"another token than '" + SERVER + "tokens." + other + "' has");
				if (name.length() < other.length()) {
					return;
				}
				tokens.remove(other);
			}
			names.put(token, name);
			tokens.put(name, bytes);
		});
		return tokens;
	}

	/** An environment variable overrides a property, and cannot tell of its dashes. */
	private static String uniform(String name) {
		return name.replace("-", "").toLowerCase(Locale.ROOT);
	}

	private static @Nullable RdmaAuthenticator orAnonymous(@Nullable RdmaAuthenticator certificates) {
		if (certificates == null) {
			return null;
		}
		return (credentials) -> credentials.certificates().isEmpty()
				? CompletableFuture.completedFuture(RdmaAuthenticator.ANONYMOUS)
				: certificates.authenticate(credentials);
	}

	/** Whether those are let in, too, who show nothing. */
	private boolean letsAnybodyIn(ChannelSecurity security) {
		return security.authenticator() == null
				|| (this.properties.server().ssl().clientAuth() == ClientAuthentication.WANT
						&& this.properties.server().tokens().isEmpty() && this.authenticators.getIfAvailable() == null);
	}

	private static RdmaAuthenticator certificates(CertificatePrincipal principal) {
		return RdmaAuthenticator.ofCertificates((credentials) -> principal.of(credentials.certificates().get(0)));
	}

	/** What is shown to a target, and asked of it. */
	ChannelSecurity client(String target) {
		Source source = new Source(target, this.properties);
		Setting<String> bundle = source.get("ssl.bundle", ClientSettings::bundle, "");
		TlsOptions tls = null;
		if (!bundle.value().isEmpty()) {
			tls = tls(bundle.name(), bundle.value()).withVerifyHostName(
					source.get("ssl.verify-host-name", ConnectionSecurity::verifyHostName, true).value());
		}
		ChannelSecurity security = ChannelSecurity.NONE.withTls(tls);
		Setting<String> token = source.get("token", Client::token, "");
		if (token.value().isEmpty()) {
			return security;
		}
		byte[] bytes = token.value().getBytes(StandardCharsets.UTF_8);
		PropertyCheck.that(bytes.length <= ChannelSecurity.MAX_TOKEN_BYTES, token.name(), "(not shown)",
				"at most " + ChannelSecurity.MAX_TOKEN_BYTES + " bytes");
		return security.withToken(bytes::clone);
	}

	private static @Nullable Boolean verifyHostName(Client client) {
		ClientSsl ssl = client.ssl();
		return (ssl != null) ? ssl.verifyHostName() : null;
	}

	private TlsOptions tls(String property, String name) {
		SslBundles known = this.bundles.getIfAvailable();
		if (known == null) {
			throw new InvalidConfigurationPropertyValueException(property, name,
					"Expected: no value, because there are no SSL bundles.");
		}
		SslBundle bundle = bundle(property, name, known);
		String[] protocols = bundle.getOptions().getEnabledProtocols();
		PropertyCheck.that(protocols == null || Arrays.asList(protocols).contains("TLSv1.3"), property, name,
				"a bundle that permits TLSv1.3");
		AtomicReference<SSLContext> context = this.contexts.computeIfAbsent(name, (key) -> {
			AtomicReference<SSLContext> current = new AtomicReference<>(bundle.createSslContext());
			known.addBundleUpdateHandler(name, (updated) -> {
				current.set(updated.createSslContext());
				logger.info("Connections that are made from now on use the reloaded SSL bundle '{}'", name);
			});
			return current;
		});
		SslOptions options = bundle.getOptions();
		return TlsOptions.of(context::get)
			.withCipherSuites((options.getCiphers() != null) ? List.of(options.getCiphers()) : List.of());
	}

	private static SslBundle bundle(String property, String name, SslBundles known) {
		try {
			return known.getBundle(name);
		}
		catch (NoSuchSslBundleException ex) {
			PropertyCheck.that(false, property, name,
					"the name of an SSL bundle, which are " + known.getBundleNames() + "; see 'spring.ssl.bundle'");
			throw ex;
		}
	}

	/**
	 * Says, or where that is required refuses, that others can reach a server that does
	 * not ask who they are or lets everybody on the way read.
	 */
	void check(InetSocketAddress address, ChannelSecurity security, boolean reachedByOtherHosts) {
		List<String> missing = new ArrayList<>();
		if (security.tls() == null) {
			missing.add("TLS");
		}
		if (letsAnybodyIn(security)) {
			missing.add("authentication");
		}
		InetAddress local = address.getAddress();
		boolean reachable = reachedByOtherHosts && (local == null || !local.isLoopbackAddress());
		if (missing.isEmpty() || !reachable) {
			return;
		}
		String what = String.join(" and without ", missing);
		PropertyCheck.that(!this.properties.security().required(), "rdma.rpc.security.required", true,
				"a server that others can reach only with TLS and authentication; the one on " + address
						+ " is without " + what);
		logger.warn("The RDMA server on {} can be reached by others without {}", address, what);
	}

	/**
	 * A principal that is known by a name alone.
	 *
	 * @param getName the name
	 */
	record Name(String getName) implements Principal {

		@Override
		public String toString() {
			return this.getName;
		}

	}

}
