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

package dev.rdmarpc.memory;

/**
 * Live counters of a {@link RegisteredMemory}. Readable from any thread; values are each
 * recent, not one consistent picture.
 */
public interface MemoryMetrics {

	/** Bytes of the pool's extents. */
	long registeredBytes();

	/** Bytes of blocks in users' hands, rounded up to the blocks' capacities. */
	long allocatedBytes();

	/** Bytes of free blocks kept by threads for their next allocations. */
	long cachedBytes();

	/** Bytes of the users' own memory that is registered, in use or remembered. */
	long userBytes();

	/** Number of extents. */
	int extents();

	/** Extents registered so far. */
	long extentsAdded();

	/** Extents given back so far. */
	long extentsRemoved();

	/** How often a user's memory was registered already when it was to be. */
	long registrationHits();

	/** Buffers allocated so far. */
	long allocations();

	/**
	 * Buffers returned so far. Without leaks and at rest it equals
	 * {@link #allocations()}.
	 */
	long frees();

	/** Allocations that had to wait for memory. */
	long waits();

	/** Allocations that failed or were declined for want of memory. */
	long failures();

	/** Buffers found unreachable without having been released. */
	long leaks();

	/** Buffers in users' hands. */
	default long outstanding() {
		return allocations() - frees();
	}

}
