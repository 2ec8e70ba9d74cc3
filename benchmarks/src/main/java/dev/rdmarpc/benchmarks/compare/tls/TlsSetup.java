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

package dev.rdmarpc.benchmarks.compare.tls;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.TimeUnit;

import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * What the peers with TLS have in common: one version, one cipher suite and one type of
 * key, made by the {@code keytool} of the running JDK when a server starts and kept
 * nowhere.
 *
 * <p>
 * Clients accept every certificate: they are in another process, which has no way to
 * learn this one's, and what is measured begins after the handshake.
 */
public final class TlsSetup {

	/** The version of TLS. */
	public static final String PROTOCOL = "TLSv1.3";

	/** The cipher suite, the faster one of the two that everybody has. */
	public static final String CIPHER_SUITE = "TLS_AES_128_GCM_SHA256";

	private static final char[] PASSWORD = "changeit".toCharArray();

	private TlsSetup() {
	}

	/**
	 * Makes a key on the curve secp256r1 with a certificate for the loopback interface.
	 * @throws IOException if keytool fails
	 * @throws GeneralSecurityException if what it made cannot be read
	 */
	public static KeyManagerFactory newKey() throws IOException, GeneralSecurityException {
		Path directory = Files.createTempDirectory("rdmarpc-benchmark");
		Path file = directory.resolve("server.p12");
		try {
			run(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair", "-alias",
					"server", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=benchmark", "-ext",
					"san=dns:localhost,ip:127.0.0.1", "-validity", "1", "-storetype", "PKCS12", "-storepass",
					new String(PASSWORD), "-keystore", file.toString()));
			KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
			keys.init(KeyStore.getInstance(file.toFile(), PASSWORD), PASSWORD);
			return keys;
		}
		finally {
			Files.deleteIfExists(file);
			Files.delete(directory);
		}
	}

	private static void run(List<String> command) throws IOException {
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		try {
			if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
				throw new IOException("keytool failed: " + output);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IOException("interrupted", ex);
		}
	}

	/**
	 * A context for a server, with a new key.
	 * @throws IOException if keytool fails
	 * @throws GeneralSecurityException if the JDK has no TLS
	 */
	public static SSLContext serverContext() throws IOException, GeneralSecurityException {
		return context(newKey().getKeyManagers());
	}

	/**
	 * A context for clients.
	 * @throws GeneralSecurityException if the JDK has no TLS
	 */
	public static SSLContext clientContext() throws GeneralSecurityException {
		return context(new KeyManager[0]);
	}

	private static SSLContext context(KeyManager[] keys) throws GeneralSecurityException {
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(keys, new TrustManager[] { new AcceptsEverybody() }, null);
		return context;
	}

	static SSLEngine engine(SSLContext context, boolean client) {
		SSLEngine engine = context.createSSLEngine();
		engine.setUseClientMode(client);
		engine.setEnabledProtocols(new String[] { PROTOCOL });
		engine.setEnabledCipherSuites(new String[] { CIPHER_SUITE });
		return engine;
	}

	/** Accepts every certificate. */
	public static final class AcceptsEverybody extends X509ExtendedTrustManager {

		@Override
		public void checkClientTrusted(X509Certificate[] chain, String type) {
		}

		@Override
		public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {
		}

		@Override
		public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
		}

		@Override
		public void checkServerTrusted(X509Certificate[] chain, String type) {
		}

		@Override
		public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {
		}

		@Override
		public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
		}

		@Override
		public X509Certificate[] getAcceptedIssuers() {
			return new X509Certificate[0];
		}

	}

}
