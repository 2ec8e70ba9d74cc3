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

import java.nio.ByteBuffer;

/**
 * Memory registered with a device. Work requests name bytes by region and offset, peers
 * by key and address; neither is a raw pointer.
 */
public interface MemoryRegion extends AutoCloseable {

	/** Number of bytes. */
	int lengthBytes();

	/** The key that names the region in local work requests. */
	int localKey();

	/** The key that names the region to peers (the STag of iWARP). */
	int remoteKey();

	/**
	 * The address of byte 0 as peers name it. Chosen by the provider; not necessarily an
	 * address of this process.
	 */
	long remoteAddress();

	/**
	 * The memory, position 0 to capacity {@link #lengthBytes()}. Shared: callers use
	 * absolute access or duplicate it.
	 */
	ByteBuffer memory();

	/**
	 * Whether the region is registered and has not been invalidated by a peer's Send with
	 * Invalidate.
	 */
	boolean isValid();

	/** Names part of the region, for a peer. */
	default RemoteRegion remoteRegion(int offsetBytes, int lengthBytes) {
		java.util.Objects.checkFromIndexSize(offsetBytes, lengthBytes, lengthBytes());
		return new RemoteRegion(remoteAddress() + offsetBytes, remoteKey(), lengthBytes);
	}

	/**
	 * Deregisters the region: any further use of its keys, local or remote, is a
	 * protection error. Idempotent.
	 */
	@Override
	void close();

}
