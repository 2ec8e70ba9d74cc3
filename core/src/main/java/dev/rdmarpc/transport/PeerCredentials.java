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

import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What a peer has shown in the handshake. Its text shows no secret.
 *
 * @param remoteAddress where it connected from
 * @param token what it showed, or {@code null} if nothing
 * @param certificates those that it has proved to be its own in TLS, its own one first
 */
public record PeerCredentials(@Nullable InetSocketAddress remoteAddress, byte @Nullable [] token,
		List<X509Certificate> certificates) {

	@Override
	public String toString() {
		return "PeerCredentials[remoteAddress=" + this.remoteAddress + ", token=" + (this.token != null)
				+ ", certificates=" + this.certificates.size() + "]";
	}

}
