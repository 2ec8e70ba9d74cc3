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
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Keys and certificates for tests, made by the {@code keytool} of the running JDK, so
 * that none is kept with the sources and none expires. Each is signed by its own key, so
 * whoever trusts it trusts nobody else.
 */
final class TestCertificates {

	private static final char[] PASSWORD = "changeit".toCharArray();

	private static final Map<String, TestCertificates> MADE = new ConcurrentHashMap<>();

	private final String name;

	private final Key key;

	private final X509Certificate certificate;

	private TestCertificates(String name, Key key, X509Certificate certificate) {
		this.name = name;
		this.key = key;
		this.certificate = certificate;
	}

	/** Of a server on this host: {@code localhost} and the loopback addresses. */
	static TestCertificates server() {
		return of("server", "dns:localhost,ip:127.0.0.1,ip:0:0:0:0:0:0:0:1");
	}

	/** Of a client named {@code client}. */
	static TestCertificates client() {
		return of("client", "dns:client.example");
	}

	/** Of somebody whom nobody trusts. */
	static TestCertificates stranger() {
		return of("stranger", "dns:localhost,ip:127.0.0.1,ip:0:0:0:0:0:0:0:1");
	}

	private static TestCertificates of(String name, String alternatives) {
		return MADE.computeIfAbsent(name, (key) -> make(name, alternatives));
	}

	private static TestCertificates make(String name, String alternatives) {
		try {
			Path directory = Files.createTempDirectory("rdmarpc-certificates");
			Path file = directory.resolve(name + ".p12");
			try {
				run(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
						"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-genkeypair", "-alias", name, "-keyalg",
						"EC", "-groupname", "secp256r1", "-dname", "CN=" + name + ", O=rdma-rpc test", "-ext",
						"san=" + alternatives, "-validity", "36500", "-storetype", "PKCS12", "-storepass",
						new String(PASSWORD), "-keystore", file.toString()));
				KeyStore store = KeyStore.getInstance(file.toFile(), PASSWORD);
				return new TestCertificates(name, store.getKey(name, PASSWORD),
						(X509Certificate) store.getCertificate(name));
			}
			finally {
				Files.deleteIfExists(file);
				Files.delete(directory);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void run(List<String> command) throws IOException {
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		try {
			if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
				throw new IllegalStateException("keytool failed: " + output);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("interrupted", ex);
		}
	}

	X509Certificate certificate() {
		return this.certificate;
	}

	private KeyStore keyStore() throws GeneralSecurityException, IOException {
		KeyStore store = KeyStore.getInstance("PKCS12");
		store.load(null, null);
		store.setKeyEntry(this.name, this.key, PASSWORD, new X509Certificate[] { this.certificate });
		return store;
	}

	/**
	 * Writes key and certificate as PEM.
	 * @return the files, certificate first
	 */
	List<Path> writePem(Path directory) throws IOException, GeneralSecurityException {
		List<Path> files = new ArrayList<>();
		files.add(Files.writeString(directory.resolve(this.name + ".crt"),
				pem("CERTIFICATE", this.certificate.getEncoded())));
		files.add(Files.writeString(directory.resolve(this.name + ".key"), pem("PRIVATE KEY", this.key.getEncoded())));
		return files;
	}

	/** Writes key and certificate as a key store with the password {@code changeit}. */
	Path writeKeyStore(Path directory) throws IOException {
		Path file = directory.resolve(this.name + ".p12");
		try (var out = Files.newOutputStream(file)) {
			keyStore().store(out, PASSWORD);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
		return file;
	}

	private static String pem(String what, byte[] bytes) {
		return "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder(64, new byte[] { '\n' }).encodeToString(bytes)
				+ "\n-----END " + what + "-----\n";
	}

}
