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

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/**
 * What an iWARP connection derives from its addresses.
 */
final class SocketTuning {

	/** Makes length field and ULPDU a multiple of four, so that no pad is needed. */
	private static final int LARGEST_ALIGNED_ULPDU = 65534;

	private static final int USUAL_MTU_BYTES = 1500;

	private static final int IPV4_AND_TCP_BYTES = 40;

	private static final int IPV6_AND_TCP_BYTES = 60;

	private static final int TCP_TIMESTAMP_BYTES = 12;

	private static final int FRAMING_BYTES = 6;

	private SocketTuning() {
	}

	/** Whether an address is one of this host. */
	static boolean isOnThisHost(InetAddress address) {
		if (address.isLoopbackAddress() || address.isAnyLocalAddress()) {
			return true;
		}
		try {
			return NetworkInterface.getByInetAddress(address) != null;
		}
		catch (SocketException ex) {
			return false;
		}
	}

	/** Whether to ask the peer for a CRC. */
	static boolean asksForCrc(InetAddress remote, IwarpOptions options) {
		return switch (options.crc()) {
			case REQUIRED -> true;
			case OFF -> false;
			case AUTO -> !isOnThisHost(remote);
		};
	}

	/**
	 * The longest ULPDU to send on a connection: on this host the longest possible,
	 * elsewhere such that an FPDU fits a TCP segment (RFC 5044, section 4.5; markers
	 * off).
	 */
	static int maxUlpduBytes(ByteStream bytes, IwarpOptions options) throws IOException {
		if (options.maxUlpduBytes() > 0) {
			return options.maxUlpduBytes();
		}
		InetAddress local = bytes.localAddress().getAddress();
		InetAddress remote = bytes.remoteAddress().getAddress();
		if (isOnThisHost(remote)) {
			return LARGEST_ALIGNED_ULPDU;
		}
		return maxUlpduBytes(mtuBytes(local), local instanceof Inet6Address);
	}

	@SuppressWarnings("UnusedException") // it may be for want of descriptors
	private static int mtuBytes(InetAddress local) {
		try {
			NetworkInterface networkInterface = NetworkInterface.getByInetAddress(local);
			return (networkInterface != null) ? networkInterface.getMTU() : USUAL_MTU_BYTES;
		}
		catch (SocketException ex) {
			return USUAL_MTU_BYTES;
		}
	}

	/** The longest ULPDU of a frame that fits a TCP segment on an interface. */
	static int maxUlpduBytes(int mtuBytes, boolean ipv6) {
		int segment = mtuBytes - (ipv6 ? IPV6_AND_TCP_BYTES : IPV4_AND_TCP_BYTES) - TCP_TIMESTAMP_BYTES;
		int ulpdu = segment - (FRAMING_BYTES + segment % 4);
		return Math.max(IwarpOptions.MIN_ULPDU_BYTES, Math.min(LARGEST_ALIGNED_ULPDU, ulpdu));
	}

}
