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

package dev.rdmarpc.grpc;

import java.net.InetSocketAddress;
import java.net.SocketAddress;

/**
 * An address that is reached over RDMA queue pairs. Of another type than other addresses,
 * so that gRPC chooses this transport for it, and no other.
 */
public final class RdmaSocketAddress extends SocketAddress {

	private final InetSocketAddress address;

	/** Marks an address. */
	public RdmaSocketAddress(InetSocketAddress address) {
		this.address = address;
	}

	/** The address itself. */
	public InetSocketAddress address() {
		return this.address;
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof RdmaSocketAddress that && this.address.equals(that.address);
	}

	@Override
	public int hashCode() {
		return this.address.hashCode();
	}

	@Override
	public String toString() {
		return "rdma:" + this.address;
	}

}
