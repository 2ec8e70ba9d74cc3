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

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/**
 * What limits for one address apply to. A host has one address of IPv4, and of IPv6 as
 * many as it likes of its network of 64 bits (RFC 4291, section 2.5.1), which count as
 * one therefore. Those of a link, of which all hosts share the network, and loopback
 * count as they are.
 */
public final class SourceAddress {

	private static final int NETWORK_BYTES = 8;

	private SourceAddress() {
	}

	/** The address itself, or the first one of its network. */
	public static InetAddress of(InetAddress address) {
		if (!(address instanceof Inet6Address) || address.isLinkLocalAddress() || address.isLoopbackAddress()) {
			return address;
		}
		byte[] bytes = address.getAddress();
		Arrays.fill(bytes, NETWORK_BYTES, bytes.length, (byte) 0);
		try {
			return InetAddress.getByAddress(bytes);
		}
		catch (UnknownHostException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
