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
import java.util.concurrent.CompletableFuture;

/** A peer's request for a connection; answered once. */
public interface ConnectionRequest {

	/** The peer's address. */
	InetSocketAddress remoteAddress();

	/** A copy of the peer's private data. */
	byte[] privateData();

	/**
	 * The certificates that the peer has proved to be its own, its own one first; none
	 * without TLS.
	 */
	default List<X509Certificate> peerCertificates() {
		return List.of();
	}

	/**
	 * Accepts the connection.
	 * @param queuePair a queue pair in {@link QueuePairState#INITIALIZED} with the
	 * receives posted that the peer may use at once
	 * @param options private data and read depths; the timeout is the listener's
	 * @return completed when the connection is established, exceptionally with a
	 * {@link VerbsException} if the peer is gone
	 * @throws VerbsException with {@link VerbsError#INVALID_STATE} if already answered or
	 * dropped
	 */
	CompletableFuture<ConnectionInfo> accept(QueuePair queuePair, ConnectOptions options);

	/**
	 * Rejects the connection.
	 * @param privateData what to tell the peer, at most
	 * {@link ConnectOptions#MAX_PRIVATE_DATA_BYTES}
	 */
	void reject(byte[] privateData);

}
