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

import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * What both sides agreed on when the connection was set up.
 *
 * @param localAddress this end
 * @param remoteAddress the other end
 * @param readDepth RDMA Reads this side may have outstanding; more wait in the send queue
 * @param responderResources RDMA Reads of the peer served at once
 * @param privateData the peer's private data
 * @param peerCertificates the certificates that the peer has proved to be its own, its
 * own one first; none without TLS
 */
public record ConnectionInfo(InetSocketAddress localAddress, InetSocketAddress remoteAddress, int readDepth,
		int responderResources, byte[] privateData, List<X509Certificate> peerCertificates) {

	/** A connection without certificates. */
	public ConnectionInfo(InetSocketAddress localAddress, InetSocketAddress remoteAddress, int readDepth,
			int responderResources, byte[] privateData) {
		this(localAddress, remoteAddress, readDepth, responderResources, privateData, List.of());
	}

}
