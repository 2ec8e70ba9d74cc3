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

/** The counters of a pool, written under its lock. */
final class MemoryCounters implements MemoryMetrics {

	final AtomicLong registeredBytes = new AtomicLong();

	final AtomicLong allocatedBytes = new AtomicLong();

	final AtomicLong userBytes = new AtomicLong();

	final AtomicLong extents = new AtomicLong();

	final AtomicLong allocations = new AtomicLong();

	final AtomicLong frees = new AtomicLong();

	final AtomicLong waits = new AtomicLong();

	final AtomicLong failures = new AtomicLong();

	@Override
	public long registeredBytes() {
		return this.registeredBytes.get();
	}

	@Override
	public long allocatedBytes() {
		return this.allocatedBytes.get();
	}

	@Override
	public long cachedBytes() {
		return 0;
	}

	@Override
	public long userBytes() {
		return this.userBytes.get();
	}

	@Override
	public int extents() {
		return (int) this.extents.get();
	}

	@Override
	public long allocations() {
		return this.allocations.get();
	}

	@Override
	public long frees() {
		return this.frees.get();
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
		return 0;
	}

}
