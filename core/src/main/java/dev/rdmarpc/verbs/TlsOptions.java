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

package dev.rdmarpc.verbs;

import java.util.List;
import java.util.function.Supplier;

import javax.net.ssl.SSLContext;

/**
 * How connections are protected with TLS 1.3, by providers whose connections are streams
 * of bytes ({@link VerbsDevice#supportsTls()}).
 *
 * @param context asked for each new connection, so that other certificates take effect
 * without a restart; called on a thread of the provider, which it must not block
 * @param clientAuthentication whether the connecting side has to show a certificate; for
 * listeners
 * @param cipherSuites the cipher suites that may be used, or none for those of the
 * context
 * @param verifyHostName whether the listening side's certificate has to be one of the
 * host that was connected to; for connecting sides
 */
public record TlsOptions(Supplier<SSLContext> context, ClientAuthentication clientAuthentication,
		List<String> cipherSuites, boolean verifyHostName) {

	/** The name of the protocol in TLS (ALPN), without which no connection is made. */
	public static final String APPLICATION_PROTOCOL = "rdma-rpc";

	/** Copies the list. */
	public TlsOptions {
		cipherSuites = List.copyOf(cipherSuites);
	}

	/**
	 * Options with the cipher suites of the context, without certificates of clients and
	 * with verified host names.
	 */
	public static TlsOptions of(Supplier<SSLContext> context) {
		return new TlsOptions(context, ClientAuthentication.NONE, List.of(), true);
	}

	/** These options with another {@link #clientAuthentication()}. */
	public TlsOptions withClientAuthentication(ClientAuthentication other) {
		return new TlsOptions(this.context, other, this.cipherSuites, this.verifyHostName);
	}

	/** These options with other {@link #cipherSuites()}. */
	public TlsOptions withCipherSuites(List<String> names) {
		return new TlsOptions(this.context, this.clientAuthentication, names, this.verifyHostName);
	}

	/** These options with another {@link #verifyHostName()}. */
	public TlsOptions withVerifyHostName(boolean verify) {
		return new TlsOptions(this.context, this.clientAuthentication, this.cipherSuites, verify);
	}

	/** What a listener wants of the connecting side's certificate. */
	public enum ClientAuthentication {

		/** It is not asked for. */
		NONE,

		/** It is asked for, and verified if there is one. */
		WANT,

		/** There is no connection without. */
		NEED

	}

}
