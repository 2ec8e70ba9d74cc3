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

import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/** The counters of a pool, collected from its parts. */
final class MemoryCounters implements MemoryMetrics {

	private final BlockAllocator blocks;

	private final Extents extents;

	private final UserRegistrations users;

	private final @Nullable LeakDetector leakDetector;

	final AtomicLong waits = new AtomicLong();

	final AtomicLong failures = new AtomicLong();

	MemoryCounters(BlockAllocator blocks, Extents extents, UserRegistrations users,
			@Nullable LeakDetector leakDetector) {
		this.blocks = blocks;
		this.extents = extents;
		this.users = users;
		this.leakDetector = leakDetector;
	}

	@Override
	public long registeredBytes() {
		return this.extents.registeredBytes();
	}

	@Override
	public long allocatedBytes() {
		return this.blocks.allocatedBytes();
	}

	@Override
	public long cachedBytes() {
		return this.blocks.sum(ThreadCache::bytes);
	}

	@Override
	public long userBytes() {
		return this.users.bytes();
	}

	@Override
	public int extents() {
		return this.extents.count();
	}

	@Override
	public long extentsAdded() {
		return this.extents.added();
	}

	@Override
	public long extentsRemoved() {
		return this.extents.removed();
	}

	@Override
	public long registrationHits() {
		return this.users.hits();
	}

	@Override
	public long allocations() {
		return this.blocks.sum(ThreadCache::allocations);
	}

	@Override
	public long frees() {
		return this.blocks.sum(ThreadCache::frees);
	}

	@Override
	public long outstanding() {
		long frees = frees();
		return allocations() - frees;
	}

	@Override
	public long waits() {
		return this.waits.get();
	}

	@Override
	public long failures() {
		return this.failures.get();
	}

	@Override
	public long leaks() {
		return (this.leakDetector != null) ? this.leakDetector.leaks() : 0;
	}

}
