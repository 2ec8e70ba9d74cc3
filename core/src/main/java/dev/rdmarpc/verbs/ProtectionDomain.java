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
import java.util.Set;

/**
 * A boundary of access: memory regions, shared receive queues and queue pairs work
 * together only within one protection domain.
 */
public interface ProtectionDomain extends AutoCloseable {

	/** The device it was allocated on. */
	VerbsDevice device();

	/**
	 * Registers memory with the device.
	 * @param memory a direct buffer; the region is its bytes from position to limit, and
	 * keeps it reachable until deregistered
	 * @param access what peers and the device may do besides local reads
	 * @return the region, owned by the caller
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} (not direct, read
	 * only with write access, empty) or {@link VerbsError#LIMIT_EXCEEDED}
	 */
	MemoryRegion registerMemory(ByteBuffer memory, Set<AccessFlag> access);

	/**
	 * Registers memory that is lent to one peer. On devices with
	 * {@link DeviceLimits#boundRegions()}, its remote key is valid only on the queue
	 * pair's connection, and only a Send with Invalidate from that peer can invalidate
	 * it. On other devices it is as if registered for all peers.
	 * @param memory see {@link #registerMemory(ByteBuffer, Set)}
	 * @param access what the peer and the device may do besides local reads
	 * @param peer the end of the connection on which the peer may use it, of this domain
	 * @return the region, owned by the caller
	 * @throws VerbsException see {@link #registerMemory(ByteBuffer, Set)}; with
	 * {@link VerbsError#INVALID_ARGUMENT} if the queue pair is of another domain, too
	 */
	MemoryRegion registerMemory(ByteBuffer memory, Set<AccessFlag> access, QueuePair peer);

	/**
	 * Registers memory of a {@link MemorySource}, which a device of the same provider
	 * knows again. For other devices it is memory like any other.
	 * @param memory see {@link #registerMemory(ByteBuffer, Set)}; positions are those of
	 * what was provided
	 * @param origin which memory it is
	 */
	default MemoryRegion registerProvided(ByteBuffer memory, Set<AccessFlag> access, MemoryOrigin origin) {
		return registerMemory(memory, access);
	}

	/**
	 * Lends part of a region to one peer, as a region of its own: like
	 * {@link #registerMemory(ByteBuffer, Set, QueuePair)} with the same memory, but the
	 * device knows what it is part of.
	 * @param region of this domain; it may be closed before the new one
	 * @throws VerbsException see {@link #registerMemory(ByteBuffer, Set, QueuePair)}
	 */
	default MemoryRegion registerWindow(MemoryRegion region, int offsetBytes, int lengthBytes, Set<AccessFlag> access,
			QueuePair peer) {
		return registerMemory(
				region.memory().duplicate().clear().limit(offsetBytes + lengthBytes).position(offsetBytes), access,
				peer);
	}

	/**
	 * Creates a shared receive queue.
	 * @param depth receives it holds, from 1 to
	 * {@link DeviceLimits#maxReceiveQueueDepth()}
	 * @param maxSegments scatter/gather elements of each
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} or
	 * {@link VerbsError#LIMIT_EXCEEDED}
	 */
	SharedReceiveQueue createSharedReceiveQueue(int depth, int maxSegments);

	/**
	 * Creates a queue pair in {@link QueuePairState#INITIALIZED}: receives may be posted.
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} (objects of another
	 * device or domain) or {@link VerbsError#LIMIT_EXCEEDED}
	 */
	QueuePair createQueuePair(QueuePairOptions options);

	/** Releases the domain and everything that is still open in it. Idempotent. */
	@Override
	void close();

}
