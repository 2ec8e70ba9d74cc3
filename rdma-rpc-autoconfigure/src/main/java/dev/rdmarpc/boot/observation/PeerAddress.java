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

package dev.rdmarpc.boot.observation;

import org.jspecify.annotations.Nullable;

/**
 * Host and port of the other side of a call.
 *
 * @param host a name, or an address, in brackets if it is one of IPv6
 */
record PeerAddress(String host, String port) {

	/**
	 * Reads {@code host:port}, or an address as it prints itself:
	 * {@code host/address:port}.
	 * @return {@code null} if there is no port
	 */
	static @Nullable PeerAddress parse(String peer) {
		String address = peer.substring(peer.indexOf('/') + 1);
		int colon = address.lastIndexOf(':');
		String port = address.substring(colon + 1);
		boolean complete = colon > 0 && !port.isEmpty()
				&& port.chars().allMatch((digit) -> digit >= '0' && digit <= '9');
		return complete ? new PeerAddress(address.substring(0, colon), port) : null;
	}

	/** As a URI, which is how Micrometer's tracing reads it. */
	static @Nullable String uriOf(String peer) {
		PeerAddress address = parse(peer);
		return (address != null) ? "rdma://" + address.host + ":" + address.port : null;
	}

}
