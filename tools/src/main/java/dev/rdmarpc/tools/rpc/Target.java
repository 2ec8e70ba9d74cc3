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

package dev.rdmarpc.tools.rpc;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;

import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.tools.ping.PingAddress;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.TlsOptions;

/** The options that say which server is called, and how. */
final class Target {

	private static final int DEFAULT_PORT = 7471;

	@Parameters(index = "0", paramLabel = "HOST[:PORT]", description = "The server; port 7471 unless given.")
	private String address = "";

	@Option(names = "--provider", description = "The verbs provider: auto, or one of those that 'devices' shows.",
			defaultValue = TransportOptions.AUTO, showDefaultValue = Visibility.ALWAYS)
	private String provider = TransportOptions.AUTO;

	@Option(names = "--device", description = "The device; by default the provider chooses.")
	private @Nullable String device;

	@Option(names = "--timeout", paramLabel = "SECONDS",
			description = "How long to wait for the connection, and for each call; 0 for ever.", defaultValue = "10",
			showDefaultValue = Visibility.ALWAYS)
	private double timeoutSeconds;

	@Option(names = "--token", paramLabel = "TOKEN", defaultValue = "${env:RDMA_RPC_TOKEN}",
			showDefaultValue = Visibility.NEVER,
			description = "The token that says who calls. Others on this host can see arguments: the environment "
					+ "variable RDMA_RPC_TOKEN is better.")
	private @Nullable String token;

	@Option(names = "--tls", description = "Use TLS, and trust the certificate authorities of this Java.")
	private boolean tls;

	@Option(names = "--tls-ca", paramLabel = "FILE", description = "Use TLS, and trust the certificates in a PEM file.")
	private @Nullable Path authorities;

	@Option(names = "--tls-any-host", description = "With TLS, do not check that the certificate is that of the host.")
	private boolean anyHost;

	/** Where the server is. */
	InetSocketAddress address() {
		return parsed().resolve();
	}

	private PingAddress parsed() {
		return PingAddress.parse(this.address, DEFAULT_PORT);
	}

	/** How long to wait; zero means for ever. */
	Duration timeout() {
		if (!(this.timeoutSeconds >= 0 && this.timeoutSeconds < 1e9)) {
			throw new IllegalArgumentException(
					"timeout of " + this.timeoutSeconds + " (expected: seconds, 0 for ever)");
		}
		return Duration.ofNanos((long) (this.timeoutSeconds * 1e9));
	}

	/** Opens a device and makes a client; the caller closes it. */
	Connection open() {
		PingAddress target = parsed();
		RpcClientOptions options = RpcClientOptions.DEFAULTS.withDefaultDeadline(timeout());
		Duration timeout = timeout().isZero() ? Duration.ofDays(1) : timeout();
		options = options.withConnectTimeout(timeout)
			.withRestartTimeout(Duration.ZERO)
			.withChannel(options.channel().withSecurity(security()));
		return Connection.open(target,
				TransportOptions.DEFAULTS.withProvider(this.provider, (this.device != null) ? this.device : ""),
				options);
	}

	private ChannelSecurity security() {
		ChannelSecurity security = ChannelSecurity.NONE;
		String shown = this.token;
		if (shown != null && !shown.isEmpty()) {
			byte[] bytes = shown.getBytes(StandardCharsets.UTF_8);
			security = security.withToken(() -> bytes);
		}
		if (!this.tls && this.authorities == null) {
			if (this.anyHost) {
				throw new IllegalArgumentException("--tls-any-host without TLS (expected: --tls or --tls-ca as well)");
			}
			return security;
		}
		SSLContext context = context(this.authorities);
		return security.withTls(TlsOptions.of(() -> context).withVerifyHostName(!this.anyHost));
	}

	private static SSLContext context(@Nullable Path authorities) {
		try {
			SSLContext context = SSLContext.getInstance("TLSv1.3");
			TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
			trust.init((authorities != null) ? trusted(authorities) : null);
			context.init(null, trust.getTrustManagers(), null);
			return context;
		}
		catch (NoSuchFileException ex) {
			throw new IllegalArgumentException("there is no file " + authorities, ex);
		}
		catch (GeneralSecurityException | IOException ex) {
			throw new IllegalArgumentException(
					authorities + " cannot be read (expected: certificates in PEM): " + ex.getMessage(), ex);
		}
	}

	private static KeyStore trusted(Path authorities) throws GeneralSecurityException, IOException {
		KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
		store.load(null, null);
		try (InputStream file = Files.newInputStream(authorities)) {
			int number = 0;
			for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
				store.setCertificateEntry("ca" + number, each);
				number++;
			}
			if (number == 0) {
				throw new GeneralSecurityException("it has no certificate");
			}
		}
		return store;
	}

}
