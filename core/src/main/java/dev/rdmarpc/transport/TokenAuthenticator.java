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

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Principal;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * Knows peers by tokens that they share with this side. All known tokens are compared,
 * and of each only its digest, so that the time it takes tells neither a token nor its
 * length. No token is kept.
 */
final class TokenAuthenticator implements RdmaAuthenticator {

	private final Map<String, byte[]> digests = new TreeMap<>();

	TokenAuthenticator(Map<String, byte[]> tokens) {
		tokens.forEach((name, token) -> {
			if (token.length == 0 || token.length > ChannelSecurity.MAX_TOKEN_BYTES) {
				throw new IllegalArgumentException("token of '" + name + "' has " + token.length
						+ " bytes (expected: 1 to " + ChannelSecurity.MAX_TOKEN_BYTES + ")");
			}
			byte[] digest = digest(token);
			this.digests.forEach((other, known) -> {
				if (MessageDigest.isEqual(known, digest)) {
					throw new IllegalArgumentException("'" + other + "' and '" + name
							+ "' have the same token (expected: one of its own for each)");
				}
			});
			this.digests.put(name, digest);
		});
	}

	@Override
	public CompletionStage<Principal> authenticate(PeerCredentials credentials) {
		byte[] token = credentials.token();
		if (token == null) {
			return CompletableFuture.failedFuture(new PeerRejectedException("a token is required"));
		}
		byte[] shown = digest(token);
		String known = null;
		for (Map.Entry<String, byte[]> entry : this.digests.entrySet()) {
			known = MessageDigest.isEqual(entry.getValue(), shown) ? entry.getKey() : known;
		}
		return result(known);
	}

	private static CompletionStage<Principal> result(@Nullable String name) {
		return (name != null) ? CompletableFuture.completedFuture(new NamedPrincipal(name))
				: CompletableFuture.failedFuture(new PeerRejectedException("the token is not known"));
	}

	private static byte[] digest(byte[] token) {
		try {
			return MessageDigest.getInstance("SHA-256").digest(token);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("every JDK has SHA-256", ex);
		}
	}

}
