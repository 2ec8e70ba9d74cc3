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

package dev.rdmarpc.transport;

import java.security.Principal;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Decides who connects. It is asked once per connection, in the handshake, before the
 * peer is granted anything.
 */
@FunctionalInterface
public interface RdmaAuthenticator {

	/** Whom a peer is that may connect without anybody knowing who it is. */
	Principal ANONYMOUS = Anonymous.INSTANCE;

	/**
	 * Decides who a peer is. Called by the driver of a loop: must not block, and what
	 * takes longer has to run elsewhere. The time for the handshake goes on meanwhile.
	 * @return completed with whom the peer is, which may be {@link #ANONYMOUS}, or
	 * exceptionally: with a {@link PeerRejectedException}, whose message the peer is
	 * told, or with something else, of which the peer learns nothing
	 */
	CompletionStage<? extends Principal> authenticate(PeerCredentials credentials);

	/**
	 * Knows peers by their tokens, which are compared in constant time.
	 * @param tokens by the names of the principals
	 */
	static RdmaAuthenticator ofTokens(Map<String, byte[]> tokens) {
		return new TokenAuthenticator(tokens);
	}

	/**
	 * Knows peers by the certificates that they have proved to be theirs in TLS.
	 * @param principal what the certificate stands for, see
	 * {@link PeerCredentials#certificates()}
	 */
	static RdmaAuthenticator ofCertificates(Function<PeerCredentials, ? extends Principal> principal) {
		return (credentials) -> credentials.certificates().isEmpty()
				? CompletableFuture.failedFuture(new PeerRejectedException("a certificate is required"))
				: CompletableFuture.completedFuture(principal.apply(credentials));
	}

}
