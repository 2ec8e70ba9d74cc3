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

import java.net.InetSocketAddress;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.TlsOptions;

/** Makes the engines of TLS streams, all of which speak TLS 1.3 and the same protocol. */
final class TlsEngines {

	private static final String[] PROTOCOLS = { "TLSv1.3" };

	private TlsEngines() {
	}

	/** The stream of a connecting side, with TLS if there are options. */
	static ByteStream secured(ByteStream bytes, @Nullable TlsOptions options, InetSocketAddress remote,
			ConnectionThread thread) throws SSLException {
		if (options == null) {
			return bytes;
		}
		try {
			SSLEngine engine = options.context().get().createSSLEngine(remote.getHostString(), remote.getPort());
			engine.setUseClientMode(true);
			SSLParameters parameters = parameters(engine, options);
			if (options.verifyHostName()) {
				parameters.setEndpointIdentificationAlgorithm("HTTPS");
			}
			engine.setSSLParameters(parameters);
			return new TlsStream(bytes, engine, thread);
		}
		catch (RuntimeException ex) {
			SocketHandler.closeQuietly(bytes);
			throw new SSLException("no TLS can be made: " + ex.getMessage(), ex);
		}
	}

	/** The stream of a listening side, with TLS if there are options. */
	static ByteStream secured(ByteStream bytes, @Nullable TlsOptions options, ConnectionThread thread) {
		if (options == null) {
			return bytes;
		}
		SSLEngine engine = options.context().get().createSSLEngine();
		engine.setUseClientMode(false);
		SSLParameters parameters = parameters(engine, options);
		switch (options.clientAuthentication()) {
			case WANT -> parameters.setWantClientAuth(true);
			case NEED -> parameters.setNeedClientAuth(true);
			default -> parameters.setNeedClientAuth(false);
		}
		engine.setSSLParameters(parameters);
		return new TlsStream(bytes, engine, thread);
	}

	private static SSLParameters parameters(SSLEngine engine, TlsOptions options) {
		SSLParameters parameters = engine.getSSLParameters();
		parameters.setProtocols(PROTOCOLS);
		parameters.setApplicationProtocols(new String[] { TlsOptions.APPLICATION_PROTOCOL });
		if (!options.cipherSuites().isEmpty()) {
			parameters.setCipherSuites(options.cipherSuites().toArray(String[]::new));
		}
		return parameters;
	}

}
