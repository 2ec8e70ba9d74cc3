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

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.TlsOptions;

/**
 * How channels are protected: what the connection is encrypted with, and how one side
 * proves to the other who it is. Its text shows no secret.
 *
 * @param tls for connections, or {@code null} if they are not encrypted
 * @param token asked, for each connection, what the connecting side shows in the
 * handshake, at most {@value #MAX_TOKEN_BYTES} bytes; {@code null} to show nothing
 * @param authenticator decides, for the listening side, who a peer is, before it is
 * granted anything; {@code null} to let anybody in
 */
public record ChannelSecurity(@Nullable TlsOptions tls, @Nullable Supplier<byte[]> token,
		@Nullable RdmaAuthenticator authenticator) {

	/** The longest token. */
	public static final int MAX_TOKEN_BYTES = 1024;

	/** No protection. */
	public static final ChannelSecurity NONE = new ChannelSecurity(null, null, null);

	/** This with other encryption. */
	public ChannelSecurity withTls(@Nullable TlsOptions other) {
		return new ChannelSecurity(other, this.token, this.authenticator);
	}

	/** This with another token to show. */
	public ChannelSecurity withToken(@Nullable Supplier<byte[]> other) {
		return new ChannelSecurity(this.tls, other, this.authenticator);
	}

	/** This with another decision of who a peer is. */
	public ChannelSecurity withAuthenticator(@Nullable RdmaAuthenticator other) {
		return new ChannelSecurity(this.tls, this.token, other);
	}

	@Override
	public String toString() {
		return "ChannelSecurity[tls=" + (this.tls != null) + ", token=" + (this.token != null) + ", authenticator="
				+ (this.authenticator != null) + "]";
	}

}
